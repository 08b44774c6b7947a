"""Copies a consistent state of the catalog, then the archive, the settings and the models, each
with its digest. A crawl can continue meanwhile. A later backup into the same folder copies only new
data. An interrupted backup leaves the previous one intact. `freshet restore` creates a collection
from a backup.
"""

from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_text, progress_bar
from freshet.collection.backup import back_up
from freshet.core.humanize import count_text, format_size
from freshet.record.collection_store import CollectionStore

app = new_app()


@app.command()
def backup(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Backup folder: new, empty, or an earlier backup.")
    ],
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Back up the collection, also while a crawl is running."""
    with (
        CollectionStore.open(collection) as store,
        progress_bar("copying files", quiet=as_json) as bar,
    ):
        summary = back_up(store, folder, progress=bar)
    if as_json:
        print_json(summary)
        return
    copied = (
        f"{count_text(summary.copied_files, 'file')} copied ({format_size(summary.copied_bytes)})"
    )
    print_text(
        f"{folder}: {count_text(summary.files, 'file')}, {format_size(summary.bytes)}; {copied}."
    )
    print_text(f"'freshet restore {folder} NEW' makes a collection from it.")
