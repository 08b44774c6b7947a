"""Shows totals, the objective, the daily budget (spent, left, and how much of it cannot be used
today and why), the share of the last days' requests that were exploratory, the weights of mixed
policies, followed links, hosts in back-off, failing pages, visits and stored bytes per day, and
imports. Imported visits count on the day they were made.
"""

from typing import Annotated, Any

import typer

from freshet.archive.catalog.rows import ImportRecord
from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_table, print_text, refresh_until_interrupted
from freshet.collection.status import CollectionStatus, bad_rows_of_import, collection_status
from freshet.core.errors import UsageError
from freshet.core.humanize import count_text, format_size
from freshet.core.local_time import format_to_minute
from freshet.core.types import BadRow
from freshet.crawl.budget_status import DayBudgetStatus
from freshet.crawl.follow import FollowStatus
from freshet.record.collection_store import CollectionStore

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
    """Show totals, the daily budget, failing pages and imports."""
    if live and (as_json or bad is not None):
        raise UsageError("--live cannot be combined with --json or --bad")
    with CollectionStore.open(collection) as store:
        if live:
            refresh_until_interrupted(lambda: _print(collection_status(store, days=days)))
            return
        rows = None if bad is None else bad_rows_of_import(store, bad)
        current_status = collection_status(store, days=days)
    if as_json:
        print_json(current_status if rows is None else rows)
    elif rows is None:
        _print(current_status)
    else:
        _print_bad_rows(rows)


def _print(status: CollectionStatus) -> None:
    counts = status.counts
    contact = status.contact or "not set"
    origin = f" ({status.objective_origin})" if status.objective_origin else ""
    print_text(f"{status.path}   objective {status.objective}{origin}   contact {contact}")
    pages = count_text(counts.pages, "page")
    print_text(f"{pages} ({counts.paused:,} paused), {counts.removed:,} removed")
    print_text(
        f"{count_text(counts.visits, 'visit')}, {count_text(counts.looks, 'look')} among them, "
        f"{count_text(counts.changes, 'change')}"
    )
    print_text(
        f"archive: {count_text(counts.files, 'file')}, {format_size(status.archive_bytes)}; "
        f"catalog: {format_size(status.catalog_bytes)}; "
        f"free on this disk: {format_size(status.free_bytes)}"
    )
    print_text(
        f"being written by {status.writer}"
        if status.writer
        else "no crawl is running: 'freshet run'"
    )
    _print_today(status.today)
    _print_policy(status)
    for followed in status.followed:
        print_text(_followed_text(followed))
    if status.failing:
        _print_failing(status)
    if status.closed_hosts:
        hosts = [
            (host.host, host.closed_until, host.failures or None, host.robots)
            for host in status.closed_hosts[:MAX_LISTED_HOSTS]
        ]
        title = f"closed hosts: {len(status.closed_hosts):,}"
        print_table(("host", "until", "failures", "robots.txt"), hosts, title=title)
    if status.growth:
        growth = [
            (str(row.day), row.visits, format_size(row.stored_bytes)) for row in status.growth
        ]
        print_table(("day", "visits", "stored"), growth, title="visits by day")
    if status.imports:
        columns = ("no", "import", "path", "started", "visits", "bad", "state")
        print_table(columns, [_cells(row) for row in status.imports], title="imports")


def _followed_text(followed: FollowStatus) -> str:
    """Describe how many new links were added as pages with a tag, and how many wait."""
    pages = count_text(followed.pages, "new link")
    text = f"tag {followed.tag}: {pages} followed, {followed.today:,} of them today"
    if followed.unusable:
        text += f"; {followed.unusable:,} removed or not fetchable, which do not count"
    if followed.waiting:
        wait = "waits" if followed.waiting == 1 else "wait"
        links = count_text(followed.waiting, "link")
        text += f"; {links} {wait} for follow_per_day or follow_total"
    return text


def _print_failing(status: CollectionStatus) -> None:
    """Print the number of failing pages by outcome, and the first few of them."""
    failing = ", ".join(f"{number:,} {outcome}" for outcome, number in status.failing.items())
    print_text(f"pages whose last visit failed: {failing}")
    for row in status.failing_pages:
        print_text(f"  {row.page.url}  {row.outcome}" + (f": {row.why}" if row.why else ""))
    unlisted = sum(status.failing.values()) - len(status.failing_pages)
    if unlisted > 0:
        print_text(f"  {unlisted:,} more: freshet list --failing")


def _print_today(today: DayBudgetStatus) -> None:
    """Print the use of the day's budget, and why some of it cannot be used."""
    print_text(
        f"today ({today.day}, UTC): {today.spent:,} of "
        f"{count_text(today.budget, 'request')} spent, {today.left:,} left; "
        f"{today.apart:,} more for robots.txt"
    )
    if today.lost:
        print_text(f"{today.lost:,} of them were lost when a crawl was killed")
    if today.samples or today.in_rounds:
        pages = "1 page is" if today.in_rounds == 1 else f"{today.in_rounds:,} pages are"
        print_text(
            f"{today.samples:,} of them were used for bursts (limit {today.share:,}); "
            f"{pages} in a burst now"
        )
    if today.unreachable:
        print_text(f"{today.unreachable:,} of those left cannot be used today:")
        for reason in today.reasons:
            print_text(f"  {reason}")


def _print_policy(status: CollectionStatus) -> None:
    """Print the share of exploratory requests, and the weights of mixed policies."""
    exploration, policy = status.exploration, status.policy
    if policy is not None and exploration.share is not None:
        print_text(
            f"exploration: {exploration.share:.1%} of the requests of the last "
            f"{count_text(exploration.days, 'day')} ({exploration.exploratory:,} of "
            f"{exploration.requests:,})"
        )
    if policy is not None and policy.time is None:
        print_text(
            f"policy {policy.policy} has not started yet; the last crawl was by {policy.previous}"
        )
    elif policy is not None and policy.time is not None and policy.weights:
        weights = ", ".join(f"{name} {share:.1%}" for name, share in policy.weights.items())
        time = format_to_minute(policy.time)
        print_text(f"shares of the visits by policy ({policy.policy}, {time}): {weights}")
    if status.learned is not None:
        use = f"{status.learned.model} is used" if status.learned.in_use else "not used"
        print_text(f"learned model: {use}; {status.learned.why}")


def _cells(row: ImportRecord) -> tuple[Any, ...]:
    visits, bad = row.counts.get("visits", 0), row.counts.get("bad", 0)
    state = "" if row.finished else "interrupted: run it again"
    return (row.id, row.kind, row.path, format_to_minute(row.started), visits, bad, state)


def _print_bad_rows(rows: list[BadRow]) -> None:
    for row in rows:
        print_text(f"{row.place}: {row.why}")
    print_text(f"{count_text(len(rows), 'row')} could not be imported.")
