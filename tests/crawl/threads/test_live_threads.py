"""A crawl for ``timeliness``: threads are visited by their posts, over all their pages."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from freshet.archive.observation import Observation
from freshet.collection.check_now import check_now
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.types import Snapshot
from freshet.crawl.fetch_job import FetchJob
from freshet.crawl.threads.thread_pages import MAX_NEXT_PAGES, add_next_pages
from freshet.crawl.why import explain_page
from freshet.record.thread_posts import read_threads
from tests.crawl.crawl_samples import booked, crawling, draw
from tests.record.thread_samples import FIRST_POST, thread_page

BUSY, DEAD, PLAIN = (f"https://forum.example/{name}" for name in ("busy", "dead", "plain"))
NEXT = BUSY + "?page=2"
BUSY_HOURS = [*range(40), *(40 + minute / 60 for minute in range(0, 1200, 20))]
DEAD_HOURS = [hour / 10 - 3000 for hour in range(12)]
START = FIRST_POST + timedelta(hours=40)


def body_of(url: str, hours: float) -> bytes:
    """Return what a page shows some hours after the first post."""
    shown = [hour for hour in BUSY_HOURS if hour <= hours]
    return {
        BUSY: thread_page(shown[:50], next_page="/busy?page=2" if len(shown) > 50 else ""),
        NEXT: thread_page(shown[50:]),
        DEAD: thread_page(DEAD_HOURS),
        PLAIN: b"<html><title>Mill</title><p>Nothing is posted here, it only has a few words.</p>",
    }[url]


def crawl_hours(folder: Path, hours: int, budget: str = "120/day") -> dict[str, int]:
    """Crawl for some hours; return the number of visits by URL."""
    visits: dict[str, int] = {}
    clock = FixedClock(START)
    with crawling(folder, clock, budget) as session:
        for minute in range(0, 60 * hours, 5):
            clock.at = START + timedelta(minutes=minute)
            observations = []
            for job in draw(session, clock):
                body = body_of(job.url, 40 + minute / 60)
                snapshot = Snapshot(job.url, body, 200, (("content-type", "text/html"),))
                observation = Observation(job.url, "", clock.now(), uuid4().bytes, snapshot)
                observations.append(booked(observation, job))
                visits[job.url] = visits.get(job.url, 0) + 1
            session.record_observations(observations)
    return visits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        collection.add_many([BUSY, DEAD, PLAIN])
    settings = 'contact = "me@example.org"\nobjective = "timeliness"\n[rounds]\nshare = 0\n'
    (tmp_path / "c" / "freshet.toml").write_text(settings)
    return tmp_path / "c"


def delays(collection: Collection, urls: Iterable[str]) -> list[float]:
    """Return the hours after which posts since the first visit were found."""
    posts = [
        post for url in urls for post in collection.catalog.posts_of_page(collection.page(url).id)
    ]
    return [(post.found - post.time) / 3600 for post in posts if post.time > START.timestamp()]


def test_a_busy_thread_is_visited_most_and_on_its_last_page(folder: Path) -> None:
    visits = crawl_hours(folder, 12)
    assert visits[NEXT] > 2 * visits[BUSY]
    assert visits[BUSY] > 2 * max(visits[DEAD], visits[PLAIN])
    with Collection.open(folder) as collection:
        found = delays(collection, [BUSY, NEXT])
        assert len(found) >= 30
        assert sum(found) / len(found) < 0.5
        assert collection.page(NEXT).tags == ("thread",)
        threads = {thread.page: thread for thread in read_threads(collection.catalog)}
        first, last = (threads[collection.page(url).id] for url in (BUSY, NEXT))
        assert (first.is_continued, last.is_continued) == (True, False)
        assert len(first.post_times) == 50
        assert len(last.post_times) >= 70
        forecast = collection.page(BUSY).forecast()
        assert forecast.next_post is None
        assert forecast.thread_text == f"posts: new ones are on {NEXT}"
        collection.catalog.set_page_settings(collection.page(DEAD).id, {"thread": "no"})
        assert collection.page(DEAD).id not in {
            page.page for page in read_threads(collection.catalog)
        }


def test_forecasts_tell_the_next_post_and_why_a_page_has_none(folder: Path) -> None:
    crawl_hours(folder, 6)
    clock = FixedClock(START + timedelta(hours=6))
    with Collection.open(folder, clock=clock) as collection:
        busy, dead, plain = (collection.page(url).forecast() for url in (NEXT, DEAD, PLAIN))
        assert busy.next_post is not None
        assert dead.next_post is not None
        assert busy.next_post.median is not None
        assert busy.next_post.median - clock.now() < timedelta(hours=2)
        assert dead.next_post.there < 0.1
        assert dead.next_post.median is None or dead.next_post.median > busy.next_post.median
        assert dead.thread_text.startswith("posts: 12 posts, the last one 126.9 days ago; the next")
        assert plain.next_post is None
        assert plain.thread_text == "no posts: no repeated blocks with times were found"
        lines = dict(explain_page(collection, collection.page(NEXT)).lines())
        assert lines["new posts by now"].endswith("expected")
        assert lines["plan"] == "for timeliness by bayes-timeliness"


def test_a_crawl_goes_on_from_its_threads_after_a_restart(folder: Path) -> None:
    crawl_hours(folder, 3)
    clock = FixedClock(START + timedelta(hours=4))
    with crawling(folder, clock, "100/day") as session:
        with Collection.open(folder, clock=clock) as collection:
            busy, dead = (collection.page(url).id for url in (BUSY, DEAD))
        waiting = [session.policy.explain(page, clock.now()).waiting_posts for page in (busy, dead)]
    assert waiting[0] is not None
    assert waiting[1] is not None
    assert waiting[0] > 10 * waiting[1]


def test_a_page_is_fetched_whole_until_posts_were_looked_for(folder: Path) -> None:
    settings = folder / "freshet.toml"
    text = settings.read_text()
    settings.write_text(text.replace("timeliness", "freshness"))
    headers = (("content-type", "text/html"), ("etag", '"1"'))
    clock = FixedClock(START)

    def first_jobs() -> dict[str, FetchJob]:
        with crawling(folder, clock, "100/day") as session:
            jobs = draw(session, clock)
            snapshots = [Snapshot(job.url, body_of(job.url, 40), 200, headers) for job in jobs]
            session.record_observations([
                booked(Observation(job.url, "", clock.now(), uuid4().bytes, snapshot), job)
                for job, snapshot in zip(jobs, snapshots, strict=True)
            ])
            return {job.url: job for job in jobs}

    first_jobs()
    etags = []
    settings.write_text(text)
    for _ in range(2):
        clock.at += timedelta(days=1)
        with Collection.open(folder, clock=clock) as collection:
            check_now(collection, [collection.page(BUSY)])
        etags.append(first_jobs()[BUSY].etag)
    assert etags == [None, '"1"']


def test_next_links_that_differ_at_every_visit_do_not_fill_the_collection(folder: Path) -> None:
    with Collection.open(folder) as collection, collection.recording() as recorder:
        for number in range(40):
            for page in collection.pages():
                body = thread_page([1, 2, 3, 4], next_page=f"/busy?after={number}")
                snapshot = Snapshot(page.url, body, 200, (("content-type", "text/html"),))
                time = START + timedelta(minutes=number)
                recorder.record([Observation(page.url, "", time, uuid4().bytes, snapshot)])
            add_next_pages(collection.catalog, START + timedelta(minutes=number))
        assert len(list(collection.pages())) == 3 + MAX_NEXT_PAGES
