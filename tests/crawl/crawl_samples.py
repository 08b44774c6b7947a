"""A crawl without the network: a collection, its clock, and what requests bring."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from freshet.archive.importers.base import Arrival
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.tables import Caps
from freshet.core.types import Outcome, Snapshot
from freshet.crawl.fetch_job import Errand, Fetched
from freshet.crawl.session import Crawl

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
) -> Iterator[Crawl]:
    opened = Collection.open(folder, clock=clock)
    with opened as collection, collection.recording() as recorder:
        crawl = Crawl(collection, recorder, budget=budget, catch_up=once, once=once)
        crawl.begin()
        yield crawl


def drawn(crawl: Crawl, clock: FixedClock, room: int = 100) -> tuple[Errand, ...]:
    return crawl.draw(clock.now() + SOON, room, Caps(), []).errands


def brought(errand: Errand, now: datetime, text: str = "words") -> Fetched:
    body = f"<html><body><p>{text} of {errand.url}</p></body></html>".encode()
    snapshot = Snapshot(errand.url, body, 200, (("content-type", "text/html"),))
    arrival = Arrival(errand.url, "", now, uuid4().bytes, snapshot)
    return Fetched(arrival, errand.page, errand.day)


def failed(errand: Errand, now: datetime, outcome: Outcome = Outcome.TIMEOUT) -> Fetched:
    return Fetched(
        Arrival(errand.url, "", now, uuid4().bytes, outcome=outcome), errand.page, errand.day
    )


def visit_all(crawl: Crawl, clock: FixedClock) -> Sequence[Errand]:
    errands = drawn(crawl, clock)
    crawl.take([brought(errand, clock.now()) for errand in errands], [])
    return errands
