"""A crawl as a command runs it: what it will do is said first, then it is told, then summed up."""

from collections.abc import Callable
from pathlib import Path

import typer

from freshet.archive.warc.lock import ArchiveLock
from freshet.cli.json_log import note
from freshet.cli.output import counted, say
from freshet.cli.progress_log import Narrator, ReaderGone, Tally
from freshet.core.settings import objective_of
from freshet.core.types import Outcome
from freshet.crawl.budget_status import Today, note_budget, today_of
from freshet.crawl.live_policy import policy_name
from freshet.fetch.metrics import STALL_SECONDS, Metrics, StallDetector
from freshet.fetch.recording_loop import Limits
from freshet.fetch.run_crawl import crawl
from freshet.record.store import CollectionStore


def keep_fresh(
    path: Path,
    budget: str,
    limits: Limits,
    tell: Callable[[str], None],
    *,
    metrics_port: int,
    metrics_address: str,
) -> tuple[Tally, Today]:
    """Crawl a collection and tell of it; return what was done, and how the day's budget stands."""
    with CollectionStore.open(path) as opened:
        begin(opened, budget, tell)
        narrator, metrics = Narrator(opened.catalog, tell), _metrics(opened)
        try:
            with metrics.served(metrics_port, metrics_address):
                crawl(path, budget=budget, limits=limits, listeners=[narrator, metrics])
        except ReaderGone as gone:
            raise typer.Exit(gone.exit_code) from gone
        today = today_of(opened, opened.catalog.last_outcomes(), budget=budget)
    note("crawl ended", visits=narrator.tally.visits, changes=narrator.tally.changes)
    return narrator.tally, today


def _metrics(opened: CollectionStore) -> Metrics:
    longest_wait = 2 * opened.settings.politeness.longest_delay
    stalls = StallDetector(max(STALL_SECONDS, longest_wait))
    return Metrics(opened.archive, last_look=opened.catalog.last_look_time(), stalls=stalls)


def begin(opened: CollectionStore, budget: str, tell: Callable[[str], None]) -> None:
    """Say what the crawl will do; refuse at once where another one writes to the archive."""
    with ArchiveLock(opened.archive, clock=opened.clock):
        note_budget(opened, budget)
    outcomes = opened.catalog.last_outcomes()
    today = today_of(opened, outcomes, budget=budget)
    pages = sum(item.pages for item in outcomes)
    plan = f"objective {objective_of(opened.settings)}, policy {policy_name(opened.settings)}"
    tell(f"Keeping {counted(pages, 'page')} fresh; {plan}.")
    tell(f"{counted(today.budget, 'request')} a day, {today.spent:,} spent today. Ctrl-C stops it.")
    if pages and not today.left:
        tell("Today's budget is spent; it goes on at 00:00 UTC.")
    if not pages:
        tell("There are no pages yet; those that 'freshet add' brings are taken up at once.")
    note("crawl begins", pages=pages, budget=today.budget, spent=today.spent)


def sum_up(tally: Tally, today: Today) -> None:
    """Say what was done, what of the budget is spent, and why some of it cannot be."""
    done = f"{counted(tally.visits, 'visit')}, {counted(tally.looks, 'look')} among them"
    say(f"Stopped after {done}, {counted(tally.changes, 'change')}.")
    failed = {name: n for name, n in tally.outcomes.most_common() if not Outcome(name).is_look}
    if failed:
        say("Not looks: " + ", ".join(f"{number:,} {name}" for name, number in failed.items()))
    say(f"Today {today.spent:,} of {today.budget:,} requests are spent, {today.left:,} are left; "
        f"{today.apart:,} more went to robots.txt.")  # fmt: skip
    if today.unreachable:
        say(f"{today.unreachable:,} of those left cannot be spent today:")
        for reason in today.reasons:
            say(f"  {reason}")
