"""New links are added as pages by rules, within limits, and once."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.types import Outcome, Snapshot
from freshet.crawl.follow import FollowRule, FollowStatus, follow_status
from freshet.crawl.session import CrawlSession
from tests.crawl.crawl_samples import NOON, crawling, draw

LIST = "https://news.example/list"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HTML, FEED = "text/html", "application/rss+xml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        collection.add_many([LIST], tags=["lists"])
    return tmp_path / "c"


def configure(folder: Path, **settings: object) -> None:
    """Give the tag of the list these settings."""
    with Collection.open(folder) as collection:
        collection.change_settings("lists", [(name, str(v)) for name, v in settings.items()])


def html(links: Iterable[str]) -> bytes:
    anchors = "".join(f'<a href="{link}">a link</a> ' for link in links)
    return f"<html><body><p>A list of links</p>{anchors}</body></html>".encode()


def look(
    session: CrawlSession, clock: FixedClock, body: bytes, url: str = LIST, kind: str = HTML
) -> None:
    """Record a look at a page an hour after the one before."""
    clock.at += HOUR
    snapshot = Snapshot(url, body, 200, (("content-type", kind),))
    session.record_observations([Observation(url, "", clock.now(), uuid4().bytes, snapshot)])


def pages(folder: Path, tag: str = "followed") -> list[str]:
    with Collection.open(folder) as collection:
        return [page.url for page in collection.pages(tag=tag)]


def looks(folder: Path, *bodies: bytes, kind: str = HTML) -> None:
    """Crawl a list that shows bodies one after the other."""
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        for body in bodies:
            look(session, clock, body, kind=kind)


def test_nothing_is_followed_without_a_rule(folder: Path) -> None:
    looks(folder, html(["/old"]), html(["/old", "/new"]))
    assert pages(folder) == []


def test_a_new_link_to_the_same_site_becomes_a_page_that_is_drawn(folder: Path) -> None:
    configure(folder, follow="site")
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        look(session, clock, html(["/old"]))
        look(session, clock, html(["/old", "/new", "https://far.example/x", "http://["]))
        assert "https://news.example/new" in {job.url for job in draw(session, clock)}
    assert pages(folder) == ["https://news.example/new"]
    with Collection.open(folder) as collection:
        overview = dict(collection.show(collection.page("https://news.example/new")).lines())
        assert overview["found on"] == LIST
        assert overview["tags"] == "followed"


def test_patterns_and_scopes_select_links(folder: Path) -> None:
    configure(folder, follow="all", follow_pattern="https://*/story/* */item", follow_tag="found")
    new = ["/story/1", "https://far.example/story/2", "/item", "/about"]
    looks(folder, html(["/old"]), html(["/old", *new]))
    assert pages(folder, "found") == [
        "https://far.example/story/2", "https://news.example/item", "https://news.example/story/1",
    ]  # fmt: skip


def test_only_items_of_feeds_are_followed_if_feeds_are(folder: Path) -> None:
    configure(folder, follow="feed")
    looks(folder, html(["/old"]), html(["/old", "/new"]))
    assert pages(folder) == []
    items = [
        "".join(f"<item><title>{n}</title><link>https://far.example/{n}</link></item>" for n in ns)
        for ns in ((1,), (1, 2))
    ]
    feeds = [f'<rss version="2.0"><channel>{item}</channel></rss>'.encode() for item in items]
    looks(folder, *feeds, kind=FEED)
    assert "https://far.example/2" in pages(folder)


def test_the_limits_of_a_day_and_of_all_days_hold(folder: Path) -> None:
    configure(folder, follow="site", follow_per_day=3, follow_total=5)
    clock = FixedClock(NOON)
    steady = [f"/steady-{number}" for number in range(90)]
    with crawling(folder, clock, "1000/day") as session:
        look(session, clock, html(steady))
        for day, expected in enumerate((3, 5, 5)):
            for number in range(2):
                look(session, clock, html([*steady, *(f"/{day}-{number}-{n}" for n in range(4))]))
            assert len(pages(folder)) == expected
            clock.at += DAY


def test_depth_bounds_how_far_links_are_followed(folder: Path) -> None:
    configure(folder, follow="site", follow_tag="lists", follow_depth=2)
    clock = FixedClock(NOON)
    deeper = ["https://news.example/1", "https://news.example/2"]
    with crawling(folder, clock, "100/day") as session:
        for url, link in zip((LIST, *deeper), ("/1", "/2", "/3"), strict=True):
            look(session, clock, html(["/a"]), url)
            look(session, clock, html(["/a", link]), url)
    assert pages(folder, "lists") == [LIST, *deeper]


def test_a_page_that_was_removed_stays_removed(folder: Path) -> None:
    configure(folder, follow="site")
    with Collection.open(folder) as collection:
        collection.add_many(["https://news.example/new"])
        collection.remove([collection.page("https://news.example/new")])
    looks(folder, html(["/old"]), html(["/old", "/new"]))
    assert pages(folder) == []


def test_a_link_farm_cannot_flood_the_collection(folder: Path) -> None:
    configure(folder, follow="site", follow_per_day=1_000)
    bodies = [html(f"/{visit}-{number}" for number in range(20)) for visit in range(8)]
    looks(folder, *bodies)
    assert len(pages(folder)) == 2 * 20


def test_links_are_followed_after_a_kill_and_not_twice(folder: Path) -> None:
    configure(folder, follow="site")
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        look(session, clock, html(["/old"]))
        session._follower = None  # as if the crawl was killed before it followed the links
        look(session, clock, html(["/old", "/new"]))
    assert pages(folder) == []
    with crawling(folder, clock, "100/day") as session:
        assert pages(folder) == ["https://news.example/new"]
        assert "https://news.example/new" in {job.url for job in draw(session, clock)}
        look(session, clock, html(["/old"]))
        look(session, clock, html(["/old", "/new"]))
    assert pages(folder) == ["https://news.example/new"]


def test_links_from_before_the_rule_are_not_followed(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        look(session, clock, html(["/old"]))
        look(session, clock, html(["/old", "/before"]))
    configure(folder, follow="site")
    with crawling(folder, clock, "100/day") as session:
        look(session, clock, html(["/old", "/before", "/after"]))
    assert pages(folder) == ["https://news.example/after"]


def test_a_long_url_is_not_followed(folder: Path) -> None:
    with Collection.open(folder) as collection:
        page = collection.page(LIST)
        rule = FollowRule.of_settings(replace(collection.settings_for(page), follow="all"))
        assert rule.accepts("https://news.example/x", page, is_feed=False)
        assert not rule.accepts(f"https://news.example/{'x' * 3_000}", page, is_feed=False)


def status(folder: Path, now: datetime) -> list[FollowStatus]:
    with Collection.open(folder) as collection:
        return follow_status(collection.catalog, now)


STEADY = [f"/steady-{number}" for number in range(9)]


def test_status_counts_followed_links_and_those_that_wait(folder: Path) -> None:
    configure(folder, follow="site", follow_per_day=2)
    looks(folder, html(STEADY), html([*STEADY, "/1", "/2", "/3"]), html([*STEADY, "/4"]))
    assert status(folder, NOON) == [FollowStatus("followed", 2, 2, 0, 2)]
    assert status(folder, NOON + DAY) == [FollowStatus("followed", 2, 0, 0, 2)]
    assert status(folder, NOON + 9 * DAY) == [FollowStatus("followed", 2, 0, 0, 0)]


def test_a_waiting_link_that_two_pages_have_counts_once(folder: Path) -> None:
    other, clock = "https://news.example/other", FixedClock(NOON)
    with Collection.open(folder) as collection:
        collection.add_many([other], tags=["lists"])
    configure(folder, follow="site", follow_per_day=1)
    with crawling(folder, clock, "100/day") as session:
        for links in (STEADY, [*STEADY, "/1", "/2", "/3"]):
            for url in (LIST, other):
                look(session, clock, html(links), url)
    assert status(folder, NOON) == [FollowStatus("followed", 1, 1, 0, 2)]


def test_waiting_links_are_followed_the_next_day_the_latest_first(folder: Path) -> None:
    configure(folder, follow="site", follow_per_day=2)
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        look(session, clock, html(STEADY))
        look(session, clock, html([*STEADY, "/1", "/2", "/3", "/4"]))
        look(session, clock, html([*STEADY, "/5"]))
        assert pages(folder) == ["https://news.example/1", "https://news.example/2"]
        clock.at += DAY
        look(session, clock, html([*STEADY, "/5"]))
        assert pages(folder)[2:] == ["https://news.example/5", "https://news.example/3"]
    clock.at += DAY
    with crawling(folder, clock, "100/day"):
        assert "https://news.example/4" in pages(folder)
    assert status(folder, clock.now()) == [FollowStatus("followed", 5, 1, 0, 0)]


def test_links_wait_only_as_long_as_their_rule_accepts_them(folder: Path) -> None:
    configure(folder, follow="site", follow_per_day=1)
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        look(session, clock, html(STEADY))
        look(session, clock, html([*STEADY, "/a/1", "/a/2", "/b/1", "/b/2"]))
    configure(folder, follow_pattern="*/b/*")
    with Collection.open(folder) as collection:
        collection.add_many(["https://news.example/b/1"])
    clock.at += DAY
    with crawling(folder, clock, "100/day"):
        assert pages(folder) == ["https://news.example/a/1", "https://news.example/b/2"]
    assert status(folder, clock.now()) == [FollowStatus("followed", 2, 1, 0, 0)]


def fail(session: CrawlSession, clock: FixedClock, url: str, outcome: Outcome) -> None:
    """Record a visit that fetched nothing."""
    clock.at += HOUR
    session.record_observations([Observation(url, "", clock.now(), uuid4().bytes, outcome=outcome)])


@pytest.mark.parametrize("outcome", [Outcome.ROBOTS, Outcome.REFUSED, Outcome.GONE])
def test_a_page_that_cannot_be_fetched_gives_its_place_to_a_waiting_link(
    folder: Path, outcome: Outcome
) -> None:
    configure(folder, follow="site", follow_per_day=1, follow_total=1)
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        look(session, clock, html(STEADY))
        look(session, clock, html([*STEADY, "/1", "/2"]))
        assert pages(folder) == ["https://news.example/1"]
        fail(session, clock, "https://news.example/1", Outcome.TIMEOUT)
        assert pages(folder) == ["https://news.example/1"]
        fail(session, clock, "https://news.example/1", outcome)
        assert pages(folder) == ["https://news.example/1", "https://news.example/2"]
    assert status(folder, clock.now()) == [FollowStatus("followed", 2, 2, 1, 0)]


def test_a_plan_leaves_out_followed_links_that_were_refused(folder: Path) -> None:
    configure(folder, follow="site")
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        look(session, clock, html(STEADY))
        look(session, clock, html([*STEADY, "/1", "/2"]))
        fail(session, clock, "https://news.example/1", Outcome.REFUSED)
    with Collection.open(folder) as collection:
        planned = {visit.page.url for visit in collection.plan().choices}
    assert planned == {LIST, "https://news.example/2"}


def test_a_found_page_that_never_was_there_is_paused_at_its_second_visit(folder: Path) -> None:
    configure(folder, follow="site")
    clock, page = FixedClock(NOON), "https://news.example/1"
    with crawling(folder, clock, "100/day") as session:
        look(session, clock, html(STEADY))
        look(session, clock, html([*STEADY, "/1", "/2"]))
        look(session, clock, html([]), "https://news.example/2")
        states = []
        for _ in range(2):
            for url in (page, "https://news.example/2"):
                fail(session, clock, url, Outcome.GONE)
            with Collection.open(folder) as collection:
                states.append([item.paused for item in collection.pages(tag="followed")])
                collection.resume([collection.page(page)])
        assert states == [[False, False], [True, False]]
        look(session, clock, html(STEADY))
    with Collection.open(folder) as collection:
        assert not collection.page(page).paused


def test_pages_that_cannot_be_fetched_are_tried_so_many_times_a_limit_at_most(
    folder: Path,
) -> None:
    configure(folder, follow="site", follow_per_day=1)
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        clock.at += 12 * HOUR
        look(session, clock, html(STEADY))
        look(session, clock, html([*STEADY, *(f"/{number}" for number in range(10, 22))]))
        for number in range(10, 22):
            fail(session, clock, f"https://news.example/{number}", Outcome.GONE)
        assert len(pages(folder)) == 10


def test_waiting_links_of_a_page_that_becomes_a_link_farm_are_given_up(folder: Path) -> None:
    configure(folder, follow="site", follow_per_day=5)
    bodies = [html(f"/{visit}-{number}" for number in range(20)) for visit in range(5)]
    looks(folder, *bodies)
    assert status(folder, NOON) == [FollowStatus("followed", 5, 5, 0, 0)]
