"""Every visit with its outcome; for looks, what changed since the look before. `v` numbers the
versions that `freshet diff` and `freshet show` take; `links` counts those that came and went.
"""

from typing import Annotated, Any

import typer

from freshet.archive.catalog.rows import HistoryRow
from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, PageUrl, Source, new_app
from freshet.cli.output import plain, print_json, print_table, say
from freshet.core.types import Change
from freshet.flow.collection import Collection

COLUMNS = ("v", "time", "outcome", "changed", "dice", "words", "links", "bytes")

app = new_app()


@app.command()
def history(
    url: PageUrl,
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="The latest so many; 0 for all.")
    ] = 0,
    source: Source = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Show a page's visits in time order."""
    with Collection.open(collection) as opened:
        page = opened.page(url, source=source)
        rows = page.history(limit=limit or None)
        numbers = {version.row.visit.uid: version.number for version in page.versions}
    if as_json:
        print_json([{"version": numbers.get(row.visit.uid), **plain(row)} for row in rows])
    elif rows:
        print_table(COLUMNS, [_cells(numbers.get(row.visit.uid), row) for row in rows])
    else:
        say(f"{page.page.url} has not been visited yet.")


def _cells(number: int | None, row: HistoryRow) -> tuple[Any, ...]:
    visit, change = row.visit, row.change
    if change is None:
        return (number, visit.time, visit.outcome, *[None] * 4, visit.size)
    measures = (change.changed, change.dice, change.words, _links(row, change))
    return (number, visit.time, visit.outcome, *measures, visit.size)


def _links(row: HistoryRow, change: Change) -> str:
    """Write how many links came and went, where that is known."""
    new = [count for count in (change.new_internal, change.new_external) if count is not None]
    if not new:
        return ""
    return f"+{sum(new)} -{row.removed_links}" if row.removed_links is not None else f"+{sum(new)}"
