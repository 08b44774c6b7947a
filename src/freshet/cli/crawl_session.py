"""A crawl as a command runs it: what it will do is said first, then it is told, then summed up."""

from collections.abc import Callable
from pathlib import Path

import typer

from freshet.archive.warc.lock import ArchiveLock
from freshet.cli.json_log import log_event
from freshet.cli.output import format_count, print_text
from freshet.cli.progress_log import CrawlCounts, OutputClosedError, ProgressLog
from freshet.core.settings import planning_objective
from freshet.core.types import Outcome
from freshet.crawl.budget_status import DayBudgetStatus, day_budget_status, save_running_budget
from freshet.crawl.live_policy import policy_name
from freshet.fetch.metrics import STALL_SECONDS, PrometheusMetrics, StallDetector
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl
from freshet.record.store import CollectionStore


def run_until_stopped(
    path: Path,
    budget: str,
    limits: CrawlLimits,
    print_line: Callable[[str], None],
    *,
    metrics_port: int,
    metrics_address: str,
) -> tuple[CrawlCounts, DayBudgetStatus]:
    """Crawl a collection and tell of it; return what was done, and how the day's budget stands."""
    with CollectionStore.open(path) as opened:
        announce_crawl(opened, budget, print_line)
        narrator, metrics = ProgressLog(opened.catalog, print_line), _metrics(opened)
        try:
            with metrics.serve(metrics_port, metrics_address):
                run_crawl(path, budget=budget, limits=limits, listeners=[narrator, metrics])
        except OutputClosedError as gone:
            raise typer.Exit(gone.exit_code) from gone
        today = day_budget_status(opened, opened.catalog.last_outcome_counts(), budget=budget)
    log_event("crawl ended", visits=narrator.counts.visits, changes=narrator.counts.changes)
    return narrator.counts, today


def _metrics(opened: CollectionStore) -> PrometheusMetrics:
    longest_wait = 2 * opened.settings.politeness.longest_delay
    stalls = StallDetector(max(STALL_SECONDS, longest_wait))
    return PrometheusMetrics(
        opened.archive_folder, last_look=opened.catalog.last_look_time(), stalls=stalls
    )


def announce_crawl(opened: CollectionStore, budget: str, print_line: Callable[[str], None]) -> None:
    """Say what the crawl will do; refuse at once where another one writes to the archive."""
    with ArchiveLock(opened.archive_folder, clock=opened.clock):
        save_running_budget(opened, budget)
    outcomes = opened.catalog.last_outcome_counts()
    today = day_budget_status(opened, outcomes, budget=budget)
    pages = sum(item.pages for item in outcomes)
    plan = f"objective {planning_objective(opened.settings)}, policy {policy_name(opened.settings)}"
    print_line(f"Keeping {format_count(pages, 'page')} fresh; {plan}.")
    print_line(
        f"{format_count(today.budget, 'request')} a day, {today.spent:,} spent today. Ctrl-C stops it."
    )
    if pages and not today.left:
        print_line("Today's budget is spent; it goes on at 00:00 UTC.")
    if not pages:
        print_line("There are no pages yet; those that 'freshet add' brings are taken up at once.")
    log_event("crawl begins", pages=pages, budget=today.budget, spent=today.spent)


def print_crawl_summary(tally: CrawlCounts, today: DayBudgetStatus) -> None:
    """Say what was done, what of the budget is spent, and why some of it cannot be."""
    done = f"{format_count(tally.visits, 'visit')}, {format_count(tally.looks, 'look')} among them"
    print_text(f"Stopped after {done}, {format_count(tally.changes, 'change')}.")
    failed = {name: n for name, n in tally.outcomes.most_common() if not Outcome(name).is_look}
    if failed:
        print_text(
            "Not looks: " + ", ".join(f"{number:,} {name}" for name, number in failed.items())
        )
    print_text(f"Today {today.spent:,} of {today.budget:,} requests are spent, {today.left:,} are left; "
        f"{today.apart:,} more went to robots.txt.")  # fmt: skip
    if today.unreachable:
        print_text(f"{today.unreachable:,} of those left cannot be spent today:")
        for reason in today.reasons:
            print_text(f"  {reason}")
