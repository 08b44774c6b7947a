"""The posterior over change rates, beside a plain computation of the same."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.types import FloatArray
from freshet.schedule.cadence import (
    CELL_COUNT,
    CONTINUOUS_CADENCE,
    CYCLE_CADENCE,
    POISSON_CELLS,
)
from freshet.schedule.hosts.hazard_corrections import HazardCorrections
from freshet.schedule.kernels.posterior import days_to_first_change
from freshet.schedule.page_states import LookBatch
from freshet.schedule.posterior import RatePosterior
from tests.schedule.plain_forecast import fresh_days_gained, plain_survival

POSTERIOR = RatePosterior(CYCLE_CADENCE.rates, outlier_chance=1e-2, daily_retention=0.95)
UNIFORM_PRIOR = (np.full((1, CELL_COUNT), 1 / CELL_COUNT), np.zeros(1, np.int32))


@dataclass(frozen=True, slots=True)
class Look:
    gap: float
    changed: bool
    measured: bool = True
    hazard: float = 0.0


some_looks = st.builds(
    Look,
    gap=st.floats(0, 400),
    changed=st.booleans(),
    measured=st.sampled_from([True, True, False]),
    hazard=st.sampled_from([0.0, 0.01, 2.0]),
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
    """Return the posterior by adding the faded evidence of every look, cell by cell.

    Evidence fades by the days between two looks, but by no more than one day's share each time.
    """
    weights = []
    outlier_chance = posterior_model.outlier_chance
    for cell, rate in enumerate(posterior_model.rates.tolist()):
        log, faded_days = math.log(prior[cell]), min(1.0, age)
        for look in reversed(looks):
            survival = plain_survival(cell, rate * look.gap) * math.exp(-look.hazard)
            chance = 1 - survival if look.changed else survival
            evidence = math.log(outlier_chance + (1 - 2 * outlier_chance) * chance)
            log += look.measured * posterior_model.daily_retention**faded_days * evidence
            faded_days += min(1.0, look.gap)
        weights.append(log)
    shares = np.exp(np.array(weights) - max(weights))
    return shares / shares.sum()


def learn(likelihood: np.ndarray, looks: list[Look], row: int = 0) -> None:
    POSTERIOR.add_looks(likelihood, as_table(looks, row), np.array([x.hazard for x in looks]))


def likelihood_after(looks: list[Look]) -> np.ndarray:
    likelihood = np.zeros((1, CELL_COUNT), np.float32)
    learn(likelihood, looks)
    return likelihood


def test_the_grids_span_the_possible_rates() -> None:
    for cadence, slowest, fastest in (
        (CYCLE_CADENCE, 5e-4, 5.0),
        (CONTINUOUS_CADENCE, 1 / 1826.25, 288.0),
    ):
        assert len(cadence.rates) == CELL_COUNT == 28
        poisson, regular = cadence.rates[:POISSON_CELLS], cadence.rates[POISSON_CELLS:]
        assert poisson[[0, -1]] == pytest.approx([slowest, fastest])
        assert np.allclose(np.diff(np.log(poisson)), np.log(fastest / slowest) / 19)
        assert regular == pytest.approx([0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


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
        learn(one_by_one, [look])
    assert np.array_equal(one_by_one, likelihood_after(looks))


def test_looks_of_other_pages_between_do_not_matter() -> None:
    likelihood = np.zeros((2, CELL_COUNT), np.float32)
    looks, other_look = [Look(2.0, True), Look(3.0, False)], Look(1.0, True)
    for look in looks:
        learn(likelihood, [look])
        learn(likelihood, [other_look], row=1)
    assert np.array_equal(likelihood[:1], likelihood_after(looks))


def test_evidence_fades_with_every_look_and_not_with_time_alone() -> None:
    rows, changes = np.zeros(1, np.int32), [Look(1.0, True)] * 5
    after_a_day, after_years = (
        POSTERIOR.posteriors(likelihood_after(changes), rows, np.array([age]), UNIFORM_PRIOR)
        for age in (1.0, 1e3)
    )
    assert np.array_equal(after_a_day, after_years)
    unmeasured = [Look(1.0, False, measured=False)] * 200
    faded = POSTERIOR.posteriors(
        likelihood_after(changes + unmeasured), rows, np.array([0.0]), UNIFORM_PRIOR
    )
    assert np.abs(after_years - 1 / CELL_COUNT).max() > 0.05
    assert np.abs(faded - 1 / CELL_COUNT).max() < 1e-3


def test_no_number_of_looks_overflows() -> None:
    likelihood = np.zeros((1, CELL_COUNT), np.float32)
    looks = [Look(0.004, True)] * 20_000
    model = RatePosterior(CONTINUOUS_CADENCE.rates, 1e-4, 0.99)
    model.add_looks(likelihood, as_table(looks), np.zeros(len(looks)))
    assert np.isfinite(likelihood).all()
    assert likelihood.max() == pytest.approx(0, abs=1e-6)


def test_a_change_that_a_shared_event_explains_says_little_about_the_page() -> None:
    rows, ages = np.zeros(1, np.int32), np.zeros(1)
    own, shared = (
        POSTERIOR.mean_rates(
            likelihood_after([Look(1.0, True, hazard=hazard)]), rows, ages, UNIFORM_PRIOR
        )[0]
        for hazard in (0.0, 5.0)
    )
    unknown = UNIFORM_PRIOR[0][0] @ POSTERIOR.rates
    assert shared == pytest.approx(unknown, rel=0.01)
    assert own > 1.2 * unknown


@settings(deadline=None)
@given(
    st.floats(0, 60),
    st.floats(0, 4),
    st.floats(0, 4),
    st.lists(st.builds(Look, gap=st.floats(0, 3), changed=st.booleans()), max_size=4),
)
def test_a_corrected_look_is_as_if_learnt_with_the_new_hazard(
    gap: float, old_hazard: float, new_hazard: float, later: list[Look]
) -> None:
    earlier = [Look(2.0, True), Look(1.0, False)]
    corrected, expected = (
        likelihood_after([*earlier, Look(gap, True, hazard=hazard), *later])
        for hazard in (old_hazard, new_hazard)
    )
    corrections = HazardCorrections(
        rows=np.zeros(1, np.int32),
        gap_days=np.array([gap]),
        faded_days=np.array([sum(min(1.0, look.gap) for look in later)]),
        old_hazards=np.array([old_hazard]),
        new_hazards=np.array([new_hazard]),
    )
    POSTERIOR.correct_looks(corrected, corrections)
    assert corrected == pytest.approx(expected, abs=2e-5)


def posterior_of(looks: list[Look], age: float) -> FloatArray:
    rows = np.zeros(1, np.int32)
    weights = POSTERIOR.posteriors(likelihood_after(looks), rows, np.array([age]), UNIFORM_PRIOR)
    return weights[0]


def scores_of(
    looks: list[Look], exposure: tuple[float, float, float], objective: tuple[bool, float]
) -> tuple[float, float]:
    """Return the chance and the value of one page."""
    (chance,), (value,) = POSTERIOR.change_chances_and_values(
        likelihood_after(looks),
        np.zeros(1, np.int32),
        tuple(np.array([figure]) for figure in exposure),
        UNIFORM_PRIOR,
        objective,
    )
    return chance, value


def unchanged(weights: FloatArray, age: float) -> float:
    """Return the chance of no change of the page's own."""
    return sum(
        weight * plain_survival(cell, rate * age)
        for cell, (weight, rate) in enumerate(zip(weights, POSTERIOR.rates, strict=True))
    )


