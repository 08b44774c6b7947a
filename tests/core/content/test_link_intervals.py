"""New links in intervals, against plain sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.content.link_intervals import LinkEvents, LinkIntervalCounter, LinkIntervals

BOUNDS = np.array([10.0, 20.0, 30.0, 40.0])
Looks = list[tuple[int, frozenset[int]]]


def count(histories: list[Looks]) -> LinkIntervals:
    """Count the new links of pages, given their looks: times and sets of links; odd: internal."""
    counter = LinkIntervalCounter(len(histories), BOUNDS)
    for page, looks in enumerate(histories):
        rows, before = [], frozenset[int]()
        for time, links in looks:
            rows += [(page, time, link, True) for link in sorted(links - before)]
            rows += [(page, time, link, False) for link in sorted(before - links)]
            before = links
        pages, times, targets, is_added = zip(*rows, strict=True) if rows else ((), (), (), ())
        events = LinkEvents(
            np.array(pages, np.int32),
            np.array(times, np.float64),
            np.array(targets, np.uint64),
            np.array(is_added, np.bool_),
            np.array(targets, np.int64) % 2 == 1,
        )
        look_times = np.array([time for time, _ in looks], np.float64)
        counter.add_pages(events, np.full(len(looks), page, np.int32), look_times)
    return counter.counts()


def plain(histories: list[Looks], page: int, interval: int) -> list[float]:
    """Count the new links of one cell with sets: new, never seen, first in the collection."""
    looks = histories[page]
    known = [
        any((BOUNDS[k - 1] if k else 0) < time <= BOUNDS[k] for time, _ in looks) for k in range(4)
    ]
    earlier = [k for k in range(interval + 1) if known[k]]
    if not known[interval + 1] or not earlier:
        return [np.nan] * 6
    since = BOUNDS[earlier[-1]]

    def shown(by: float) -> frozenset[int]:
        return [links for time, links in looks if time <= by][-1]

    new = shown(BOUNDS[interval + 1]) - shown(since)
    seen_here = frozenset().union(*(links for time, links in looks if time <= since))
    seen = seen_here.union(
        *(links for other in histories for time, links in other if time <= since)
    )
    return [
        sum(link % 2 == odd for link in links)
        for links in (new, new - seen_here, new - seen)
        for odd in (1, 0)
    ]


link_sets = st.frozensets(st.integers(1, 6), max_size=5)
histories_of_pages = st.lists(
    st.lists(st.tuples(st.integers(1, 42), link_sets), max_size=7, unique_by=lambda look: look[0]),
    min_size=1,
    max_size=3,
)


@settings(max_examples=60, deadline=None)
@given(histories_of_pages)
def test_counts_are_those_of_plain_sets(histories: list[Looks]) -> None:
    histories = [sorted(looks) for looks in histories]
    counts = count(histories)
    columns = (
        counts.internal,
        counts.external,
        counts.never_seen_internal,
        counts.never_seen_external,
        counts.first_in_collection_internal,
        counts.first_in_collection_external,
    )
    for page in range(len(histories)):
        for interval in range(3):
            found = [float(column[page, interval]) for column in columns]
            assert found == pytest.approx(plain(histories, page, interval), nan_ok=True)


def test_an_interval_without_a_look_has_no_count_and_the_next_covers_both() -> None:
    counts = count([[(5, frozenset({1})), (25, frozenset({1, 3, 5})), (35, frozenset({1, 3, 7}))]])
    assert np.isnan(counts.internal[0, 0])
    assert counts.internal[0, 1:].tolist() == [2, 1]
    assert counts.spanned[0].tolist() == [0, 2, 1]
    single = counts.new_links()
    assert np.isnan(single.internal[0, :2]).all()
    assert single.internal[0, 2] == 1
    assert counts.total[0, 1:].tolist() == [3, 3]


def test_a_page_that_shows_a_choice_from_a_pool_counts_its_never_seen_links_only() -> None:
    pools = (frozenset({1, 3, 5}), frozenset({7, 9, 11}))
    rotating = [(5 + 10 * number, pools[number % 2]) for number in range(4)]
    steady = [(5 + 10 * number, frozenset({2 * number + 1})) for number in range(4)]
    counts = count([rotating, steady])
    assert counts.are_rotating.tolist() == [True, False]
    assert counts.news()[0].tolist() == [[3, 0, 0], [1, 1, 1]]
    assert counts.replace_all.tolist() == [True, True]


def test_no_pages_give_empty_counts() -> None:
    assert LinkIntervalCounter(0, BOUNDS).counts().internal.shape == (0, 3)
