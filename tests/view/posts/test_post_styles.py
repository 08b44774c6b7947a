"""Posts in further styles of forum, comment and mail software."""

from datetime import UTC, datetime

import pytest

from freshet.core.types import Snapshot
from freshet.view.posts.page_posts import find_posts
from tests.view.posts.post_styles import PAGE, STYLES

VISITED = datetime(2024, 6, 1, 12, tzinfo=UTC)
POSTS = (
    ("ann", "Which glue holds on wet oak?", datetime(2024, 3, 3, 16, 12, tzinfo=UTC)),
    ("bob", "Epoxy, but dry it for a week first.", datetime(2024, 3, 3, 18, 40, tzinfo=UTC)),
    ("ann", "A week is long, I need it on Saturday.", datetime(2024, 3, 14, 8, 3, tzinfo=UTC)),
    ("carla", "Then use screws and hide them well.", datetime(2024, 4, 5, 0, 26, tzinfo=UTC)),
)


@pytest.mark.parametrize("style", STYLES)
def test_posts_of_the_style_are_found(style: str) -> None:
    posts = "".join(
        STYLES[style].format(name=name, text=text, n=number, t=time)
        for number, (name, text, time) in enumerate(POSTS, 1)
    )
    body = PAGE.format(posts=posts).encode()
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    found = find_posts(Snapshot("http://x.example/threads/5", body, 200, headers), VISITED)
    assert [(post.author, post.time) for post in found.posts] == [
        (name, time.timestamp()) for name, _, time in POSTS
    ]
    for post, (_, text, _) in zip(found.posts, POSTS, strict=True):
        assert text in post.text
