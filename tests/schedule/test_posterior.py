"""The posterior over change rates, beside a plain computation of the same."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.types import FloatArray
from freshet.schedule.cadence import CELL_COUNT, CONTINUOUS_CADENCE, CYCLE_CADENCE
from freshet.schedule.kernels import posterior as kernels
from freshet.schedule.page_states import LookBatch
from freshet.schedule.posterior import RatePosterior

POSTERIOR = RatePosterior(CYCLE_CADENCE.rates, outlier_chance=1e-2, daily_retention=0.95)
UNIFORM_PRIOR = (np.full((1, CELL_COUNT), 1 / CELL_COUNT), np.zeros(1, np.int32))


@dataclass(frozen=True, slots=True)
class Look:
    gap: float
    changed: bool
    measured: bool = True


some_looks = st.builds(
    Look,
    gap=st.floats(0, 400),
    changed=st.booleans(),
    measured=st.sampled_from([True, True, False]),
)


def as_table(looks: list[Look], row: int = 0) -> LookBatch:
    count = len(looks)
    return LookBatch(
        rows=np.full(count, row, np.int32),
        times=np.zeros(count),
        gap_days=np.array([look.gap for look in looks], np.float64),
        measured=np.array([look.measured for look in looks], np.bool_),
        changed=np.array([look.changed for look in looks], np.bool_),
    )


def plain_posterior(
    looks: list[Look], age: float, prior: FloatArray, posterior_model: RatePosterior
) -> FloatArray:
    """Return the posterior by adding the faded evidence of every look, rate by rate."""
    weights = []
    for rate, prior_weight in zip(posterior_model.rates.tolist(), prior.tolist(), strict=True):
        log, days_ago = math.log(prior_weight), age
        for look in reversed(looks):
            chance = 1 - math.exp(-rate * look.gap) if look.changed else math.exp(-rate * look.gap)
            probability = (
                posterior_model.outlier_chance + (1 - 2 * posterior_model.outlier_chance) * chance
            )
            log += look.measured * posterior_model.daily_retention**days_ago * math.log(probability)
            days_ago += look.gap
        weights.append(log)
    shares = np.exp(np.array(weights) - max(weights))
    return shares / shares.sum()


def likelihood_after(looks: list[Look], posterior_model: RatePosterior = POSTERIOR) -> np.ndarray:
    likelihood = np.zeros((1, CELL_COUNT), np.float32)
    posterior_model.add_looks(likelihood, as_table(looks))
    return likelihood


def test_the_grids_span_the_possible_rates() -> None:
    for cadence, slowest, fastest in (
        (CYCLE_CADENCE, 5e-4, 5.0),
        (CONTINUOUS_CADENCE, 1 / 1826.25, 288.0),
    ):
        assert len(cadence.rates) == CELL_COUNT == 28
        assert cadence.rates[[0, -1]] == pytest.approx([slowest, fastest])
        assert np.allclose(np.diff(np.log(cadence.rates)), np.log(fastest / slowest) / 27)


@settings(deadline=None)
@given(st.lists(some_looks, max_size=12), st.floats(0, 100), st.integers(0, 2**32 - 1))
def test_the_posterior_is_that_of_a_plain_computation(
    looks: list[Look], age: float, seed: int
) -> None:
    prior = np.random.default_rng(seed).dirichlet(np.ones(CELL_COUNT)) + 1e-9
    table = (prior[np.newaxis], np.zeros(1, np.int32))
    posterior = POSTERIOR.posteriors(
        likelihood_after(looks), np.zeros(1, np.int32), np.array([age]), table
    )[0]
    assert posterior == pytest.approx(
        plain_posterior(looks, age, prior, POSTERIOR), rel=1e-3, abs=1e-6
    )


@settings(deadline=None)
@given(st.lists(some_looks, max_size=12))
def test_looks_learnt_at_once_and_one_by_one_are_the_same(looks: list[Look]) -> None:
    one_by_one = np.zeros((1, CELL_COUNT), np.float32)
    for look in looks:
        POSTERIOR.add_looks(one_by_one, as_table([look]))
    assert np.array_equal(one_by_one, likelihood_after(looks))


def test_looks_of_other_pages_between_do_not_matter() -> None:
    likelihood = np.zeros((2, CELL_COUNT), np.float32)
    looks, other_look = [Look(2.0, True), Look(3.0, False)], Look(1.0, True)
    for look in looks:
        POSTERIOR.add_looks(likelihood, as_table([look]))
        POSTERIOR.add_looks(likelihood, as_table([other_look], row=1))
    assert np.array_equal(likelihood[:1], likelihood_after(looks))


def test_an_old_look_has_little_weight() -> None:
    rows, likelihood = np.zeros(1, np.int32), likelihood_after([Look(1.0, True)] * 5)
    soon, late = (
        POSTERIOR.posteriors(likelihood, rows, np.array([age]), UNIFORM_PRIOR) for age in (0.0, 1e3)
    )
    assert np.abs(late - 1 / CELL_COUNT).max() < 1e-9
    assert np.abs(soon - 1 / CELL_COUNT).max() > 0.05


def test_no_number_of_looks_overflows() -> None:
    likelihood = likelihood_after(
        [Look(0.004, True)] * 20_000, RatePosterior(CONTINUOUS_CADENCE.rates, 1e-4, 0.99)
    )
    assert np.isfinite(likelihood).all()
    assert likelihood.max() == pytest.approx(0, abs=1e-6)


@given(st.floats(-800, 0))
def test_the_fast_exponential_is_the_exact_one(x: float) -> None:
    assert kernels.fast_exp(x) == pytest.approx(math.exp(max(x, -700.0)), rel=1e-12, abs=1e-300)


@settings(deadline=None)
@given(st.lists(some_looks, max_size=6), st.floats(0, 50), st.floats(0, 400))
def test_chance_and_gain_are_averages_over_the_posterior(
    looks: list[Look], age: float, effective_age: float
) -> None:
    rows, rates = np.zeros(1, np.int32), POSTERIOR.rates
    likelihood = likelihood_after(looks)
    weights = POSTERIOR.posteriors(likelihood, rows, np.array([age]), UNIFORM_PRIOR)[0]
    ages = (np.array([age]), np.array([effective_age]))
    (chance,), (gain,) = POSTERIOR.change_chances_and_gains(likelihood, rows, ages, UNIFORM_PRIOR)
    expected = rates * effective_age
    gains = -np.expm1(-expected) / rates - effective_age * np.exp(-expected)
    assert chance == pytest.approx(weights @ -np.expm1(-expected), rel=1e-9, abs=1e-12)
    assert gain == pytest.approx(weights @ gains, rel=1e-6, abs=1e-10)
    (mean,) = POSTERIOR.mean_rates(likelihood, rows, np.array([age]), UNIFORM_PRIOR)
    assert mean == pytest.approx(weights @ rates)


def test_the_gain_of_a_very_young_page_grows_as_the_square_of_its_age() -> None:
    rows, likelihood = np.zeros(3, np.int32), likelihood_after([])
    ages = np.array([1e-6, 1e-5, 1e-4])
    prior = (UNIFORM_PRIOR[0], np.zeros(3, np.int32))
    _, gains = POSTERIOR.change_chances_and_gains(likelihood, rows, (ages, ages), prior)
    assert gains == pytest.approx(POSTERIOR.rates.mean() * ages**2 / 2, rel=1e-3)
