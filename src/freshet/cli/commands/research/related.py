"""Lists the pages that may tell about the changes of a page, with a weight between 0 and 1 and,
where the measure knows it, by how much time they are ahead. Measures: `co-change` compares when
pages have changed; `content` and `host` the words of the last versions, of all pages or of those of
the same host; `links` counts links between them; `correlation` and `time-warping` compare how words
rise and fall over the versions. Pages of the same source are compared: those of the same host
first, up to 2,000 by past changes, 1,000 by last versions and 200 by all versions. The time grid
has up to 60 steps, as far apart as the looks at the page. Related pages are shown only: `freshet
learn` does not use them, because they made its forecasts no better.
"""

from typing import Annotated

import typer

from freshet.cli.interrupts import interruptible
from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PageArgument,
    PageSourceOption,
    new_app,
)
from freshet.cli.output import print_json, print_table, print_text, progress_bar
from freshet.core.humanize import count_text, duration_text
from freshet.learning.related.related_pages import (
    DEFAULT_RELATION,
    RELATIONS,
    RelatedPageList,
    find_related,
)
from freshet.record.collection_store import CollectionStore

app = new_app()


@app.command()
def related(
    url: PageArgument,
    by: Annotated[
        str,
        typer.Option(metavar="MEASURE", help=f"Measure of relatedness: {', '.join(RELATIONS)}."),
    ] = DEFAULT_RELATION,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of pages to list.")
    ] = 20,
    source: PageSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """List pages that may tell about the changes of a page."""
    with (
        CollectionStore.open(collection) as store,
        progress_bar("reading versions", quiet=as_json) as bar,
        interruptible(bar) as report_progress,
    ):
        page = store.find_page(url, source=source)
        pages = find_related(store, page, by=by, count=limit, progress=report_progress)
    if as_json:
        print_json(pages)
    else:
        _print(pages)


def _print(pages: RelatedPageList) -> None:
    parts = [f"by {pages.by}", _compared_text(pages)]
    if pages.steps > 1:
        parts.append(f"{count_text(pages.steps, 'step')} of {duration_text(pages.step_days)}")
    print_text(f"{pages.page.url}   {', '.join(parts)}")
    if not pages.related:
        print_text(pages.obstacle or "no related page")
        return
    rows = [
        (item.page.url, f"{item.weight:.3f}", _lag_text(item.lag_days)) for item in pages.related
    ]
    print_table(("page", "weight", "ahead by"), rows)


def _compared_text(pages: RelatedPageList) -> str:
    if RELATIONS[pages.by].only_host:
        return f"{count_text(pages.compared, 'other page')} of {pages.page.host} compared"
    return f"{pages.compared:,} of {count_text(pages.total, 'other page')} compared"


def _lag_text(lag_days: float | None) -> str:
    if lag_days is None:
        return ""
    return duration_text(lag_days) if lag_days > 0 else "at the same time"
