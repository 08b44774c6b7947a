"""The crawl of `freshet run`: announcement, progress log, metrics and summary."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from freshet.archive.warc.lock import ArchiveLock
from freshet.cli.json_log import log_event
from freshet.cli.output import print_text
from freshet.cli.progress_log import CrawlCounts, OutputClosedError, ProgressLog
from freshet.core.humanize import count_text
from freshet.core.settings import ENV_PREFIX, planning_objective
from freshet.core.types import Outcome
from freshet.crawl.budget_status import DayBudgetStatus, day_budget_status, save_running_budget
from freshet.crawl.live_policy import policy_name
from freshet.crawl.own_class_check import check_own_classes
from freshet.fetch.metrics import STALL_SECONDS, PrometheusMetrics, StallDetector
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl
from freshet.record.collection_store import CollectionStore


@contextmanager
def planning_for(objective: str) -> Iterator[None]:
    """Replace the settings ``objective`` and ``policy``, if an objective is given.

    Environment variables do it, as for every setting, because a crawl opens its collection several
    times.
    """
    names = (f"{ENV_PREFIX}OBJECTIVE", f"{ENV_PREFIX}POLICY") if objective else ()
    before = {name: os.environ.get(name) for name in names}
    try:
        os.environ.update(zip(names, (objective, ""), strict=False))
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def run_until_stopped(
    path: Path,
    budget: str,
    limits: CrawlLimits,
    print_line: Callable[[str], None],
    *,
    metrics_port: int,
    metrics_address: str,
) -> tuple[CrawlCounts, DayBudgetStatus]:
    """Crawl a collection with a progress log; return the counts and the budget of the day."""
    with CollectionStore.open(path) as store:
        check_own_classes(store)
        announce_crawl(store, budget, print_line)
        progress_log, metrics = ProgressLog(store.catalog, print_line), _metrics(store)
        try:
            with metrics.serve(metrics_port, metrics_address):
                run_crawl(path, budget=budget, limits=limits, listeners=[progress_log, metrics])
        except OutputClosedError as closed:
            raise typer.Exit(closed.exit_code) from closed
        today = day_budget_status(store, store.catalog.last_outcome_counts(), budget=budget)
    log_event("crawl ended", visits=progress_log.counts.visits, changes=progress_log.counts.changes)
    return progress_log.counts, today


def _metrics(store: CollectionStore) -> PrometheusMetrics:
    longest_wait = 2 * store.settings.politeness.longest_delay
    stalls = StallDetector(max(STALL_SECONDS, longest_wait))
    return PrometheusMetrics(
        store.archive_folder, last_look=store.catalog.last_look_time(), stalls=stalls
    )


def announce_crawl(store: CollectionStore, budget: str, print_line: Callable[[str], None]) -> None:
    """Print what the crawl will do; fail if another process is writing to the archive."""
    with ArchiveLock(store.archive_folder, clock=store.clock):
        save_running_budget(store, budget)
    outcomes = store.catalog.last_outcome_counts()
    today = day_budget_status(store, outcomes, budget=budget)
    pages = sum(item.pages for item in outcomes)
    plan = f"objective {planning_objective(store.settings)}, policy {policy_name(store.settings)}"
    print_line(f"Crawling {count_text(pages, 'page')}; {plan}.")
    budget_text = f"{count_text(today.budget, 'request')} per day"
    print_line(f"{budget_text}, {today.spent:,} spent today. Ctrl-C stops the crawl.")
    if pages and not today.left:
        print_line("Today's budget is spent; the crawl continues at 00:00 UTC.")
    if not pages:
        print_line("There are no pages yet; pages from 'freshet add' are visited at once.")
    log_event("crawl begins", pages=pages, budget=today.budget, spent=today.spent)


def print_crawl_summary(counts: CrawlCounts, today: DayBudgetStatus) -> None:
    """Print the counts, the use of the budget, and why some of it cannot be used."""
    visits = f"{count_text(counts.visits, 'visit')}, {count_text(counts.looks, 'look')} among them"
    print_text(f"Stopped after {visits}, {count_text(counts.changes, 'change')}.")
    failed = {name: n for name, n in counts.outcomes.most_common() if not Outcome(name).is_look}
    if failed:
        print_text(
            "Visits without content: "
            + ", ".join(f"{number:,} {name}" for name, number in failed.items())
        )
    print_text(
        f"Today {today.spent:,} of {today.budget:,} requests are spent, {today.left:,} are left; "
        f"{count_text(today.apart, 'request')} for robots.txt not included."
    )
    if today.unreachable:
        print_text(f"{today.unreachable:,} of those left cannot be used today:")
        for reason in today.reasons:
            print_text(f"  {reason}")
