"""Pages that nobody would write: no error, and time in proportion to their size."""

from datetime import UTC, datetime
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.types import Snapshot
from freshet.view.posts.page_posts import find_posts
from freshet.view.posts.time_search import find_time
from freshet.view.posts.written_time import TimeContext

VISITED = datetime(2024, 6, 1, tzinfo=UTC)
HTML = (("Content-Type", "text/html"),)
PIECES = st.sampled_from([
    "<div class=post>", "</div>", "<time datetime=2024-05-01T10:00>", "</time>", "<p>", "by ann ",
    "3 hours ago", "<blockquote>", "</blockquote>", "<pre>", "</pre>", "\n", "12.03.24", " 10:00 ",
    "<a href=/u/x>bob</a>", "<script type=application/ld+json>", '{"@type": "Comment"', "</script>",
    "<span itemprop=author itemscope itemtype=Comment>", "31 Feb 2024 25:61", "&#0;", "<aside>",
])  # fmt: skip
COMMENT = "<i>ann{0}</i> <time datetime='2024-05-01T10:00:00Z'></time> something to say {0}"
SIZE = 1500
PAGES = {
    "own class names": "".join(
        f"<div class='own{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}'>"
        f"{COMMENT.format(n)}</div>"
        for n in range(SIZE)
    ),
    "deep": "".join(f"<div>{COMMENT.format(n)}" for n in range(SIZE)),
    "flat": "".join(f"{COMMENT.format(n)}<br>" for n in range(SIZE)),
    "one text": "<p>" + "3 March 2024 10:00, " * 20 * SIZE,
    "many links": "".join(f"<a href='?page={n}'>{n}</a> 2024-05-01" for n in range(5 * SIZE)),
    "empty times": "<time datetime='2024-05-01T10:00:00Z'></time>" * 5 * SIZE,
}


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_markup_gives_posts_or_a_reason(html: str) -> None:
    found = find_posts(Snapshot("http://x.example/t/1", html.encode(), 200, HTML), VISITED)
    assert found.posts or found.reason
    assert all(0 < post.time <= VISITED.timestamp() for post in found.posts)
    assert len({post.identity for post in found.posts}) == len(found.posts)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="0123456789:/.- ,'TZ+ampagojnhourdMy", max_size=40))
def test_any_text_has_a_time_or_none(text: str) -> None:
    match = find_time(text)
    if match is not None:
        assert 0 <= match.start <= match.end <= len(text)
        match.written.moment(TimeContext(VISITED.timestamp()))


@pytest.mark.parametrize("name", PAGES)
def test_strange_pages_are_read_in_time(name: str) -> None:
    snapshot = Snapshot("http://x.example/t/1", PAGES[name].encode(), 200, HTML)
    started = process_time()
    find_posts(snapshot, VISITED)
    assert process_time() - started < 5.0
