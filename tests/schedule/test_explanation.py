"""How often a page changes and how likely it has come from one distribution."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from freshet.schedule.cadence import CONTINUOUS_CADENCE, RATE_COUNT
from freshet.schedule.explanation import expected_change_days

LIKELY = 1 - 1 / np.e
WEIGHTS = npst.arrays(np.float64, RATE_COUNT, elements=st.floats(1e-6, 1.0))


@given(WEIGHTS, st.floats(1e-3, 1e3))
def test_a_change_is_63_percent_likely_by_a_time_just_when_it_comes_as_often_as_that(
    weights: np.ndarray, days: float
) -> None:
    often = expected_change_days(weights, CONTINUOUS_CADENCE.rates)
    chance = 1 - np.exp(-days * CONTINUOUS_CADENCE.rates) @ (weights / weights.sum())
    if abs(chance - LIKELY) > 1e-9:
        assert (often < days) == (chance > LIKELY)


def test_two_rates_far_apart_give_no_rate_that_the_chance_contradicts() -> None:
    weights = np.zeros(RATE_COUNT)
    weights[[2, -2]] = 0.36, 0.64
    assert 1 - np.exp(-CONTINUOUS_CADENCE.rates) @ weights > 0.63
    assert expected_change_days(weights, CONTINUOUS_CADENCE.rates) < 1
    weights[[2, -2]] = 0.64, 0.36
    assert expected_change_days(weights, CONTINUOUS_CADENCE.rates) > 30
