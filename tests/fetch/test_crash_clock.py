"""A clock that is set a day on or back in the middle of a crawl: what is drawn and what is paid."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.tables import HostCaps
from freshet.core.types import Snapshot
from freshet.crawl.fetch_job import FetchJob
from freshet.crawl.session import CrawlSession
from tests.crawl.crawl_samples import booked

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
PAGES = 10
ROOM = 100


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def collection(tmp_path: Path, clock: FixedClock) -> Iterator[Collection]:
    Collection.create(tmp_path / "c", contact="me@example.org").close()
    with Collection.open(tmp_path / "c", clock=clock) as opened:
        opened.add_many([f"https://h{number}.example/" for number in range(PAGES)])
        yield opened


@contextmanager
def crawling(collection: Collection, budget: int) -> Iterator[CrawlSession]:
    with collection.recording() as recorder:
        session = CrawlSession(collection, recorder, budget=f"{budget}/day", catch_up=True)
        session.start()
        yield session


def draw(session: CrawlSession, clock: FixedClock) -> tuple[FetchJob, ...]:
    return session.draw_jobs(clock.now() + timedelta(seconds=1), ROOM, HostCaps()).jobs


def visit(session: CrawlSession, clock: FixedClock, jobs: tuple[FetchJob, ...]) -> None:
    body = b"<title>t</title><p>the river rose in spring and the fields were green again</p>"
    session.record_observations([
        booked(
            Observation(job.url, "", clock.now(), uuid4().bytes, Snapshot(job.url, body, 200)), job
        )
        for job in jobs
    ])


@pytest.mark.parametrize("days", [(1, -1, 1), (-1, 1, -1)])
def test_no_day_gets_more_than_its_budget_however_often_the_clock_comes_by(
    collection: Collection, clock: FixedClock, days: tuple[int, ...]
) -> None:
    drawn = []
    with crawling(collection, budget=6) as session:
        for jump in (0, *days):
            clock.at += jump * DAY
            jobs = [*draw(session, clock), *draw(session, clock)]
            visit(session, clock, tuple(jobs))
            drawn.append(len(jobs))
    assert sum(drawn) <= 2 * 6
    assert drawn[2:] == [0, 0]
    for day in {clock.now().date() + jump * DAY for jump in (-1, 0, 1)}:
        assert collection.catalog.spending(day.isoformat()).requests <= 6


def test_pages_are_visited_again_though_the_clock_was_set_back_before_their_looks(
    collection: Collection, clock: FixedClock
) -> None:
    with crawling(collection, budget=100) as session:
        visit(session, clock, draw(session, clock))
        clock.at -= DAY
        assert draw(session, clock) == ()
        clock.at += timedelta(minutes=2)
        assert len(draw(session, clock)) > 0


def test_pages_are_visited_by_a_crawl_that_begins_before_their_looks(
    collection: Collection, clock: FixedClock
) -> None:
    with crawling(collection, budget=100) as session:
        visit(session, clock, draw(session, clock))
    clock.at -= DAY
    with crawling(collection, budget=100) as session:
        clock.at += timedelta(minutes=2)
        assert len(draw(session, clock)) > 0


def test_a_page_that_is_out_when_the_clock_is_set_back_is_not_sent_out_again(
    collection: Collection, clock: FixedClock
) -> None:
    with crawling(collection, budget=100) as session:
        visit(session, clock, draw(session, clock))
        clock.at += timedelta(hours=6)
        out = draw(session, clock)
        clock.at -= timedelta(hours=5)
        assert out
        assert not {job.page for job in out} & {job.page for job in draw(session, clock)}


def test_no_page_seems_to_have_been_seen_in_the_future(
    collection: Collection, clock: FixedClock
) -> None:
    with crawling(collection, budget=100) as session:
        visit(session, clock, draw(session, clock))
    clock.at -= DAY
    for page in collection.pages():
        assert collection.why(page).explanation.age_days >= 0
    plan = collection.plan()
    assert {choice.page.url for choice in plan.choices} == {page.url for page in collection.pages()}
    assert all(choice.expected >= clock.now() for choice in plan.choices)
