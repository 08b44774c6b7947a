"""The time for which copies are fresh."""

import numpy as np
import pytest

from freshet.backtest.continuous.copies import TimedCopies
from freshet.backtest.continuous.ground_truth import ground_truth
from freshet.core.tables import PageTable, hash_names

FIRST, SECOND = np.array([0]), np.array([1])
BOTH = np.array([0, 1])


def copies_of(*change_times: list[float], importance: list[float] | None = None) -> TimedCopies:
    count = len(change_times)
    keys = hash_names([f"host{number}" for number in range(count)])
    weights = np.array(importance or [1.0] * count)
    table = PageTable(np.arange(1, count + 1), keys, keys, keys, weights, np.full(count, np.nan))
    return TimedCopies(ground_truth(table, [np.array(times, np.float64) for times in change_times]))


def test_a_copy_is_fresh_from_when_it_was_taken_until_its_page_changes() -> None:
    copies = copies_of([60.0])
    assert not copies.refresh(FIRST, 20.0)[0]
    assert copies.fresh_seconds(40.0) == pytest.approx(20.0)
    assert copies.fresh_share(40.0) == 1.0
    assert copies.fresh_seconds(100.0) == pytest.approx(40.0)
    assert copies.fresh_share(100.0) == 0.0


def test_refreshing_reports_stale_copies() -> None:
    copies = copies_of([60.0])
    copies.refresh(FIRST, 20.0)
    assert not copies.refresh(FIRST, 50.0)[0]
    assert copies.refresh(FIRST, 80.0)[0]
    assert copies.fresh_seconds(100.0) == pytest.approx(40.0 + 20.0)


def test_a_page_without_a_copy_is_not_fresh() -> None:
    copies = copies_of([], [])
    copies.refresh(SECOND, 0.0)
    assert copies.exists(BOTH).tolist() == [False, True]
    assert copies.fresh_share(1.0) == 0.5


def test_important_pages_weigh_more() -> None:
    copies = copies_of([], [], importance=[3.0, 1.0])
    copies.refresh(FIRST, 0.0)
    assert copies.fresh_share(8.0) == pytest.approx(0.75)
    assert copies.fresh_seconds(8.0) == pytest.approx(6.0)


def test_refreshing_many_copies_equals_refreshing_each() -> None:
    at_once, one_by_one = (copies_of([5.0, 9.0], [7.0]) for _ in range(2))
    for moment in (1.0, 6.0, 10.0):
        stale = at_once.refresh(BOTH, moment)
        assert stale.tolist() == [
            bool(one_by_one.refresh(place, moment)[0]) for place in (FIRST, SECOND)
        ]
    assert at_once.fresh_seconds(12.0) == pytest.approx(one_by_one.fresh_seconds(12.0))
