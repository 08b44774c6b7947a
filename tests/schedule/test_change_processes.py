"""Survival of random and regular pages, beside numeric integration."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gamma

from freshet.schedule.cadence import CELL_COUNT, POISSON_CELLS
from freshet.schedule.kernels.change_processes import (
    REGULAR_LIFETIME,
    cell_survival,
    fast_exp,
    fast_log,
    regular_survival,
)
from tests.schedule.plain_forecast import (
    fresh_days_gained,
    gap_survival,
    plain_survival,
    survival_integral,
)


@given(st.floats(-800, 0))
def test_the_fast_exponential_is_the_exact_one(x: float) -> None:
    assert fast_exp(x) == pytest.approx(math.exp(max(x, -700.0)), rel=1e-12, abs=1e-300)


@given(st.floats(1e-300, 1e300))
def test_the_fast_logarithm_is_the_exact_one(x: float) -> None:
    assert fast_log(x) == pytest.approx(math.log(x), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("changes", [0.0, 1e-6, 0.01, 0.3, 0.9, 1.0, 1.7, 4.0])
def test_a_regular_page_survives_as_a_renewal_process_in_equilibrium(changes: float) -> None:
    assert gap_survival(changes) == pytest.approx(gamma.sf(changes, 6, scale=1 / 6), abs=1e-11)
    assert regular_survival(changes) == pytest.approx(quad(gap_survival, changes, 12)[0], abs=1e-9)
    assert survival_integral(changes) == pytest.approx(
        quad(regular_survival, 0, changes)[0], abs=1e-9
    )


@given(st.floats(0, 20), st.floats(0, 4))
def test_the_plain_forms_of_the_tests_are_integrals(changes: float, hazard: float) -> None:
    assert plain_survival(POISSON_CELLS, changes) == pytest.approx(
        regular_survival(changes), abs=1e-9
    )
    by_time = quad(lambda x: x * gap_survival(x), 0, min(changes, 12))[0]
    assert fresh_days_gained(POISSON_CELLS, changes, 0.0) == pytest.approx(by_time, abs=1e-8)
    random_page = quad(lambda x: x * math.exp(-x), 0, changes + hazard)[0]
    assert fresh_days_gained(0, changes, hazard) == pytest.approx(random_page, abs=1e-8)


def test_the_mean_time_to_the_next_change_is_the_integral_of_the_survival() -> None:
    assert quad(regular_survival, 0, 12)[0] == pytest.approx(REGULAR_LIFETIME)
    assert survival_integral(60.0) == pytest.approx(REGULAR_LIFETIME)
    assert pytest.approx(7 / 12) == REGULAR_LIFETIME


@given(st.floats(0, 1e6), st.floats(0, 10))
def test_survival_starts_at_one_and_only_falls(changes: float, more: float) -> None:
    for cell in (0, POISSON_CELLS - 1, POISSON_CELLS, CELL_COUNT - 1):
        assert cell_survival(cell, 0.0) == pytest.approx(1)
        assert 0 <= cell_survival(cell, changes + more) <= cell_survival(cell, changes) + 1e-12 <= 2


def test_regular_gaps_are_less_often_very_short_or_very_long_than_random_ones() -> None:
    random_survival, survival = (cell_survival(cell, 2.0) for cell in (0, POISSON_CELLS))
    assert survival < random_survival / 20
    slope = (regular_survival(0.201) - regular_survival(0.199)) / 0.002
    assert -slope == pytest.approx(gap_survival(0.2), abs=1e-4)
    assert -slope > 0.99 > math.exp(-0.2)
