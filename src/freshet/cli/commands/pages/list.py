"""Prints one line per page: the number of visits and changes, the last look, the last change and
the tags. A look is a visit that showed the page's content, or that it was unchanged. A narrow
terminal shows fewer columns; pipes and files get all of them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import typer

from freshet.archive.catalog.rows import FailingPage, PageTotals
from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    SourceFilterOption,
    TagOption,
    new_app,
)
from freshet.cli.output import console, print_json, print_table, print_text
from freshet.cli.page_selection import describe_no_match
from freshet.collection.listing import list_failing_pages, list_page_totals
from freshet.core.errors import UsageError
from freshet.core.local_time import format_to_minute
from freshet.record.collection_store import CollectionStore

WIDE_TERMINAL_COLUMNS = 120
NARROW_FAILING_COLUMNS = ("page", "outcome", "why")
FAILING_COLUMNS = ("page", "source", "outcome", "why", "last visit", "last look", "visits", "tags")
NARROW_COLUMNS = ("page", "changes", "last change", "state")
COLUMNS = ("page", "source", "visits", "changes", "last look", "last change", "tags", "state")

app = new_app()


@app.command("list")
def list_pages(
    tag: TagOption = "",
    source: SourceFilterOption = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only pages that have changed, latest change first.")
    ] = False,
    failing: Annotated[
        bool,
        typer.Option(
            "--failing", help="Only pages whose last visit showed no content, with the reason."
        ),
    ] = False,
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="Maximum number of pages to list; 0 lists all.")
    ] = 0,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """List pages."""
    if changed and failing:
        raise UsageError("--changed and --failing cannot be combined")
    with CollectionStore.open(collection) as store:
        rows: Sequence[PageTotals]
        if failing:
            rows = list_failing_pages(store, tag=tag or None, source=source, limit=limit or None)
        else:
            rows = list_page_totals(
                store, tag=tag or None, source=source, changed=changed, limit=limit or None
            )
    if as_json:
        print_json(rows)
    elif rows:
        _print(rows, failing=failing)
    else:
        print_text(_describe_empty_list(tag, source, changed=changed, failing=failing))


def _print(rows: Sequence[PageTotals], *, failing: bool) -> None:
    is_wide = not console.is_terminal or console.width >= WIDE_TERMINAL_COLUMNS
    short, all_columns = (
        (NARROW_FAILING_COLUMNS, FAILING_COLUMNS) if failing else (NARROW_COLUMNS, COLUMNS)
    )
    columns = all_columns if is_wide else short
    print_table(columns, [[_cells(row)[name] for name in columns] for row in rows])


def _cells(row: PageTotals) -> dict[str, Any]:
    cells = {
        "page": row.page.url,
        "source": row.page.source,
        "visits": row.visits,
        "changes": row.changes,
        "last look": _minute(row.last_look),
        "last change": _minute(row.last_change),
        "tags": " ".join(row.page.tags),
        "state": "paused" if row.page.paused else "",
    }
    if isinstance(row, FailingPage):
        cells |= {
            "last visit": format_to_minute(row.last_visit),
            "outcome": row.outcome,
            "why": row.why,
        }
    return cells


def _minute(moment: datetime | None) -> str:
    return format_to_minute(moment) if moment else ""


def _describe_empty_list(tag: str, source: str | None, *, changed: bool, failing: bool) -> str:
    if failing:
        return "The last visit of every page succeeded; 'freshet list' shows all pages."
    if changed:
        return "No page has changed yet; 'freshet list' shows all pages."
    if tag or source is not None:
        return f"{describe_no_match(tag, source).capitalize()}; 'freshet list' shows all pages."
    return "There are no pages. Add some with: freshet add URL, or import: freshet import"