@settings(deadline=None)
@given(st.lists(some_looks, max_size=6), st.floats(0, 50), st.floats(0, 3))
def test_the_value_of_changes_is_the_chance_less_what_waiting_would_add(
    looks: list[Look], age: float, hazard: float
) -> None:
    weights, no_event = posterior_of(looks, age), math.exp(-hazard)
    own_survival, step = unchanged(weights, age), 1e-5 * max(age, 1e-3)
    slope = (unchanged(weights, age) - unchanged(weights, age + step)) / step
    chance, value = scores_of(looks, (age, hazard, 0.2), (False, 0.0))
    assert chance == pytest.approx(1 - own_survival * no_event, abs=2e-6)
    assert value == pytest.approx(chance - 0.7 * age * slope * no_event, abs=2e-4)
    next_day = unchanged(weights, age + 1.0)
    chance, value = scores_of(looks, (age, hazard, 0.2), (False, 1.0))
    assert chance == pytest.approx(1 - own_survival * no_event, abs=2e-6)
    expected = chance - 0.7 * age * (own_survival - next_day) * no_event
    assert value == pytest.approx(max(0.0, expected), abs=2e-6)


@settings(deadline=None, max_examples=40)
@given(st.lists(some_looks, max_size=6), st.floats(0, 50), st.floats(0, 3), st.floats(0, 0.5))
def test_the_value_of_freshness_is_the_mean_of_fresh_days_gained(
    looks: list[Look], age: float, hazard: float, event_rate: float
) -> None:
    weights = posterior_of(looks, age)
    chance, value = scores_of(looks, (age, hazard, event_rate), (True, 0.0))
    expected = sum(
        weight * fresh_days_gained(cell, rate * age, hazard) / (rate + event_rate)
        for cell, (weight, rate) in enumerate(zip(weights, POSTERIOR.rates, strict=True))
    )
    assert chance == pytest.approx(1 - unchanged(weights, age) * math.exp(-hazard), abs=2e-6)
    assert value == pytest.approx(max(0.0, expected), rel=2e-5, abs=1e-6)
    rows = np.zeros(1, np.int32)
    (mean,) = POSTERIOR.mean_rates(likelihood_after(looks), rows, np.array([age]), UNIFORM_PRIOR)
    assert mean == pytest.approx(weights @ POSTERIOR.rates)


