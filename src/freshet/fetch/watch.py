"""Watch pages: add them, have them fetched now, by a running crawl where there is one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from time import sleep

from freshet.archive.warc.lock import ArchiveLock
from freshet.collection.watch import Sighting, enlist, sightings
from freshet.core.budget import Budget, day_of
from freshet.core.clock import stopwatch
from freshet.core.errors import UsageError
from freshet.core.types import Page
from freshet.fetch.recording_loop import Limits
from freshet.fetch.run_crawl import crawl
from freshet.record.archive_writer import is_crawl, refuse_a_second
from freshet.record.store import CollectionStore

WAIT_SECONDS = 60.0
POLL_SECONDS = 0.1


def watch(
    path: Path,
    urls: Sequence[str],
    *,
    tags: tuple[str, ...] = (),
    seconds: float = WAIT_SECONDS,
    budget: str = "",
    crawl: Callable[..., object] = crawl,
) -> list[Sighting]:
    """Add pages to a collection, have them fetched, and return what was found of each.

    What is not fetched within ``seconds`` stays asked for, and its sighting has no visit; where all
    that is left lies on hosts that are closed for longer, it is not waited for.
    ``budget`` holds for this call in place of the setting.
    ``crawl`` fetches them where no crawl is running: in this process, or in one of its own.
    """
    with CollectionStore.open(path) as opened:
        writer = ArchiveLock(opened.archive).holder()
        refuse_a_second(path, beside_a_crawl=True)
        if budget and is_crawl(writer):
            raise UsageError("a crawl runs and spends its own budget; leave out --budget")
        since = opened.clock.now()
        pages = enlist(opened, urls, tags=tags)
        if is_crawl(writer):
            _wait(opened, pages, seconds)
        elif _has_budget(opened, since, budget or opened.settings.budget):
            awaited = tuple((page.id, page.host) for page in pages)
            limits = Limits(seconds=seconds, awaited=awaited)
            crawl(path, budget=budget, pages=[page.id for page in pages], limits=limits)
        found = sightings(opened, pages, since=since)
        return [_with_budget(opened, sighting, budget) for sighting in found] if budget else found


def _wait(opened: CollectionStore, pages: Sequence[Page], seconds: float) -> None:
    """Wait until a running crawl has visited the pages it was asked for, or cannot in time."""
    end, last = stopwatch() + seconds, opened.clock.now() + timedelta(seconds=seconds)
    while stopwatch() < end:
        asked = set(opened.catalog.asked())
        hosts = {page.host for page in pages if page.id in asked}
        if all(_is_closed(opened, host, last) for host in hosts):
            return
        sleep(POLL_SECONDS)


def _is_closed(opened: CollectionStore, host: str, then: datetime) -> bool:
    """Whether a host is closed beyond a time."""
    state = opened.catalog.host(host)
    until = state.backoff_until if state else None
    return until is not None and until > then


def _has_budget(opened: CollectionStore, now: datetime, budget: str) -> bool:
    """Whether the day has requests left."""
    spent, total = _spending(opened, now, budget)
    return spent < total


def _spending(opened: CollectionStore, now: datetime, budget: str) -> tuple[int, int]:
    """Return how many requests the day has spent, and how many a budget gives it."""
    size = sum(item.pages for item in opened.catalog.last_outcomes())
    return opened.catalog.spending(day_of(now)).requests, Budget.parse(budget).per_day(size)


def _with_budget(opened: CollectionStore, sighting: Sighting, budget: str) -> Sighting:
    """Name the budget of the call where it kept a page from being visited."""
    spent, total = _spending(opened, opened.clock.now(), budget)
    if sighting.visit is not None or spent < total:
        return sighting
    obstacle = f"requests spent today: {spent:,}; this call's budget: {total:,}"
    obstacles = (obstacle, *sighting.why.obstacles)
    return replace(sighting, why=replace(sighting.why, obstacles=obstacles))
