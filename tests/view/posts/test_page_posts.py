"""Posts of hand-made pages in the styles of well-known software, and pages without posts."""

from datetime import UTC, datetime

import pytest

from freshet.core.clock import to_epoch
from freshet.core.content.posts import Post
from freshet.core.types import Snapshot
from freshet.view.posts.page_posts import NO_TIMES, PagePosts, PostSource, find_posts
from tests.view.posts.thread_pages import THREADS, ThreadPage

VISITED = datetime(2024, 6, 1, 12, tzinfo=UTC)
NOW = to_epoch(VISITED)


def posts_of(html: str, url: str = "http://x.example/page", kind: str = "text/html") -> PagePosts:
    return find_posts(Snapshot(url, html.encode(), 200, (("Content-Type", kind),)), VISITED)


def comments(*rows: tuple[str, str, str]) -> str:
    blocks = (
        f'<div class="comment"><b class="author">{author}</b> <time datetime="{time}"></time>'
        f"<p>{text}</p></div>"
        for time, author, text in rows
    )
    return f"<html><body><h1>Talk</h1>{''.join(blocks)}</body></html>"


def expected_times(thread: ThreadPage) -> list[float]:
    return [datetime.fromisoformat(f"{time}+00:00").timestamp() for time, _, _ in thread.posts]


@pytest.mark.parametrize("thread", THREADS, ids=lambda thread: thread.name)
def test_all_posts_of_a_thread_page_are_found(thread: ThreadPage) -> None:
    found = find_posts(thread.snapshot, thread.moment)
    assert [post.time for post in found.posts] == expected_times(thread)
    assert [post.author for post in found.posts] == [author for _, author, _ in thread.posts]
    for post, (_, _, text) in zip(found.posts, thread.posts, strict=True):
        assert text in post.text
    assert found.confidence > 0.9
    assert len({post.identity for post in found.posts}) == len(thread.posts)


def test_a_page_without_times_is_an_ordinary_page() -> None:
    found = posts_of("<html><body><h1>About us</h1><p>We bake bread.</p></body></html>")
    assert not found.is_thread
    assert found.source == PostSource.NONE
    assert found.reason == NO_TIMES


NEWS = "".join(
    f'<article class="teaser"><h3><a href="/story/{day}">Headline number {day} of the day</a></h3>'
    f'<span class="author">Desk {day % 3}</span><time datetime="2024-05-{day:02}T08:00:00Z">{day}'
    f"</time><p>A teaser that says a little more about story {day}.</p></article>"
    for day in range(28, 8, -1)
)
SHOP = "".join(
    f'<li class="product"><a href="/p/{day}">Lamp {day}</a><span>Available from {day} May 2024'
    f"</span><b>12.50</b></li>"
    for day in range(1, 20)
)
SIDEBAR = "<p>A long text about gardens.</p>" * 30 + "".join(
    f'<li><a href="/old/{day}">An older article</a> <time datetime="2024-04-{day:02}">x</time></li>'
    for day in range(1, 9)
)
BLOG = "".join(
    f'<article class="post"><h2><a href="/2024/{day}">Entry {day}</a></h2><p class="meta">by '
    f'<a class="author" href="/author/ann">Ann</a> on May {day}, 2024</p>'
    f"<p>{'The whole text of the entry. ' * 8}</p></article>"
    for day in range(20, 10, -1)
)
TOPICS = "".join(
    f'<tr class="topic"><td><a href="/t/{day}">How do I do thing {day}?</a></td>'
    f'<td><a class="username" href="/u/{day % 4}">user{day % 4}</a></td>'
    f'<td><time datetime="2024-05-{day:02}T10:00:00Z">{day}</time></td></tr>'
    for day in range(25, 5, -1)
)


@pytest.mark.parametrize(
    "body",
    [NEWS, f"<ul>{SHOP}</ul>", f"<ul>{SIDEBAR}</ul>", BLOG, f"<table>{TOPICS}</table>"],
    ids=["news", "shop", "sidebar", "blog", "list of threads"],
)
def test_other_lists_with_times_are_not_threads(body: str) -> None:
    found = posts_of(f"<html><body><main>{body}</main></body></html>", "http://x.example/")
    assert not found.posts
    assert "not taken as posts" in found.reason


def test_posts_are_ordered_by_time_not_by_votes() -> None:
    found = posts_of(
        comments(
            ("2024-05-03T10:00:00Z", "cara", "The best answer of them all, by far."),
            ("2024-05-01T10:00:00Z", "ann", "The question that everybody has."),
            ("2024-05-02T10:00:00Z", "bob", "An answer that is merely good."),
        )
    )
    assert [post.author for post in found.posts] == ["ann", "bob", "cara"]


