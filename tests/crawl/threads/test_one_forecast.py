"""The next post of a thread and the chance that its page has changed are one forecast."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from freshet.archive.catalog.rows import ThreadLook, VisitEntry
from freshet.collection.collection import Collection
from freshet.collection.outlook import CrawlOutlook
from freshet.core.clock import FixedClock
from freshet.core.content.posts import Post
from freshet.core.types import Outcome, Visit
from freshet.crawl.threads.post_curves import known_posts
from freshet.predict.threads.rate_model import pooled_hazard
from freshet.record.thread_posts import ThreadPage, read_threads
from tests.record.record_samples import START, URL

DAILY_POSTS = 20
LAST_POST_AGE = timedelta(hours=22)
PLAIN = "https://news.example/plain"


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    """A feed with an entry each day, looked at 22 hours after the last one, and a page."""
    with Collection.create(tmp_path / "c", contact="me@example.org") as opened:
        opened.clock = FixedClock(START)
        opened.add_many([URL, PLAIN])
        minutes = np.random.default_rng(1).normal(0.0, 5.0, DAILY_POSTS)
        posts = [
            Post(
                (START - LAST_POST_AGE - timedelta(days=day, minutes=shift)).timestamp(),
                "editor",
                f"news of day {day}",
                f"#{day}",
            )
            for day, shift in enumerate(minutes.tolist())
        ]
        opened.catalog.append_visits([
            VisitEntry(_look(opened, URL), thread=ThreadLook(tuple(posts), "a feed")),
            VisitEntry(_look(opened, PLAIN)),
        ])
        yield opened


def _look(collection: Collection, url: str) -> Visit:
    page = collection.page(url).id
    return Visit(f"{page:016d}".encode(), page, START, Outcome.OK)


def _feed(collection: Collection) -> ThreadPage:
    (feed,) = read_threads(collection.catalog)
    return feed


def test_the_chance_of_a_change_is_at_least_that_of_the_next_post(collection: Collection) -> None:
    forecast = collection.page(URL).forecast()
    assert forecast.next_post is not None
    assert forecast.next_post.median is not None
    median = forecast.next_post.median - START
    assert timedelta(hours=1.5) < median < timedelta(hours=2.5)
    by_days = {horizon.days: horizon.changed for horizon in forecast.horizons}
    assert by_days[0.0] == pytest.approx(0.0, abs=0.01)
    assert by_days[0.25] > 0.9
    posts = pooled_hazard().forecast(*known_posts(_feed(collection), START.timestamp()))
    for days, changed in by_days.items():
        assert changed >= posts.chance_within(1_440 * days) - 1e-9


def test_the_list_and_the_page_agree(collection: Collection) -> None:
    outlook = CrawlOutlook(collection)
    feed, plain = collection.page(URL), collection.page(PLAIN)
    changes = outlook.next_changes([feed, plain])
    next_post = outlook.forecast(feed).next_post
    assert next_post is not None
    for listed, shown in (
        (changes[feed.id].median, next_post.median),
        (changes[feed.id].high, next_post.high),
    ):
        assert listed is not None
        assert shown is not None
        assert abs(listed - shown) < timedelta(minutes=30)
    other = changes[plain.id].median
    assert other is None or other - START > timedelta(hours=12)


def test_the_plan_has_the_chance_of_the_next_post(collection: Collection) -> None:
    (collection.path / "freshet.toml").write_text(
        'contact = "me@example.org"\nobjective = "timeliness"\n'
    )
    posts = pooled_hazard().forecast(*known_posts(_feed(collection), START.timestamp()))
    later = START + timedelta(hours=4)
    with Collection.open(collection.path, clock=FixedClock(later)) as opened:
        explanation = opened.why(opened.page(URL)).explanation
    assert explanation is not None
    assert explanation.chance == pytest.approx(posts.chance_within(240.0), abs=1e-4)
    assert explanation.chance > 0.9
