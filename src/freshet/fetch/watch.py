"""Watches pages: adds them and has them fetched now, by a running crawl if there is one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from time import sleep

from freshet.archive.warc.lock import ArchiveLock
from freshet.collection.watch import (
    WatchOptions,
    WatchResult,
    add_and_request,
    watch_results,
)
from freshet.core.budget import Budget, utc_day
from freshet.core.clock import monotonic_seconds
from freshet.core.errors import UsageError
from freshet.core.types import Page
from freshet.crawl.own_class_check import check_own_classes
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl
from freshet.record.collection_store import CollectionStore
from freshet.record.writer_lock import is_crawl, refuse_second_writer

DEFAULT_WAIT_SECONDS = 60.0
POLL_SECONDS = 0.1
NO_OPTIONS = WatchOptions()


def watch(
    path: Path,
    urls: Sequence[str],
    *,
    options: WatchOptions = NO_OPTIONS,
    seconds: float = DEFAULT_WAIT_SECONDS,
    budget: str = "",
    run: Callable[..., object] = run_crawl,
) -> list[WatchResult]:
    """Add pages to a collection, have them fetched, and return the result of each.

    A page that is not fetched within ``seconds`` stays requested, and its result has no visit. The
    call does not wait for pages on hosts that are closed for longer. ``budget`` replaces the
    setting for this call. ``run`` fetches the pages if no crawl is running: in this process, or in
    one of its own.
    """
    with CollectionStore.open(path) as collection:
        writer = ArchiveLock(collection.archive_folder).holder()
        refuse_second_writer(path, allow_crawl=True)
        if budget and is_crawl(writer):
            raise UsageError("a crawl runs and spends its own budget; leave out --budget")
        if not is_crawl(writer):
            check_own_classes(collection)
        since = collection.clock.now()
        pages = add_and_request(collection, urls, options)
        if is_crawl(writer):
            _wait(collection, pages, seconds)
        elif _has_budget(collection, since, budget or collection.settings.budget):
            awaited = tuple((page.id, page.host) for page in pages)
            limits = CrawlLimits(seconds=seconds, awaited_pages=awaited)
            run(path, budget=budget, pages=[page.id for page in pages], limits=limits)
        results = watch_results(collection, pages, since=since)
        if not budget:
            return results
        return [_with_budget(collection, result, budget) for result in results]


def _wait(collection: CollectionStore, pages: Sequence[Page], seconds: float) -> None:
    """Wait until a running crawl has visited the requested pages, or cannot in time."""
    end, end_time = (
        monotonic_seconds() + seconds,
        collection.clock.now() + timedelta(seconds=seconds),
    )
    while monotonic_seconds() < end:
        requested_pages = set(collection.catalog.requested_pages())
        hosts = {page.host for page in pages if page.id in requested_pages}
        if all(_is_closed(collection, host, end_time) for host in hosts):
            return
        sleep(POLL_SECONDS)


def _is_closed(collection: CollectionStore, host: str, time: datetime) -> bool:
    """Whether a host is closed beyond a time."""
    state = collection.catalog.host_state(host)
    until = state.backoff_until if state else None
    return until is not None and until > time


def _has_budget(collection: CollectionStore, now: datetime, budget: str) -> bool:
    """Whether the day has requests left."""
    spent, total = _spending(collection, now, budget)
    return spent < total


def _spending(collection: CollectionStore, now: datetime, budget: str) -> tuple[int, int]:
    """Return the requests that the day has spent, and the total of a budget."""
    page_count = sum(item.pages for item in collection.catalog.last_outcome_counts())
    total = Budget.parse(budget).requests_per_day(page_count)
    return collection.catalog.spending(utc_day(now)).requests, total


def _with_budget(collection: CollectionStore, result: WatchResult, budget: str) -> WatchResult:
    """Add the budget of the call to the obstacles if it prevented a visit."""
    spent, total = _spending(collection, collection.clock.now(), budget)
    if result.visit is not None or spent < total:
        return result
    obstacle = f"requests spent today: {spent:,}; this call's budget: {total:,}"
    obstacles = (obstacle, *result.why.obstacles)
    return replace(result, why=replace(result.why, obstacles=obstacles))