def test_equal_times_and_equal_posts_stay_apart() -> None:
    row = ("2024-05-01T10:00:00Z", "ann", "I pressed the button twice, sorry.")
    found = posts_of(comments(row, row, ("2024-05-01T10:00:00Z", "bob", "No harm done, really.")))
    assert [post.author for post in found.posts] == ["ann", "ann", "bob"]
    assert len({post.identity for post in found.posts}) == 3


def test_a_time_a_little_ahead_is_the_visit_and_a_later_one_is_dropped() -> None:
    found = posts_of(
        comments(
            ("2024-05-01T10:00:00Z", "ann", "A post of an ordinary time."),
            ("2024-06-01T15:00:00Z", "bob", "A post by a clock that is ahead."),
            ("2031-01-01T00:00:00Z", "cara", "A post of another decade."),
            ("1970-01-01T00:00:00Z", "dan", "A post without a time."),
        )
    )
    assert [(post.author, post.time) for post in found.posts][1:] == [("bob", NOW)]


def test_one_comment_alone_is_not_enough() -> None:
    found = posts_of(comments(("2024-05-01T10:00:00Z", "ann", "The only remark on this page.")))
    assert not found.posts or found.confidence < 0.9


def test_metadata_alone_makes_a_thread_of_one_post() -> None:
    script = (
        '{"@context": "https://schema.org", "@type": "DiscussionForumPosting", "headline": "Moss",'
        '"author": {"@type": "Person", "name": "Ann"}, "datePublished": "2024-05-01T10:00:00Z",'
        '"text": "Which moss?", "url": "http://x.example/t/1"}'
    )
    found = posts_of(f'<html><script type="application/ld+json">{script}</script><p>Moss</html>')
    moment = datetime(2024, 5, 1, 10, tzinfo=UTC).timestamp()
    assert found.posts == (Post(moment, "Ann", "Which moss?", "http://x.example/t/1"),)
    assert found.source == PostSource.JSON_LD


def test_relative_times_are_counted_from_the_visit() -> None:
    rows = [("3 hours ago", "ann"), ("2d", "bob"), ("just now", "cara")]
    html = "".join(
        f'<li class="reply"><a href="/u/{name}">{name}</a> <span class="ago">{age}</span>'
        f"<div>Something that {name} has to say about it.</div></li>"
        for age, name in rows
    )
    found = posts_of(f"<html><body><ul>{html}</ul></body></html>", "http://x.example/thread/1")
    ages = [(post.author, round((NOW - post.time) / 3600)) for post in found.posts]
    assert ages == [("bob", 48), ("ann", 3), ("cara", 0)]


def test_a_relative_time_does_not_change_the_identity() -> None:
    html = "".join(
        f'<li class="reply"><a href="/u/{name}">{name}</a> <span>{age} hours ago</span>'
        f"<div>Something that {name} has to say about it.</div></li>"
        for age, name in ((5, "ann"), (3, "bob"))
    )
    earlier = posts_of(f"<ul>{html}</ul>", "http://x.example/thread/1")
    later = posts_of(f"<ul>{html.replace('5 hours', '9 hours')}</ul>", "http://x.example/thread/1")
    assert [post.identity for post in later.posts] == [post.identity for post in earlier.posts]


def test_the_entries_of_feeds_are_posts() -> None:
    feed = (
        '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Talk</title>'
        "<entry><id>tag:x,1</id><title>Re: moss</title><author><name>Ann</name></author>"
        "<updated>2024-05-01T10:00:00Z</updated><content>It is fire moss.</content></entry>"
        "<entry><id>tag:x,2</id><title>No time</title></entry></feed>"
    )
    found = posts_of(feed, kind="application/atom+xml")
    moment = datetime(2024, 5, 1, 10, tzinfo=UTC).timestamp()
    assert found.posts == (Post(moment, "Ann", "It is fire moss.", "tag:x,1"),)
    assert found.source == PostSource.FEED


def test_links_to_the_other_pages_of_a_thread_are_found() -> None:
    phpbb, discourse = (find_posts(THREADS[i].snapshot, THREADS[i].moment).links for i in (0, 2))
    assert phpbb.next_page == "http://garden.example/viewtopic.php?f=2&t=88&start=5"
    assert phpbb.last_page == phpbb.pages[-1] == phpbb.next_page.replace("=5", "=10")
    assert discourse.next_page == "https://bread.example/t/sharing-a-sourdough-starter/812?page=2"


def test_text_without_markup_has_no_posts() -> None:
    assert "text" in posts_of("Just a line", kind="text/plain").reason
