"""Totals, the objective, the day's budget (what is spent, what is left, what of it today's caps put
out of reach and why), hosts that are closed, failing pages, the visits by day with the bytes stored
of them, and the imports so far. The day is that of the visit: an imported history counts in the
days it tells of. `--live` shows it anew every second until it is interrupted. `--bad NO` lists
every row that import number NO could not take, with the reason.
"""

from typing import Annotated, Any

import typer

from freshet.archive.catalog.rows import Import
from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, new_app
from freshet.cli.output import counted, print_json, print_table, say, show_live, size
from freshet.collection.status import Status, bad_rows, status_of
from freshet.core.errors import UsageError
from freshet.core.local_time import to_minute
from freshet.core.types import BadRow
from freshet.crawl.budget_status import Today
from freshet.record.store import CollectionStore

SHOWN_HOSTS = 10

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
    live: Annotated[
        bool, typer.Option("--live", help="Show it anew every second, until Ctrl-C.")
    ] = False,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Show what is held, how it grows, and the day's budget."""
    if live and (as_json or bad is not None):
        raise UsageError("--live shows the status alone; leave out --json and --bad")
    with CollectionStore.open(collection) as opened:
        if live:
            show_live(lambda: _print(status_of(opened, days=days)))
            return
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
    say(f"being written by {found.writer}" if found.writer else "no crawl runs: 'freshet run'")
    _print_today(found.today)
    if found.failing:
        _print_failing(found)
    if found.closed_hosts:
        hosts = [(host.host, host.closed_until, host.failures or None, host.robots)
                 for host in found.closed_hosts[:SHOWN_HOSTS]]  # fmt: skip
        title = f"closed hosts: {len(found.closed_hosts):,}"
        print_table(("host", "until", "failures", "robots.txt"), hosts, title=title)
    if found.growth:
        growth = [(str(row.day), row.visits, size(row.stored_bytes)) for row in found.growth]
        print_table(("day", "visits", "stored"), growth, title="visits by day")
    if found.imports:
        columns = ("no", "import", "path", "started", "visits", "bad", "state")
        print_table(columns, [_cells(row) for row in found.imports], title="imports")


def _print_failing(found: Status) -> None:
    """Print how many pages fail and how, and name the first few."""
    failing = ", ".join(f"{number:,} {outcome}" for outcome, number in found.failing.items())
    say(f"pages that failed when last visited: {failing}")
    for row in found.failing_pages:
        say(f"  {row.page.url}  {row.outcome}" + (f": {row.why}" if row.why else ""))
    others = sum(found.failing.values()) - len(found.failing_pages)
    if others > 0:
        say(f"  {others:,} more: freshet list --failing")


def _print_today(today: Today) -> None:
    """Print how the day's budget stands, and why some of it cannot be spent."""
    say(f"today ({today.day}, UTC): {today.spent:,} of {counted(today.budget, 'request')} spent, "
        f"{today.left:,} left; {today.apart:,} more for robots.txt")  # fmt: skip
    if today.lost:
        say(f"{today.lost:,} of those spent were lost with a crawl that was killed")
    if today.samples or today.in_rounds:
        pages = "1 page is" if today.in_rounds == 1 else f"{today.in_rounds:,} pages are"
        say(f"{today.samples:,} of those spent were for rounds, which may use {today.share:,}; "
            f"{pages} in one now")  # fmt: skip
    if today.unreachable:
        say(f"{today.unreachable:,} of those left cannot be spent today:")
        for reason in today.reasons:
            say(f"  {reason}")


def _cells(row: Import) -> tuple[Any, ...]:
    visits, bad = row.counts.get("visits", 0), row.counts.get("bad", 0)
    state = "" if row.finished else "not finished: run it again"
    return (row.id, row.kind, row.path, to_minute(row.started), visits, bad, state)


def _print_bad_rows(rows: list[BadRow]) -> None:
    for row in rows:
        say(f"{row.place}: {row.why}")
    say(f"{counted(len(rows), 'row')} could not be taken.")
