"""URLs mean live pages; `--source` names an import. Without `--purge` the history stays, but no
command finds the page any more until `freshet add` brings it back. `--purge` deletes rows and bytes
for good, also of pages removed before: archive files are written anew without their records.
"""

from typing import Annotated

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    AsJson,
    CollectionDir,
    PageUrls,
    Source,
    Tag,
    Yes,
    new_app,
)
from freshet.cli.output import counted, print_json, say, size
from freshet.cli.page_selection import chosen_pages, confirm
from freshet.collection.remove import remove as remove_pages
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def remove(
    urls: PageUrls = None,
    tag: Tag = "",
    source: Source = None,
    purge: Annotated[bool, typer.Option("--purge", help="Delete rows and bytes for good.")] = False,
    yes: Yes = False,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Remove pages; --purge deletes their history too."""
    with CollectionStore.open(collection) as opened:
        part = "" if urls and source is None else source
        pages = chosen_pages(opened, urls, tag, part, removed=purge)
        what = counted(len(pages), "page")
        if purge:
            confirm(f"Delete {what} with all versions for good?", yes)
        freed = remove_pages(opened, pages, purge=purge)
    if as_json:
        print_json({"removed": len(pages), "purged": purge, "freed_bytes": freed})
    else:
        say(f"Removed {what}." + (f" Freed {size(freed)}." if purge else ""))
