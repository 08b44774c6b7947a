"""A crawl without the network: a collection, its clock, and what requests bring."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from freshet.archive.observation import Observation, RequestBooking
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.tables import HostCaps
from freshet.core.types import Outcome, Snapshot
from freshet.crawl.fetch_job import FetchJob
from freshet.crawl.session import CrawlSession

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAGES = 20
SOON = timedelta(seconds=1)
DAY = "2026-03-01"


def url(number: int) -> str:
    return f"https://h{number % 4}.example/{number}"


def make_folder(folder: Path) -> Path:
    """Make a collection of some pages on four hosts."""
    with Collection.create(folder, contact="me@example.org") as collection:
        collection.add_many([url(number) for number in range(PAGES)])
    return folder


@contextmanager
def crawling(
    folder: Path, clock: FixedClock, budget: str, *, once: bool = False
) -> Iterator[CrawlSession]:
    opened = Collection.open(folder, clock=clock)
    with opened as collection, collection.recording() as recorder:
        session = CrawlSession(collection, recorder, budget=budget, catch_up=once, once=once)
        session.start()
        yield session


def booked(observation: Observation, job: FetchJob, *, was_sent: bool = True) -> Observation:
    """Return an observation as the fetching side hands it over for a job."""
    return replace(observation, booking=RequestBooking(job.page, job.budget_day, was_sent))


def draw(session: CrawlSession, clock: FixedClock, room: int = 100) -> tuple[FetchJob, ...]:
    return session.draw_jobs(clock.now() + SOON, room, HostCaps()).jobs


def fetched_page(job: FetchJob, now: datetime, text: str = "words") -> Observation:
    body = f"<html><body><p>{text} of {job.url}</p></body></html>".encode()
    snapshot = Snapshot(job.url, body, 200, (("content-type", "text/html"),))
    observation = Observation(job.url, "", now, uuid4().bytes, snapshot)
    return booked(observation, job)


def failed(job: FetchJob, now: datetime, outcome: Outcome = Outcome.TIMEOUT) -> Observation:
    return booked(Observation(job.url, "", now, uuid4().bytes, outcome=outcome), job)


def visit_all(session: CrawlSession, clock: FixedClock) -> Sequence[FetchJob]:
    jobs = draw(session, clock)
    session.record_observations([fetched_page(job, clock.now()) for job in jobs])
    return jobs
