"""The expected time of a change agrees with the chance of a change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from freshet.core.tables import DAY_SECONDS
from freshet.schedule.cadence import CELL_COUNT, CONTINUOUS_CADENCE, POISSON_CELLS
from freshet.schedule.explanation import (
    event_start,
    expected_change_days,
    latest_begin,
    rate_quantile,
)
from freshet.schedule.page_states import LookBatch
from tests.schedule.plain_forecast import plain_survival

RATES = CONTINUOUS_CADENCE.rates
THRESHOLD = 1 - 1 / np.e
WEIGHTS = npst.arrays(np.float64, CELL_COUNT, elements=st.floats(1e-6, 1.0))


def chance_after(weights: np.ndarray, days: float) -> float:
    survival = [plain_survival(cell, rate * days) for cell, rate in enumerate(RATES)]
    return 1 - survival @ (weights / weights.sum())


@given(WEIGHTS, st.floats(1e-3, 1e3))
def test_the_chance_of_a_change_exceeds_63_percent_after_the_expected_days(
    weights: np.ndarray, days: float
) -> None:
    expected_days, chance = expected_change_days(weights, RATES), chance_after(weights, days)
    if abs(chance - THRESHOLD) > 1e-9:
        assert (expected_days < days) == (chance > THRESHOLD)


def test_the_expected_days_agree_with_the_chance_for_two_rates_far_apart() -> None:
    weights = np.zeros(CELL_COUNT)
    weights[[2, POISSON_CELLS - 2]] = 0.36, 0.64
    assert chance_after(weights, 1.0) > 0.63
    assert expected_change_days(weights, RATES) < 1
    weights[[2, POISSON_CELLS - 2]] = 0.64, 0.36
    assert expected_change_days(weights, RATES) > 30


@pytest.mark.parametrize("cell", [0, POISSON_CELLS - 1, POISSON_CELLS, CELL_COUNT - 1])
def test_the_expected_days_of_a_single_cell_are_those_of_its_process(cell: int) -> None:
    mean_gaps = expected_change_days(np.eye(CELL_COUNT)[cell], RATES) * RATES[cell]
    assert 1 - plain_survival(cell, mean_gaps) == pytest.approx(THRESHOLD)
    assert mean_gaps == pytest.approx(1.0 if cell < POISSON_CELLS else 0.65, abs=0.02)


@given(WEIGHTS)
def test_quantiles_of_rates_grow_with_their_share(weights: np.ndarray) -> None:
    shares = weights / weights.sum()
    quantiles = [rate_quantile(shares, RATES, share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    assert sorted(quantiles) == quantiles


def test_a_quantile_lies_between_the_rates_of_both_kinds() -> None:
    weights = np.zeros(CELL_COUNT)
    weights[[POISSON_CELLS - 1, POISSON_CELLS]] = 0.5
    low, high = RATES[[POISSON_CELLS, POISSON_CELLS - 1]]
    assert low < high
    assert rate_quantile(weights, RATES, 0.25) == pytest.approx(low)
    assert rate_quantile(weights, RATES, 0.75) == pytest.approx(high)


def looks_at(days: list[float], gap_days: list[float], changed: list[bool]) -> LookBatch:
    count = len(days)
    measured = np.ones(count, np.bool_)
    times = np.array(days) * DAY_SECONDS
    rows = np.arange(count, dtype=np.int32)
    return LookBatch(rows, times, np.array(gap_days), measured, np.array(changed))


def test_an_event_starts_no_earlier_than_the_previous_looks_at_the_changed_pages() -> None:
    looks = looks_at([10.4, 10.5], [0.1, 0.15], [True, True])
    assert event_start(looks, 10.0 * DAY_SECONDS) == pytest.approx(10.3 * DAY_SECONDS)
    assert event_start(looks, 10.35 * DAY_SECONDS) == pytest.approx(10.35 * DAY_SECONDS)
    assert latest_begin(looks) == pytest.approx(10.35)


def test_an_event_starts_after_the_last_unchanged_look_before_it() -> None:
    looks = looks_at([10.2, 10.3, 10.5], [1.0, 1.0, 1.0], [False, False, True])
    assert event_start(looks, 10.0 * DAY_SECONDS) == pytest.approx(10.3 * DAY_SECONDS)


def test_looks_without_a_change_or_minutes_apart_show_no_start_of_an_event() -> None:
    assert event_start(looks_at([10.2], [1.0], [False]), 0.0) is None
    assert event_start(looks_at([10.2], [0.001], [True]), 0.0) is None
