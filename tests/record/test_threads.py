"""The posts that looks at a thread have found."""

from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from tests.record.record_samples import START, URL, html, make_collection, observe, record
from tests.record.thread_samples import FIRST_POST, thread_page

HOUR = 3600.0


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with make_collection(tmp_path / "c") as opened:
        record(opened, [observe(0, html("not found yet"), status=404)])
        opened.catalog.set_page_settings(opened.page(URL).id, {"thread": "yes"})
        yield opened


def post_hours(collection: Collection) -> list[tuple[float, float]]:
    """Return the posts of the page: hours after the first one, and the day that found each."""
    posts = collection.catalog.posts_of_page(collection.page(URL).id)
    return [
        ((post.time - FIRST_POST.timestamp()) / HOUR, (post.found - START.timestamp()) / 24 / HOUR)
        for post in posts
    ]


def test_each_post_is_kept_with_the_look_that_found_it(collection: Collection) -> None:
    record(
        collection,
        [
            observe(1, thread_page([0, 2, 5, 9])),
            observe(2, thread_page([0, 2, 5, 9, 30], next_page="/news?page=2")),
        ],
    )
    assert post_hours(collection) == [(0, 1), (2, 1), (5, 1), (9, 1), (30, 2)]
    note = collection.catalog.thread_note(collection.page(URL).id)
    assert note is not None
    assert note.next_page == "https://example.org/news?page=2"


def test_deleted_posts_stay_and_late_looks_double_none(collection: Collection) -> None:
    record(collection, [observe(2, thread_page([0, 2, 5, 9, 30]))])
    record(collection, [observe(3, thread_page([0, 5, 9, 30, 50]))])
    record(collection, [observe(1, thread_page([0, 2, 5, 9]))])
    assert [hours for hours, _ in post_hours(collection)] == [0, 2, 5, 9, 30, 50]


def test_a_page_without_posts_says_so(collection: Collection) -> None:
    record(collection, [observe(1, html("nothing but words"))])
    assert post_hours(collection) == []
    note = collection.catalog.thread_note(collection.page(URL).id)
    assert note is not None
    assert "no repeated blocks" in note.reason


def test_posts_are_looked_for_only_where_settings_say_so(tmp_path: Path) -> None:
    with make_collection(tmp_path / "other") as opened:
        record(opened, [observe(1, thread_page([0, 2, 5, 9]))])
        assert post_hours(opened) == []
        assert opened.catalog.thread_note(opened.page(URL).id) is None
