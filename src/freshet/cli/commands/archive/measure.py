"""A change of `counts_as` or an update leaves earlier results as they are; this command recomputes
them. A mask that the crawl learns is applied to earlier visits automatically.
"""

from typing import Annotated

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    SourceFilterOption,
    TagOption,
    new_app,
)
from freshet.cli.output import print_json, print_text
from freshet.cli.page_selection import select_pages
from freshet.core.errors import UsageError
from freshet.core.humanize import count_text
from freshet.record.collection_store import CollectionStore
from freshet.record.remeasure_pages import remeasure_pages

app = new_app()


@app.command()
def measure(
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL", help="URLs of the pages. Default: all pages."),
    ] = None,
    is_confirmed: Annotated[
        bool, typer.Option("--again", help="Required: confirms that stored results are replaced.")
    ] = False,
    tag: TagOption = "",
    source: SourceFilterOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Recompute the changes between stored versions."""
    if not is_confirmed:
        raise UsageError(
            "new visits are measured automatically; --again measures stored ones again"
        )
    is_whole_collection = not urls and not tag and source is None
    with CollectionStore.open(collection) as store:
        pages = store.pages() if is_whole_collection else select_pages(store, urls, tag, source)
        visit_count = remeasure_pages(store, pages)
    if as_json:
        print_json({"measured": visit_count})
    else:
        print_text(f"Recomputed {count_text(visit_count, 'visit')}.")
