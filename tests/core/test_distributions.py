from math import inf, isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from freshet.core.distributions import (
    chi_squared_tail,
    normal_cdf,
    student_t_cdf,
    student_t_quantile,
)

degrees_of_freedom = st.integers(1, 20_000)


@given(st.floats(-38, 38))
def test_the_normal_distribution_is_that_of_scipy(x: float) -> None:
    assert normal_cdf(x) == pytest.approx(float(special.ndtr(x)), rel=1e-12, abs=1e-300)


@given(degrees_of_freedom, st.floats(0, 4))
def test_the_tail_of_chi_squared_is_that_of_scipy(freedom: int, share: float) -> None:
    statistic = share * freedom
    expected = float(special.chdtrc(freedom, statistic))
    assert chi_squared_tail(freedom, statistic) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(degrees_of_freedom, st.floats(-1e3, 1e3))
def test_students_t_distribution_is_that_of_scipy(freedom: int, t: float) -> None:
    expected = float(special.stdtr(freedom, t))
    assert student_t_cdf(freedom, t) == pytest.approx(expected, rel=1e-9, abs=1e-14)


@given(degrees_of_freedom, st.floats(0.6, 0.9999))
def test_quantiles_of_students_t_are_those_of_scipy(freedom: int, probability: float) -> None:
    expected = float(special.stdtrit(freedom, probability))
    assert student_t_quantile(freedom, probability) == pytest.approx(expected, rel=1e-9)


def test_a_statistic_of_nothing_is_certain_and_an_infinite_one_impossible() -> None:
    assert chi_squared_tail(3, 0.0) == 1.0
    assert chi_squared_tail(3, inf) == 0.0


def test_a_difference_without_any_spread_leaves_no_doubt() -> None:
    assert student_t_cdf(5, -inf) == 0.0
    assert student_t_cdf(5, inf) == 1.0


def test_an_undefined_statistic_has_an_undefined_probability() -> None:
    assert isnan(chi_squared_tail(3, nan))
