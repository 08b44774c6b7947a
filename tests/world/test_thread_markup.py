"""Markups of threads: the same words in different elements."""

import re

import pytest

from freshet.core.content.posts import Post
from freshet.world.thread_markup import THREAD_MARKUPS, WEB_MARKUPS, printed_age

POSTS = (
    Post(1_700_000_000.0, "Ann", "It rains on the meadow.", "post-1"),
    Post(1_700_003_700.0, "Bob", "Then take the ferry.", "post-2"),
)


def words(html: str) -> list[str]:
    return re.findall(r"\w+", re.sub(r"<[^>]*>", " ", html))


@pytest.mark.parametrize("markup", WEB_MARKUPS)
def test_web_markups_show_the_same_words(markup: str) -> None:
    shown = words(WEB_MARKUPS[markup](POSTS, 1_700_010_000.0))
    assert " ".join(shown) == (
        "Ann 14 November 2023 22 13 It rains on the meadow "
        "Bob 14 November 2023 23 15 Then take the ferry"
    )


@pytest.mark.parametrize("markup", THREAD_MARKUPS)
def test_every_markup_shows_all_authors_and_texts(markup: str) -> None:
    html = THREAD_MARKUPS[markup](POSTS, 1_700_010_000.0)
    assert all(post.author in html and post.text in html for post in POSTS)


@pytest.mark.parametrize(
    ("age", "text"), [(5.0, "just now"), (61.0, "1 minute ago"), (200_000.0, "2 days ago")]
)
def test_ages_are_printed_in_the_largest_unit(age: float, text: str) -> None:
    assert printed_age(age) == text
