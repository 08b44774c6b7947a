"""Creates a collection from a backup in a new or empty folder. Every file is verified against the
digest in the backup. A WARC file that was open during the backup is closed after its last complete
record, and records that are newer than the copied catalog are added to it.
"""

from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.options import JsonOption, new_app
from freshet.cli.output import print_json, print_text, progress_bar
from freshet.collection.backup import restore as restore_backup
from freshet.core.humanize import count_text, format_size
from freshet.core.local_time import format_to_second

app = new_app()


@app.command()
def restore(
    backup: Annotated[
        Path, typer.Argument(metavar="BACKUP", help="Folder written by `freshet backup`.")
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="New folder for the collection.")],
    as_json: JsonOption = False,
) -> None:
    """Create a collection from a backup."""
    with progress_bar("restoring bytes", quiet=as_json) as bar:
        summary = restore_backup(backup, folder, progress=bar)
    if as_json:
        print_json(summary)
        return
    size = f"{count_text(summary.files, 'file')}, {format_size(summary.bytes)}"
    print_text(f"{folder}: {size}, as of {format_to_second(summary.made)}.")
    for repaired_file in filter(lambda mended: mended.adopted, summary.mended):
        records = count_text(repaired_file.adopted, "newer record")
        print_text(f"  {repaired_file.file}: {records} added to the catalog")