def test_the_gain_of_a_very_young_page_grows_as_the_square_of_its_age() -> None:
    ages = np.array([1e-5, 1e-4, 1e-3])
    gains = [scores_of([], (age, 0.0, 0.0), (True, 0.0))[1] for age in ages]
    assert gains == pytest.approx(POSTERIOR.rates.mean() * ages**2 / 2, rel=1e-2)


def test_a_regular_page_is_not_worth_a_visit_before_its_gap_has_passed() -> None:
    looks = [Look(0.5, False), Look(0.5, True)] * 20
    values = [scores_of(looks, (age, 0.0, 0.0), (False, 0.0))[1] for age in (0.3, 0.6, 1.2)]
    assert values[0] < 0.15 < values[1] < 0.4 < 0.55 < values[2]


@settings(deadline=None)
@given(st.lists(some_looks, max_size=6), st.floats(0, 2), st.sampled_from([0.0, 1.0]))
def test_values_never_fall_while_a_page_waits(
    looks: list[Look], hazard: float, step: float
) -> None:
    ages = np.geomspace(1.0, 300.0, 12)
    for for_freshness in (False, True):
        values = [scores_of(looks, (age, hazard, 0.1), (for_freshness, step))[1] for age in ages]
        assert np.all(np.diff(values) > -1e-9)


def test_the_first_change_in_a_gap_comes_half_way_if_rare_and_soon_if_frequent() -> None:
    gaps, rates = np.array([10.0, 10.0, 10.0, 0.0]), np.array([1e-4, 0.1, 24.0])
    weights = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])
    expected = [5.0, 10 * (1 - 2 / math.e) / (1 - 1 / math.e), 1 / 24, 0.0]
    assert days_to_first_change(gaps, weights, rates) == pytest.approx(expected, rel=1e-3)
