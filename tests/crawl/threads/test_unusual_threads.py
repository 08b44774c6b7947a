"""Threads with one post, very many, equal or future times, edits, votes, or years of silence."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from freshet.archive.catalog.rows import ThreadLook, VisitEntry
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.content.posts import Post
from freshet.core.types import Outcome, Visit
from freshet.crawl.threads.next_post import NextPost
from tests.record.record_samples import START, URL

HOUR, YEAR = 3600.0, 365.25 * 86_400
NOW = START.timestamp()


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with Collection.create(tmp_path / "c", contact="me@example.org") as opened:
        opened.clock = FixedClock(START)
        opened.add(URL)
        yield opened


def posts_ago(*ages: float) -> list[Post]:
    """Return posts of some ages in seconds."""
    return [
        Post(NOW - age, f"user{n % 5}", f"post number {n}", f"#{n}") for n, age in enumerate(ages)
    ]


def look(collection: Collection, posts: Sequence[Post], minutes: float = 0.0) -> None:
    """Record a look at the thread, some minutes after the first one."""
    time = START + timedelta(minutes=minutes)
    visit = Visit(f"{minutes:016.1f}".encode(), collection.page(URL).id, time, Outcome.OK)
    thread = ThreadLook(tuple(posts), "posts")
    collection.catalog.append_visits([VisitEntry(visit, thread=thread)])


def forecast(collection: Collection) -> NextPost:
    next_post = collection.page(URL).forecast().next_post
    assert next_post is not None
    return next_post


def test_one_post_is_a_young_thread(collection: Collection) -> None:
    look(collection, posts_ago(600.0))
    next_post = forecast(collection)
    assert next_post.posts == 1
    assert next_post.low is not None
    assert next_post.low > START


def test_a_thread_revived_after_years_is_forecast_by_its_new_posts(collection: Collection) -> None:
    old = posts_ago(*(6 * YEAR + hours * HOUR for hours in range(30)))
    look(collection, old)
    silent = forecast(collection)
    assert silent.median is None or silent.median - START > timedelta(days=30)
    look(collection, [*old, *posts_ago(*[0.0] * 30, 2400.0, 1800.0, 900.0, 300.0)[30:]], minutes=1)
    revived = forecast(collection)
    assert revived.posts == 34
    assert revived.median is not None
    assert revived.median - START < timedelta(days=1)


def test_posts_of_one_second_are_all_kept_and_forecast(collection: Collection) -> None:
    look(collection, posts_ago(*[HOUR] * 40))
    next_post = forecast(collection)
    assert next_post.posts == 40
    assert next_post.median is not None


def test_a_time_ahead_counts_as_the_look(collection: Collection) -> None:
    look(collection, posts_ago(HOUR, -5 * HOUR))
    next_post = forecast(collection)
    assert next_post.median is not None
    assert next_post.median > START


def test_votes_and_deletions_change_nothing(collection: Collection) -> None:
    posts = posts_ago(5 * HOUR, 4 * HOUR, 3 * HOUR, 2 * HOUR)
    look(collection, posts)
    before = collection.page(URL).posts().posts
    look(collection, [posts[2], posts[0], posts[3]], minutes=1)
    assert collection.page(URL).posts().posts == before


def test_fifty_thousand_posts_are_kept_once(collection: Collection) -> None:
    posts = posts_ago(*(60.0 * n + 600.0 for n in range(50_000)))
    look(collection, posts)
    look(collection, posts, minutes=1)
    assert collection.page(URL).posts(limit=3).total == 50_000
    assert forecast(collection).posts == 50_000
