"""The command posts."""

from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from tests.cli.cli_runs import Run
from tests.record.record_samples import URL, html, observe, record
from tests.record.thread_samples import thread_page
from tests.reference import missing_keys


@pytest.fixture
def page(empty: Path) -> str:
    with Collection.open(empty) as collection:
        collection.add(URL)
        collection.catalog.set_page_settings(collection.page(URL).id, {"thread": "yes"})
    return URL


def observe_pages(folder: Path, *bodies: bytes) -> None:
    """Record a visit a day."""
    with Collection.open(folder) as collection:
        record(collection, [observe(day, body) for day, body in enumerate(bodies, 1)])


def test_posts_are_listed_with_the_visits_that_found_them(run: Run, empty: Path, page: str) -> None:
    next_page = "/news?page=2"
    observe_pages(
        empty, thread_page([0, 2, 5, 9]), thread_page([0, 2, 5, 9, 30], next_page=next_page)
    )
    result = run("posts", page)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].split() == ["time", "author", "text", "found", "v"]
    assert "user0" in lines[1]
    assert "the water came up to the third step of the mill again, …" in lines[1]
    assert [line.split()[-1] for line in lines[1:6]] == ["1", "1", "1", "1", "2"]
    assert "5 posts." in lines
    assert "The thread continues at https://example.org/news?page=2" in lines
    document = run("posts", page, "--json").json
    assert not missing_keys("posts", [*document, *document["posts"][0]])
    assert [post["version"] for post in document["posts"]] == [1, 1, 1, 1, 2]
    assert document["posts"][4]["time"] == "2024-01-02T12:00:00+00:00"


def test_only_the_latest_posts_are_listed_with_a_limit(run: Run, empty: Path, page: str) -> None:
    observe_pages(empty, thread_page([0, 2, 5, 9]))
    output = run("posts", page, "--limit", "1").out
    assert "4 posts; 3 older ones are not shown, see --limit." in output
    assert len(run("posts", page, "--limit", "0", "--json").json["posts"]) == 4


def test_a_page_without_posts_says_why(run: Run, empty: Path, page: str) -> None:
    assert f"{page} has no posts: posts have not been looked for" in run("posts", page).out
    observe_pages(empty, html("nothing but words"))
    output = run("posts", page).out
    assert f"{page} has no posts: no repeated blocks with times were found." in output
    with Collection.open(empty) as collection:
        assert collection.page(page).posts().total == 0
