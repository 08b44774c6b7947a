"""The chance of a change and the value of a look, beside a plain computation of the same."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from freshet.schedule.cadence import CELL_COUNT, CONTINUOUS_CADENCE, POISSON_CELLS
from freshet.schedule.kernels.visit_values import (
    SERIES_LIMIT,
    WAITING_WEIGHT,
    change_chances_and_values,
    small_exp,
)
from tests.schedule.plain_forecast import fresh_days_gained, gap_survival, plain_survival

RATES, RETENTION = CONTINUOUS_CADENCE.rates, 0.9


def cell_figures(cell: int, age: float, hazard: float) -> tuple[float, float, float]:
    """Return survival, growth times age and lifetimes gained of one cell."""
    changes = RATES[cell] * age
    if cell < POISSON_CELLS:
        unchanged, expected = math.exp(-changes), changes + hazard
        gained = 1 - (1 + expected) * math.exp(-expected)
        if expected < SERIES_LIMIT:
            gained = expected**2 / 2 - expected**3 / 3 + expected**4 / 8
        return unchanged, changes * unchanged, gained
    unchanged, longer_gap = plain_survival(cell, changes), gap_survival(changes)
    return unchanged, changes * longer_gap, fresh_days_gained(cell, changes, hazard)


@settings(deadline=None, max_examples=50)
@given(
    age=st.floats(0, 400),
    hazard=st.floats(0, 3),
    event_rate=st.floats(0, 0.5),
    step=st.sampled_from([0.0, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
@example(age=0.0, hazard=0.0, event_rate=0.0, step=0.0, seed=0)
@example(age=1e-4, hazard=0.0, event_rate=0.01, step=0.0, seed=1)
def test_values_are_those_of_a_plain_computation(
    age: float, hazard: float, event_rate: float, step: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(CELL_COUNT))
    likelihood = -rng.exponential(5.0, (1, CELL_COUNT)).astype(np.float32)
    weights = prior * np.exp(likelihood[0] * RETENTION ** min(1.0, age))
    weights /= weights.sum()
    figures = np.array([cell_figures(cell, age, hazard) for cell in range(CELL_COUNT)])
    survival, growth = weights @ figures[:, 0], weights @ figures[:, 1]
    if step:
        later = [cell_figures(cell, age + step, hazard)[0] for cell in range(CELL_COUNT)]
        growth = age / step * (survival - weights @ later)
    expected = {
        False: 1 - (survival + WAITING_WEIGHT * growth) * math.exp(-hazard),
        True: weights @ (figures[:, 2] / (RATES + event_rate)),
    }
    exposure = (np.array([age]), np.array([hazard]), np.array([event_rate]))
    for for_freshness, value in expected.items():
        chances, values = change_chances_and_values(
            likelihood,
            np.zeros(1, np.int32),
            exposure,
            (prior[np.newaxis], np.zeros(1, np.int32)),
            RATES,
            (math.log(RETENTION), for_freshness, step),
        )
        assert chances[0] == pytest.approx(1 - survival * math.exp(-hazard), rel=1e-5, abs=1e-9)
        assert values[0] == pytest.approx(max(0.0, value), rel=1e-5, abs=1e-9)


def test_the_event_rate_of_each_page_counts() -> None:
    likelihood, prior = np.zeros((1, CELL_COUNT), np.float32), np.full((1, CELL_COUNT), 1.0)
    rows, same = np.zeros(3, np.int32), np.full(3, 5.0)
    exposure = (same, np.full(3, 0.1), np.array([0.01, 0.5, 0.01]))
    _, values = change_chances_and_values(
        likelihood, rows, exposure, (prior, rows), RATES, (math.log(RETENTION), True, 0.0)
    )
    assert values[0] == values[2] > values[1]


@given(st.floats(-200, 0, width=32))
def test_the_exponential_function_in_single_precision_is_exact_to_its_digits(x: float) -> None:
    assert small_exp(np.float32(x)) == pytest.approx(math.exp(x), rel=1e-5, abs=1e-37)
