"""The expected time of a change agrees with the chance of a change."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from freshet.schedule.cadence import CELL_COUNT, CONTINUOUS_CADENCE
from freshet.schedule.explanation import expected_change_days

THRESHOLD = 1 - 1 / np.e
WEIGHTS = npst.arrays(np.float64, CELL_COUNT, elements=st.floats(1e-6, 1.0))


@given(WEIGHTS, st.floats(1e-3, 1e3))
def test_the_chance_of_a_change_exceeds_63_percent_after_the_expected_days(
    weights: np.ndarray, days: float
) -> None:
    expected_days = expected_change_days(weights, CONTINUOUS_CADENCE.rates)
    chance = 1 - np.exp(-days * CONTINUOUS_CADENCE.rates) @ (weights / weights.sum())
    if abs(chance - THRESHOLD) > 1e-9:
        assert (expected_days < days) == (chance > THRESHOLD)


def test_the_expected_days_agree_with_the_chance_for_two_rates_far_apart() -> None:
    weights = np.zeros(CELL_COUNT)
    weights[[2, -2]] = 0.36, 0.64
    assert 1 - np.exp(-CONTINUOUS_CADENCE.rates) @ weights > 0.63
    assert expected_change_days(weights, CONTINUOUS_CADENCE.rates) < 1
    weights[[2, -2]] = 0.64, 0.36
    assert expected_change_days(weights, CONTINUOUS_CADENCE.rates) > 30
