"""Totals, the objective, the visits by day with the bytes stored of them, and the imports so far.
The day is that of the visit: an imported history counts in the days it tells of. `--bad NO` lists
every row that import number NO could not take, with the reason.
"""

from typing import Annotated, Any

import typer

from freshet.archive.catalog.rows import Import
from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, new_app
from freshet.cli.output import counted, print_json, print_table, say, size
from freshet.core.types import BadRow
from freshet.flow.collection import Collection
from freshet.flow.status import Status, bad_rows, status_of

app = new_app()


@app.command()
def status(
    days: Annotated[
        int, typer.Option(min=0, metavar="N", help="The last so many days, up to the last visit.")
    ] = 7,
    bad: Annotated[
        int | None,
        typer.Option(metavar="NO", help="List every row that the import of this number refused."),
    ] = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Show what the collection holds and how it grows."""
    with Collection.open(collection) as opened:
        rows = None if bad is None else bad_rows(opened, bad)
        found = status_of(opened, days=days)
    if as_json:
        print_json(found if rows is None else rows)
    elif rows is None:
        _print(found)
    else:
        _print_bad_rows(rows)


def _print(found: Status) -> None:
    counts = found.counts
    say(f"{found.path}   objective {found.objective}   contact {found.contact or 'not set'}")
    say(f"{counted(counts.pages, 'page')} ({counts.paused:,} paused), {counts.removed:,} removed")
    say(f"{counted(counts.visits, 'visit')}, {counted(counts.looks, 'look')} among them, "
        f"{counted(counts.changes, 'change')}")  # fmt: skip
    say(f"archive: {counted(counts.files, 'file')}, {size(found.archive_bytes)}; catalog: "
        f"{size(found.catalog_bytes)}; free on this disk: {size(found.free_bytes)}")  # fmt: skip
    if found.writer:
        say(f"being written by {found.writer}")
    if found.growth:
        growth = [(str(row.day), row.visits, size(row.stored_bytes)) for row in found.growth]
        print_table(("day", "visits", "stored"), growth, title="visits by day")
    if found.imports:
        columns = ("no", "import", "path", "started", "visits", "bad", "state")
        print_table(columns, [_cells(row) for row in found.imports], title="imports")


def _cells(row: Import) -> tuple[Any, ...]:
    visits, bad = row.counts.get("visits", 0), row.counts.get("bad", 0)
    state = "" if row.finished else "not finished: run it again"
    return (row.id, row.kind, row.path, f"{row.started:%Y-%m-%d %H:%M}", visits, bad, state)


def _print_bad_rows(rows: list[BadRow]) -> None:
    for row in rows:
        say(f"{row.place}: {row.why}")
    say(f"{counted(len(rows), 'row')} could not be taken.")
