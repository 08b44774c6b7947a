"""The posterior over change rates, beside a plain computation of the same."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.types import FloatArray
from freshet.schedule.cadence import CONTINUOUS_CADENCE, CYCLE_CADENCE, RATE_COUNT
from freshet.schedule.kernels import posterior as kernels
from freshet.schedule.posterior import RatePosterior
from freshet.schedule.states import LookBatch

LEARNING = RatePosterior(CYCLE_CADENCE.rates, outlier_chance=1e-2, daily_retention=0.95)
EVEN = (np.full((1, RATE_COUNT), 1 / RATE_COUNT), np.zeros(1, np.int32))


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
    looks: list[Look], age: float, prior: FloatArray, learning: RatePosterior
) -> FloatArray:
    """Add up what every look says, weighted by how long ago it was, rate by rate."""
    weights = []
    for rate, expected in zip(learning.rates.tolist(), prior.tolist(), strict=True):
        log, days_ago = math.log(expected), age
        for look in reversed(looks):
            chance = 1 - math.exp(-rate * look.gap) if look.changed else math.exp(-rate * look.gap)
            mixed = learning.outlier_chance + (1 - 2 * learning.outlier_chance) * chance
            log += look.measured * learning.daily_retention**days_ago * math.log(mixed)
            days_ago += look.gap
        weights.append(log)
    shares = np.exp(np.array(weights) - max(weights))
    return shares / shares.sum()


def learnt(looks: list[Look], learning: RatePosterior = LEARNING) -> np.ndarray:
    likelihood = np.zeros((1, RATE_COUNT), np.float32)
    learning.add_looks(likelihood, as_table(looks))
    return likelihood


def test_the_grids_span_what_is_thought_possible() -> None:
    for cadence, slowest, fastest in (
        (CYCLE_CADENCE, 5e-4, 5.0),
        (CONTINUOUS_CADENCE, 1 / 1826.25, 288.0),
    ):
        assert len(cadence.rates) == RATE_COUNT == 28
        assert cadence.rates[[0, -1]] == pytest.approx([slowest, fastest])
        assert np.allclose(np.diff(np.log(cadence.rates)), np.log(fastest / slowest) / 27)


@settings(deadline=None)
@given(st.lists(some_looks, max_size=12), st.floats(0, 100), st.integers(0, 2**32 - 1))
def test_the_posterior_is_that_of_a_plain_computation(
    looks: list[Look], age: float, seed: int
) -> None:
    prior = np.random.default_rng(seed).dirichlet(np.ones(RATE_COUNT)) + 1e-9
    table = (prior[np.newaxis], np.zeros(1, np.int32))
    found = LEARNING.posteriors(learnt(looks), np.zeros(1, np.int32), np.array([age]), table)[0]
    assert found == pytest.approx(plain_posterior(looks, age, prior, LEARNING), rel=1e-3, abs=1e-6)


@settings(deadline=None)
@given(st.lists(some_looks, max_size=12))
def test_looks_learnt_at_once_and_one_by_one_are_the_same(looks: list[Look]) -> None:
    one_by_one = np.zeros((1, RATE_COUNT), np.float32)
    for look in looks:
        LEARNING.add_looks(one_by_one, as_table([look]))
    assert np.array_equal(one_by_one, learnt(looks))


def test_looks_of_other_pages_between_do_not_matter() -> None:
    likelihood = np.zeros((2, RATE_COUNT), np.float32)
    mine, other = [Look(2.0, True), Look(3.0, False)], Look(1.0, True)
    for look in mine:
        LEARNING.add_looks(likelihood, as_table([look]))
        LEARNING.add_looks(likelihood, as_table([other], row=1))
    assert np.array_equal(likelihood[:1], learnt(mine))


def test_a_look_long_ago_says_little() -> None:
    rows, likelihood = np.zeros(1, np.int32), learnt([Look(1.0, True)] * 5)
    soon, late = (
        LEARNING.posteriors(likelihood, rows, np.array([age]), EVEN) for age in (0.0, 1e3)
    )
    assert np.abs(late - 1 / RATE_COUNT).max() < 1e-9
    assert np.abs(soon - 1 / RATE_COUNT).max() > 0.05


def test_no_number_of_looks_overflows() -> None:
    found = learnt(
        [Look(0.004, True)] * 20_000, RatePosterior(CONTINUOUS_CADENCE.rates, 1e-4, 0.99)
    )
    assert np.isfinite(found).all()
    assert found.max() == pytest.approx(0, abs=1e-6)


@given(st.floats(-800, 0))
def test_the_fast_exponential_is_the_exact_one(x: float) -> None:
    assert kernels.fast_exp(x) == pytest.approx(math.exp(max(x, -700.0)), rel=1e-12, abs=1e-300)


@settings(deadline=None)
@given(st.lists(some_looks, max_size=6), st.floats(0, 50), st.floats(0, 400))
def test_chance_and_gain_are_averages_over_the_posterior(
    looks: list[Look], passed: float, stretched: float
) -> None:
    rows, rates = np.zeros(1, np.int32), LEARNING.rates
    likelihood = learnt(looks)
    weights = LEARNING.posteriors(likelihood, rows, np.array([passed]), EVEN)[0]
    ages = (np.array([passed]), np.array([stretched]))
    (chance,), (gain,) = LEARNING.change_chances_and_gains(likelihood, rows, ages, EVEN)
    expected = rates * stretched
    gains = -np.expm1(-expected) / rates - stretched * np.exp(-expected)
    assert chance == pytest.approx(weights @ -np.expm1(-expected), rel=1e-9, abs=1e-12)
    assert gain == pytest.approx(weights @ gains, rel=1e-6, abs=1e-10)
    (mean,) = LEARNING.mean_rates(likelihood, rows, np.array([passed]), EVEN)
    assert mean == pytest.approx(weights @ rates)


def test_the_gain_of_a_very_young_page_grows_as_the_square_of_its_age() -> None:
    rows, likelihood = np.zeros(3, np.int32), learnt([])
    ages = np.array([1e-6, 1e-5, 1e-4])
    prior = (EVEN[0], np.zeros(3, np.int32))
    _, gains = LEARNING.change_chances_and_gains(likelihood, rows, (ages, ages), prior)
    assert gains == pytest.approx(LEARNING.rates.mean() * ages**2 / 2, rel=1e-3)
