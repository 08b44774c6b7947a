"""One line a page: how often it was visited, when it was last seen and last changed."""

from datetime import datetime
from typing import Annotated, Any

import typer

from freshet.archive.catalog.rows import Summary
from freshet.cli.choice import none_such
from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, Source, Tag, new_app
from freshet.cli.output import console, print_json, print_table, say
from freshet.core.local_time import to_minute
from freshet.flow.collection import Collection
from freshet.flow.listing import summaries

WIDE = 120
NARROW = ("page", "changes", "last change", "state")
COLUMNS = ("page", "source", "visits", "changes", "last look", "last change", "tags", "state")

app = new_app()


@app.command("list")
def list_pages(
    tag: Tag = "",
    source: Source = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only pages that changed, latest change first.")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="At most so many; 0 for all.")] = 0,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """List the pages."""
    with Collection.open(collection) as opened:
        rows = summaries(
            opened, tag=tag or None, source=source, changed=changed, limit=limit or None
        )
    if as_json:
        print_json(rows)
    elif rows:
        columns = COLUMNS if console.width >= WIDE else NARROW
        print_table(columns, [[_cells(row)[name] for name in columns] for row in rows])
    else:
        say(_nothing(tag, source, changed))


def _cells(row: Summary) -> dict[str, Any]:
    return {
        "page": row.page.url,
        "source": row.page.source,
        "visits": row.visits,
        "changes": row.changes,
        "last look": _minute(row.last_look),
        "last change": _minute(row.last_change),
        "tags": " ".join(row.page.tags),
        "state": "paused" if row.page.paused else "",
    }


def _minute(moment: datetime | None) -> str:
    return to_minute(moment) if moment else ""


def _nothing(tag: str, source: str | None, changed: bool) -> str:
    if changed:
        return "No page has changed yet; 'freshet list' shows all pages."
    if tag or source is not None:
        return f"{none_such(tag, source).capitalize()}; 'freshet list' shows all pages."
    return "No pages. Add some with: freshet add URL, or bring histories in: freshet import"
