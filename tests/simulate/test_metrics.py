"""The measures of a simulated crawl, on cycles worked out by hand."""

from math import isnan, log

import numpy as np
import pytest

from freshet.schedule.policies import make
from freshet.simulate.loop import Cycle, crawl
from freshet.simulate.metrics import Score, score
from tests.simulate.traces import drawn


def cycle(found: list[bool], stale_before: int, stale: list[bool], since: list[int]) -> Cycle:
    """Return what a cycle found, number 5."""
    return Cycle(
        number=5,
        chosen=np.arange(len(found)),
        found=np.array(found, np.bool_),
        stale_before=stale_before,
        stale=np.array(stale),
        since=np.array(since, np.int32),
    )


def scored(*cycles: Cycle, importance: list[float] | None = None) -> Score:
    """Return the score of cycles with two visits among four pages."""
    return score(cycles, np.array(importance or [1.0] * 4), 2)


STILL = [False] * 4


def test_a_change_in_second_place_is_worth_less() -> None:
    first = scored(cycle([True, False], 1, STILL, [0] * 4))
    second = scored(cycle([False, True], 1, STILL, [0] * 4))
    assert (first.changerate, second.changerate) == (0.5, 0.5)
    assert first.ndcg == 1.0
    assert second.ndcg == pytest.approx(1 / log(3))


def test_the_ideal_order_knows_pages_that_were_not_visited() -> None:
    found = scored(cycle([True, False], 3, [False, False, True, True], [0] * 4))
    assert found.ndcg == pytest.approx(1 / (1 + 1 / log(3)))


def test_a_cycle_without_a_stale_page_is_left_out_of_the_order_alone() -> None:
    still = cycle([False, False], 0, STILL, [0] * 4)
    found = scored(still, cycle([True, True], 2, STILL, [0] * 4))
    assert (found.changerate, found.ndcg, found.freshness, found.unranked) == (0.5, 1.0, 1.0, 1)


def test_fresh_copies_are_counted_after_the_visits() -> None:
    found = scored(
        cycle([True, True], 3, [False, False, False, True], [0, 0, 0, 2]),
        importance=[1.0, 1.0, 1.0, 2.0],
    )
    assert found.freshness == 0.75
    assert found.weighted_freshness == pytest.approx(0.6)
    assert found.stale_age == 3.0


def test_fewer_visits_than_the_budget_are_scored_as_they_are() -> None:
    found = scored(cycle([True], 2, [False, True, False, False], [5] * 4))
    assert found.changerate == 1.0
    assert found.ndcg == pytest.approx(1 / (1 + 1 / log(3)))


def test_a_crawl_that_never_had_a_stale_copy_has_no_order_and_no_age() -> None:
    found = scored(cycle([False, False], 0, STILL, [0] * 4))
    assert isnan(found.ndcg)
    assert isnan(found.stale_age)


def test_a_stale_copy_ages_from_the_first_change_it_misses() -> None:
    trace = drawn("..x.x.", "xxxxxx")
    ages = [
        int(cycle.number - cycle.since[0])
        for cycle in crawl(trace, make("cg"), 1)
        if cycle.stale[0]
    ]
    assert ages == [0, 1, 2, 3]
