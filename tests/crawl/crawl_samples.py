"""A crawl without the network: a collection, its clock, and what requests bring."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.tables import HostCaps
from freshet.core.types import Outcome, Snapshot
from freshet.crawl.fetch_job import FetchJob, FetchResult
from freshet.crawl.session import CrawlSession

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAGES = 20
SOON = timedelta(seconds=1)
DAY = "2026-03-01"


def url(number: int) -> str:
    return f"https://h{number % 4}.example/{number}"


def make_folder(place: Path) -> Path:
    """Make a collection of some pages on four hosts."""
    with Collection.create(place, contact="me@example.org") as collection:
        collection.add_many([url(number) for number in range(PAGES)])
    return place


@contextmanager
def crawling(
    folder: Path, clock: FixedClock, budget: str, *, once: bool = False
) -> Iterator[CrawlSession]:
    opened = Collection.open(folder, clock=clock)
    with opened as collection, collection.recording() as recorder:
        crawl = CrawlSession(collection, recorder, budget=budget, catch_up=once, once=once)
        crawl.start()
        yield crawl


def drawn(crawl: CrawlSession, clock: FixedClock, room: int = 100) -> tuple[FetchJob, ...]:
    return crawl.draw_jobs(clock.now() + SOON, room, HostCaps(), []).jobs


def brought(errand: FetchJob, now: datetime, text: str = "words") -> FetchResult:
    body = f"<html><body><p>{text} of {errand.url}</p></body></html>".encode()
    snapshot = Snapshot(errand.url, body, 200, (("content-type", "text/html"),))
    arrival = Observation(errand.url, "", now, uuid4().bytes, snapshot)
    return FetchResult(arrival, errand.page, errand.budget_day)


def failed(errand: FetchJob, now: datetime, outcome: Outcome = Outcome.TIMEOUT) -> FetchResult:
    return FetchResult(
        Observation(errand.url, "", now, uuid4().bytes, outcome=outcome),
        errand.page,
        errand.budget_day,
    )


def visit_all(crawl: CrawlSession, clock: FixedClock) -> Sequence[FetchJob]:
    errands = drawn(crawl, clock)
    crawl.record_results([brought(errand, clock.now()) for errand in errands], [])
    return errands
