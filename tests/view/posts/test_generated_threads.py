"""Posts of generated threads in all markups, against the posts that they were made of."""

from datetime import UTC, datetime, timedelta

import pytest

from freshet.core.clock import from_epoch
from freshet.core.content.posts import Post
from freshet.core.types import Snapshot
from freshet.view.posts.merge import merge_posts
from freshet.view.posts.page_posts import PagePosts, find_posts
from freshet.world.simulated_web import SimulatedWeb
from freshet.world.thread_markup import THREAD_MARKUPS

START = datetime(2024, 3, 1, tzinfo=UTC)
VISITED = (START + timedelta(days=30)).timestamp()
WEB = SimulatedWeb(1, START, 40)
THREADS = [page for page, spec in enumerate(WEB.pages) if spec.kind == "thread"]
HTML = (("Content-Type", "text/html; charset=utf-8"),)
# A relative time is as exact as its unit.
SECONDS = {"relative": 86_400.0}


def page_of(posts: tuple[Post, ...], markup: str) -> PagePosts:
    body = f"<html><body><h1>A thread</h1>{THREAD_MARKUPS[markup](posts, VISITED)}</body></html>"
    snapshot = Snapshot("http://forum.example/t/1", body.encode(), 200, HTML)
    return find_posts(snapshot, from_epoch(VISITED))


def right_share(truth: tuple[Post, ...], found: PagePosts, seconds: float = 60.0) -> float:
    """Return the share of posts found with the right text and time."""
    times = {post.text: post.time for post in found.posts}
    right = [abs(times.get(post.text, 0.0) - post.time) <= seconds for post in truth]
    return sum(right) / max(len(truth), len(found.posts))


@pytest.mark.parametrize("markup", THREAD_MARKUPS)
def test_posts_of_every_markup_are_found(markup: str) -> None:
    shares = [
        right_share(truth, page_of(truth, markup), SECONDS.get(markup, 60.0))
        for truth in (WEB.posts(page, VISITED) for page in THREADS)
    ]
    assert sum(shares) / len(shares) >= 0.95


def test_posts_of_the_simulated_webs_forum_are_found() -> None:
    shares = []
    for page in THREADS:
        response = WEB.render(page, VISITED, 1)
        snapshot = Snapshot("http://forum.example/t/1", response.body, 200, response.headers)
        found = find_posts(snapshot, from_epoch(VISITED))
        shares.append(right_share(WEB.posts(page, VISITED), found))
    assert sum(shares) / len(shares) >= 0.95


def test_other_pages_of_the_simulated_web_have_no_posts() -> None:
    for page, spec in enumerate(WEB.pages):
        if spec.kind != "thread":
            response = WEB.render(page, VISITED, 1)
            snapshot = Snapshot(
                f"http://x.example{spec.path}", response.body, 200, response.headers
            )
            assert not find_posts(snapshot, from_epoch(VISITED)).posts


@pytest.mark.parametrize("markup", ["time", "table", "nested"])
def test_pages_of_one_thread_are_merged(markup: str) -> None:
    truth = WEB.posts(THREADS[0], VISITED)
    first, second = page_of(truth[:15], markup), page_of(truth[12:], markup)
    merged = merge_posts(first.posts, second.posts, VISITED)
    assert [post.text for post in merged] == [post.text for post in truth]


def test_many_posts_are_all_found() -> None:
    posts = tuple(
        Post(VISITED - 60.0 * (1500 - n), f"user{n % 40}", f"This is remark number {n}.", f"p{n}")
        for n in range(1500)
    )
    found = page_of(posts, "time")
    assert [post.text for post in found.posts] == [post.text for post in posts]
