"""New links of a collection in intervals of any length."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from freshet.collection.collection import Collection
from freshet.collection.link_table import export_new_links, link_table_columns
from freshet.core.errors import UsageError
from freshet.record.link_counts import count_new_links, interval_bounds
from tests.record.record_samples import START, URL, html, make_collection, observe, record

OTHER = "https://other.example/"
DAY = timedelta(days=1)
WEEKS = tuple(START + number * 7 * DAY for number in range(4))


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path / "c") as made:
        yield made


def page(*links: str) -> bytes:
    """Return a page with links, relative or absolute."""
    anchors = "".join(f'<a href="{link}">x</a>' for link in links)
    return html("words").replace(b"</body>", f"{anchors}</body>".encode())


def test_relative_links_are_internal_and_broken_ones_do_not_count(collection: Collection) -> None:
    record(
        collection,
        [
            observe(0, page("/a")),
            observe(8, page("/a", "b?c#d", "http://[", "mailto:x@example.org", "//far.example/")),
        ],
    )
    counts = count_new_links(collection.catalog, WEEKS).counts
    assert counts.internal[0].tolist()[1] == 1
    assert counts.external[0].tolist()[1] == 1
    assert np.isnan(counts.internal[0, [0, 2]]).all()


def test_a_link_known_from_another_page_is_new_on_this_page_only(collection: Collection) -> None:
    link = "https://far.example/story"
    record(
        collection,
        [
            observe(0, page("/a")),
            observe(0, page(link), url=OTHER),
            observe(8, page("/a", link, "https://far.example/next")),
        ],
    )
    result = count_new_links(collection.catalog, (START + 1 * DAY, START + 9 * DAY))
    row = result.urls.index(URL)
    assert result.counts.external[row].tolist() == [2]
    assert result.counts.never_seen_external[row].tolist() == [2]
    assert result.counts.first_in_collection_external[row].tolist() == [1]


def test_a_page_with_a_hundred_thousand_links_is_counted(collection: Collection) -> None:
    many = page(*(f"/{number}" for number in range(100_000)))
    record(collection, [observe(0, page("/0", "/1")), observe(8, many)])
    counts = count_new_links(collection.catalog, WEEKS[:3]).counts
    # The first 50,000 links of a page count.
    assert counts.total[0, 1] == 50_000
    assert counts.internal[0, 1] == 49_998


def test_intervals_may_have_any_length(collection: Collection) -> None:
    record(collection, [observe(day, page(f"/{day}")) for day in range(4)])
    daily = count_new_links(collection.catalog, interval_bounds(START, START + 3 * DAY, DAY))
    assert daily.counts.internal.tolist() == [[1, 1, 1]]
    at_once = count_new_links(collection.catalog, (START, START + 3 * DAY))
    assert at_once.counts.internal.tolist() == [[1]]


def test_intervals_that_make_no_sense_are_refused(collection: Collection) -> None:
    with pytest.raises(UsageError, match="at least two times"):
        count_new_links(collection.catalog, (START,))
    with pytest.raises(UsageError, match="longer than 0"):
        interval_bounds(START, START + DAY, timedelta(0))
    with pytest.raises(UsageError, match="too many"):
        interval_bounds(START, START + 1000 * DAY, timedelta(seconds=1))


def test_the_counts_are_written_as_a_table(collection: Collection, tmp_path: Path) -> None:
    record(collection, [observe(day, page("/a", f"/{day}")) for day in (0, 1, 3)])
    daily = count_new_links(collection.catalog, interval_bounds(START, START + 3 * DAY, DAY))
    columns = link_table_columns(daily)
    assert columns["begin"] == [START, START + DAY]
    assert columns["end"] == [START + DAY, START + 3 * DAY]
    assert columns["new_internal"] == columns["first_in_collection_internal"] == [1, 1]
    assert columns["links"] == [2, 2]
    assert columns["rotating"] == [False, False]
    assert export_new_links(collection, tmp_path / "links.csv", 1.5 * DAY) == 2
    assert (tmp_path / "links.csv").read_text().startswith("page,begin,end,new_internal,")


def test_a_page_is_expected_to_get_more_links_later(collection: Collection) -> None:
    record(collection, [observe(day, page(f"/{day}")) for day in range(5)])
    now = collection.clock.now()
    soon, later = (collection.page(URL).expected_links(now + days * DAY) for days in (0, 30))
    assert 0 < soon <= later
