"""Watch pages: add them, have them fetched now, by a running crawl where there is one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from time import sleep

from freshet.archive.warc.lock import ArchiveLock
from freshet.collection.watch import WatchResult, add_and_request, watch_results
from freshet.core.budget import Budget, utc_day
from freshet.core.clock import monotonic_seconds
from freshet.core.errors import UsageError
from freshet.core.types import Page
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl
from freshet.record.archive_writer import is_crawl, refuse_second_writer
from freshet.record.store import CollectionStore

DEFAULT_WAIT_SECONDS = 60.0
POLL_SECONDS = 0.1


def watch(
    path: Path,
    urls: Sequence[str],
    *,
    tags: tuple[str, ...] = (),
    seconds: float = DEFAULT_WAIT_SECONDS,
    budget: str = "",
    run: Callable[..., object] = run_crawl,
) -> list[WatchResult]:
    """Add pages to a collection, have them fetched, and return what was found of each.

    What is not fetched within ``seconds`` stays asked for, and its sighting has no visit; where all
    that is left lies on hosts that are closed for longer, it is not waited for.
    ``budget`` holds for this call in place of the setting.
    ``run_crawl`` fetches them where no crawl is running: in this process, or in one of its own.
    """
    with CollectionStore.open(path) as opened:
        writer = ArchiveLock(opened.archive_folder).holder()
        refuse_second_writer(path, allow_crawl=True)
        if budget and is_crawl(writer):
            raise UsageError("a crawl runs and spends its own budget; leave out --budget")
        since = opened.clock.now()
        pages = add_and_request(opened, urls, tags=tags)
        if is_crawl(writer):
            _wait(opened, pages, seconds)
        elif _has_budget(opened, since, budget or opened.settings.budget):
            awaited = tuple((page.id, page.host) for page in pages)
            limits = CrawlLimits(seconds=seconds, awaited_pages=awaited)
            run(path, budget=budget, pages=[page.id for page in pages], limits=limits)
        found = watch_results(opened, pages, since=since)
        return [_with_budget(opened, sighting, budget) for sighting in found] if budget else found


def _wait(opened: CollectionStore, pages: Sequence[Page], seconds: float) -> None:
    """Wait until a running crawl has visited the pages it was asked for, or cannot in time."""
    end, last = monotonic_seconds() + seconds, opened.clock.now() + timedelta(seconds=seconds)
    while monotonic_seconds() < end:
        asked = set(opened.catalog.requested_pages())
        hosts = {page.host for page in pages if page.id in asked}
        if all(_is_closed(opened, host, last) for host in hosts):
            return
        sleep(POLL_SECONDS)


def _is_closed(opened: CollectionStore, host: str, then: datetime) -> bool:
    """Whether a host is closed beyond a time."""
    state = opened.catalog.host_state(host)
    until = state.backoff_until if state else None
    return until is not None and until > then


def _has_budget(opened: CollectionStore, now: datetime, budget: str) -> bool:
    """Whether the day has requests left."""
    spent, total = _spending(opened, now, budget)
    return spent < total


def _spending(opened: CollectionStore, now: datetime, budget: str) -> tuple[int, int]:
    """Return how many requests the day has spent, and how many a budget gives it."""
    size = sum(item.pages for item in opened.catalog.last_outcome_counts())
    return opened.catalog.spending(utc_day(now)).requests, Budget.parse(budget).requests_per_day(
        size
    )


def _with_budget(opened: CollectionStore, sighting: WatchResult, budget: str) -> WatchResult:
    """Name the budget of the call where it kept a page from being visited."""
    spent, total = _spending(opened, opened.clock.now(), budget)
    if sighting.visit is not None or spent < total:
        return sighting
    obstacle = f"requests spent today: {spent:,}; this call's budget: {total:,}"
    obstacles = (obstacle, *sighting.why.obstacles)
    return replace(sighting, why=replace(sighting.why, obstacles=obstacles))
