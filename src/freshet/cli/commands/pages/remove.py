"""A URL selects the live page; --source selects imported pages. Without --purge the history is kept
but hidden from all commands, and `freshet add` restores the page. With --purge the database rows
and stored bytes are deleted permanently, also those of pages that were removed earlier. The archive
files are rewritten without their records.
"""

from typing import Annotated

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PagesArgument,
    SourceOption,
    TagOption,
    YesOption,
    new_app,
)
from freshet.cli.output import print_json, print_text
from freshet.cli.page_selection import confirm, select_pages
from freshet.collection.remove import remove_pages as remove_pages
from freshet.core.humanize import count_text, format_size
from freshet.record.collection_store import CollectionStore

app = new_app()


@app.command()
def remove(
    urls: PagesArgument = None,
    tag: TagOption = "",
    source: SourceOption = None,
    purge: Annotated[
        bool, typer.Option("--purge", help="Delete the history and the stored bytes permanently.")
    ] = False,
    yes: YesOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Remove pages; --purge also deletes their history."""
    with CollectionStore.open(collection) as store:
        selected_source = "" if urls and source is None else source
        pages = select_pages(store, urls, tag, selected_source, include_removed=purge)
        page_count = count_text(len(pages), "page")
        if purge:
            confirm(f"Delete {page_count} with all versions permanently?", yes)
        freed = remove_pages(store, pages, purge=purge)
    if as_json:
        print_json({"removed": len(pages), "purged": purge, "freed_bytes": freed})
    else:
        print_text(f"Removed {page_count}." + (f" Freed {format_size(freed)}." if purge else ""))
