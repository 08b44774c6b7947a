"""Shows totals, the objective, the daily budget (spent, left, and how much of it cannot be used
today and why), hosts in back-off, failing pages, visits and stored bytes per day, and imports.
Imported visits count on the day they were made.
"""

from typing import Annotated, Any

import typer

from freshet.archive.catalog.rows import ImportRecord
from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import (
    format_count,
    format_size,
    print_json,
    print_table,
    print_text,
    refresh_until_interrupted,
)
from freshet.collection.status import CollectionStatus, bad_rows_of_import, collection_status
from freshet.core.errors import UsageError
from freshet.core.local_time import format_to_minute
from freshet.core.types import BadRow
from freshet.crawl.budget_status import DayBudgetStatus
from freshet.record.store import CollectionStore

MAX_LISTED_HOSTS = 10

app = new_app()


@app.command()
def status(
    days: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Number of days to show, ending with the day of the last visit.",
        ),
    ] = 7,
    bad: Annotated[
        int | None,
        typer.Option(
            metavar="NO",
            help="List the rows that import number NO could not read, with the reasons.",
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Refresh every second until Ctrl-C.")
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show what is held, how it grows, and the day's budget."""
    if live and (as_json or bad is not None):
        raise UsageError("--live shows the status alone; leave out --json and --bad")
    with CollectionStore.open(collection) as opened:
        if live:
            refresh_until_interrupted(lambda: _print(collection_status(opened, days=days)))
            return
        rows = None if bad is None else bad_rows_of_import(opened, bad)
        found = collection_status(opened, days=days)
    if as_json:
        print_json(found if rows is None else rows)
    elif rows is None:
        _print(found)
    else:
        _print_bad_rows(rows)


def _print(found: CollectionStatus) -> None:
    counts = found.counts
    print_text(f"{found.path}   objective {found.objective}   contact {found.contact or 'not set'}")
    print_text(
        f"{format_count(counts.pages, 'page')} ({counts.paused:,} paused), {counts.removed:,} removed"
    )
    print_text(f"{format_count(counts.visits, 'visit')}, {format_count(counts.looks, 'look')} among them, "
        f"{format_count(counts.changes, 'change')}")  # fmt: skip
    print_text(f"archive: {format_count(counts.files, 'file')}, {format_size(found.archive_bytes)}; catalog: "
        f"{format_size(found.catalog_bytes)}; free on this disk: {format_size(found.free_bytes)}")  # fmt: skip
    print_text(
        f"being written by {found.writer}" if found.writer else "no crawl runs: 'freshet run'"
    )
    _print_today(found.today)
    if found.failing:
        _print_failing(found)
    if found.closed_hosts:
        hosts = [(host.host, host.closed_until, host.failures or None, host.robots)
                 for host in found.closed_hosts[:MAX_LISTED_HOSTS]]  # fmt: skip
        title = f"closed hosts: {len(found.closed_hosts):,}"
        print_table(("host", "until", "failures", "robots.txt"), hosts, title=title)
    if found.growth:
        growth = [(str(row.day), row.visits, format_size(row.stored_bytes)) for row in found.growth]
        print_table(("day", "visits", "stored"), growth, title="visits by day")
    if found.imports:
        columns = ("no", "import", "path", "started", "visits", "bad", "state")
        print_table(columns, [_cells(row) for row in found.imports], title="imports")


def _print_failing(found: CollectionStatus) -> None:
    """Print how many pages fail and how, and name the first few."""
    failing = ", ".join(f"{number:,} {outcome}" for outcome, number in found.failing.items())
    print_text(f"pages that failed when last visited: {failing}")
    for row in found.failing_pages:
        print_text(f"  {row.page.url}  {row.outcome}" + (f": {row.why}" if row.why else ""))
    others = sum(found.failing.values()) - len(found.failing_pages)
    if others > 0:
        print_text(f"  {others:,} more: freshet list --failing")


def _print_today(today: DayBudgetStatus) -> None:
    """Print how the day's budget stands, and why some of it cannot be spent."""
    print_text(f"today ({today.day}, UTC): {today.spent:,} of {format_count(today.budget, 'request')} spent, "
        f"{today.left:,} left; {today.apart:,} more for robots.txt")  # fmt: skip
    if today.lost:
        print_text(f"{today.lost:,} of those spent were lost with a crawl that was killed")
    if today.samples or today.in_rounds:
        pages = "1 page is" if today.in_rounds == 1 else f"{today.in_rounds:,} pages are"
        print_text(f"{today.samples:,} of those spent were for rounds, which may use {today.share:,}; "
            f"{pages} in one now")  # fmt: skip
    if today.unreachable:
        print_text(f"{today.unreachable:,} of those left cannot be spent today:")
        for reason in today.reasons:
            print_text(f"  {reason}")


def _cells(row: ImportRecord) -> tuple[Any, ...]:
    visits, bad = row.counts.get("visits", 0), row.counts.get("bad", 0)
    state = "" if row.finished else "not finished: run it again"
    return (row.id, row.kind, row.path, format_to_minute(row.started), visits, bad, state)


def _print_bad_rows(rows: list[BadRow]) -> None:
    for row in rows:
        print_text(f"{row.place}: {row.why}")
    print_text(f"{format_count(len(rows), 'row')} could not be taken.")
