"""Intervals, paired tests and cycle wins, against worked examples and laws."""

from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from freshet.backtest.significance import confidence_interval, count_cycle_wins, paired_difference
from freshet.core.types import FloatArray

SERIES = arrays(np.float64, st.integers(3, 40), elements=st.floats(-100, 100).map(round))


def test_the_interval_of_a_worked_example() -> None:
    """Jain 1991, chapter 13: eight values, whose mean may well be 0."""
    values = np.array([-0.04, -0.19, 0.14, -0.09, -0.14, 0.19, 0.04, 0.09])
    interval = confidence_interval(values, confidence=0.90)
    assert interval.mean == pytest.approx(0.0, abs=1e-12)
    assert interval.margin == pytest.approx(0.092, abs=0.001)


def test_a_worked_paired_test() -> None:
    """Jain 1991, chapter 13: six workloads on two systems, which are not different."""
    ours = np.array([5.4, 16.6, 0.6, 1.4, 0.6, 7.3])
    theirs = np.array([19.1, 3.5, 3.4, 2.5, 3.6, 1.7])
    result = paired_difference(ours, theirs, confidence=0.90)
    assert result.difference == pytest.approx(-0.32, abs=0.01)
    assert result.margin == pytest.approx(7.43, abs=0.02)
    assert result.p > 0.9


def test_a_single_value_has_a_mean_and_no_interval() -> None:
    interval = confidence_interval(np.array([0.25]))
    assert interval.mean == 0.25
    assert isnan(interval.margin)
    assert isnan(confidence_interval(np.array([])).mean)


def test_values_that_are_not_known_are_left_out() -> None:
    assert confidence_interval(np.array([1.0, nan, 3.0])) == confidence_interval(
        np.array([1.0, 3.0])
    )
    some = paired_difference(np.array([1.0, nan, 3.0, 4.0]), np.array([0.0, 1.0, nan, 2.0]))
    assert some == paired_difference(np.array([1.0, 4.0]), np.array([0.0, 2.0]))


def test_lists_are_accepted_as_arrays() -> None:
    ours, theirs = [[1.0, 2.0, 4.0], [1.5, 2.0, 5.0]], [[0.0, 2.0, 3.0], [0.5, 2.5, 3.0]]
    assert confidence_interval(ours[0]) == confidence_interval(np.array(ours[0]))
    assert paired_difference(ours[0], theirs[0]) == paired_difference(
        np.array(ours[0]), np.array(theirs[0])
    )
    assert count_cycle_wins(ours, theirs) == count_cycle_wins(np.array(ours), np.array(theirs))


def test_equal_series_are_no_different_and_a_constant_lead_is_certain() -> None:
    series = np.array([0.5, 0.25, 0.75])
    assert paired_difference(series, series).p == 1.0
    lead = paired_difference(series + 0.5, series)
    assert (lead.difference, lead.margin, lead.p) == (0.5, 0.0, 0.0)


@given(SERIES, st.integers(0, 2**32))
def test_a_paired_test_is_the_one_of_scipy(theirs: FloatArray, seed: int) -> None:
    ours = theirs + np.random.default_rng(seed).normal(0.5, 1.0, len(theirs))
    expected = stats.ttest_rel(ours, theirs)
    result = paired_difference(ours, theirs)
    assert result.p == pytest.approx(float(expected.pvalue), abs=1e-9)
    bounds = expected.confidence_interval(0.95)
    assert result.difference - result.margin == pytest.approx(bounds.low)
    assert result.difference + result.margin == pytest.approx(bounds.high)


@given(SERIES, SERIES)
def test_swapping_the_series_only_changes_the_sign(one: FloatArray, other: FloatArray) -> None:
    count = min(len(one), len(other))
    there, back = (
        paired_difference(one[:count], other[:count]),
        paired_difference(other[:count], one[:count]),
    )
    assert there.difference == -back.difference
    assert (there.margin, there.p) == pytest.approx((back.margin, back.p))
    assert 0 <= there.p <= 1


@given(SERIES, st.floats(0.5, 0.9))
def test_more_confidence_asks_for_a_wider_interval(values: FloatArray, confidence: float) -> None:
    narrow, wide = (
        confidence_interval(values, confidence=confidence),
        confidence_interval(values, confidence=0.95),
    )
    assert 0 <= narrow.margin <= wide.margin < inf
    assert narrow.mean == wide.mean


def test_the_interval_holds_the_true_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    intervals = [confidence_interval(rng.normal(3.0, 2.0, 5)) for _ in range(4_000)]
    covered_share = sum(
        abs(interval.mean - 3.0) <= interval.margin for interval in intervals
    ) / len(intervals)
    assert covered_share == pytest.approx(0.95, abs=0.012)


def test_a_cycle_is_won_only_if_the_folds_agree() -> None:
    theirs = np.full((5, 4), 0.5)
    ours = theirs + np.array([
        [0.10, -0.20, 0.3, 0.0],
        [0.11, -0.21, -0.3, 0.0],
        [0.09, -0.19, 0.3, 0.0],
        [0.10, -0.20, -0.3, 0.0],
        [0.10, -0.20, 0.1, 0.0],
    ])  # fmt: skip
    result = count_cycle_wins(ours, theirs)
    assert (result.won, result.lost, result.tied) == (1, 1, 2)
    assert (result.won_by, result.lost_by) == (pytest.approx(0.2), pytest.approx(-0.4))


def test_a_cycle_with_a_missing_value_is_not_counted() -> None:
    result = count_cycle_wins(np.array([[1.0, nan, 1.0]]), np.array([[0.5, 0.5, 1.0]]))
    assert (result.won, result.lost, result.tied) == (1, 0, 1)


def test_without_a_win_there_is_no_mean_win() -> None:
    result = count_cycle_wins(np.array([[0.5]]), np.array([[0.5]]))
    assert isnan(result.won_by)
    assert isnan(result.lost_by)


@given(SERIES, SERIES)
def test_a_win_is_a_loss_of_the_other(one: FloatArray, other: FloatArray) -> None:
    count = min(len(one), len(other)) // 3 * 3
    ours, theirs = one[:count].reshape(3, -1), other[:count].reshape(3, -1)
    there, back = count_cycle_wins(ours, theirs), count_cycle_wins(theirs, ours)
    assert (there.won, there.lost, there.tied) == (back.lost, back.won, back.tied)
    assert there.won + there.lost + there.tied == count // 3
