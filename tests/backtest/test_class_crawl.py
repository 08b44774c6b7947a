"""The crawl by classes selects the same pages as a policy with the same formula and seed."""

from datetime import datetime
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.backtest.class_crawl.history_class_crawl import HistoryClassCrawl
from freshet.backtest.cycle_crawl import crawl_in_cycles, cycle_time
from freshet.backtest.metrics import discount_weights, measure_crawl
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
from freshet.core.tables import BoolArray, ChoiceTable, HostCaps
from freshet.core.types import FloatArray
from freshet.formula.expression import Formula, parse_formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock
from freshet.learning.evolve.genetic_operators import PrimitiveSet, random_tree
from freshet.schedule.formulas.formula_policy import FormulaPolicy
from freshet.schedule.top_k import tie_break_key

FORMULAS = (
    "t",
    "X",
    "t * X",
    "1 - exp(0 - NAD * t)",
    "CG + 0.01 * t",
    "pow(SAD, t) + AAD / (GAD - n)",
    "log(t) * exp(X) / 0",
)


def some_trace(seed: int, pages: int = 60, cycles: int = 14) -> Trace:
    rng = np.random.default_rng(seed)
    rates = rng.choice([0.0, 0.02, 0.2, 0.9], pages)
    keys = PageGroupKeys(*(np.zeros(pages, np.uint64),) * 3)
    return build_trace("some", keys, rng.random((pages, cycles)) < rates[:, None])


def keys(seed: int, cycles: int) -> np.ndarray:
    moments = (cycle_time(cycle).timestamp() for cycle in range(cycles))
    return np.array([tie_break_key(seed, moment) for moment in moments], np.uint64)


def crawl_of(trace: Trace, k: int, seed: int, clock: WeightClock = "visit") -> HistoryClassCrawl:
    return HistoryClassCrawl(trace, k, keys(seed, trace.cycles), clock=clock)


def by_classes(
    trace: Trace, formula: Formula, k: int, seed: int, clock: WeightClock = "visit"
) -> list[tuple[int, int, int]]:
    result = crawl_of(trace, k, seed, clock).run(formula)
    columns = (result.changes_found, result.stale_before, result.stale_after)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def by_policy(
    trace: Trace, formula: Formula, k: int, seed: int, clock: WeightClock = "visit"
) -> list[tuple[int, int, int]]:
    policy = FormulaPolicy("some", formula, seed=seed, clock=clock)
    return [
        (int(cycle.changed.sum()), cycle.stale_before, int(cycle.stale.sum()))
        for cycle in crawl_in_cycles(trace, policy, k)
    ]


@pytest.mark.parametrize("clock", ["visit", "cycle"])
@pytest.mark.parametrize("text", FORMULAS)
def test_a_crawl_by_classes_finds_what_the_policy_finds(text: str, clock: WeightClock) -> None:
    trace, formula = some_trace(3), parse_formula(text, PAPER_VARIABLES)
    result = by_classes(trace, formula, 5, seed=7, clock=clock)
    assert result == by_policy(trace, formula, 5, seed=7, clock=clock)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from(["visit", "cycle"]))
def test_the_results_agree_on_any_trace_with_any_formula_and_budget(
    seed: int, k: int, clock: WeightClock
) -> None:
    trace = some_trace(seed)
    formula = Formula(
        tuple(random_tree(Random(seed), PrimitiveSet(PAPER_VARIABLES), 7, is_full=seed % 2 == 0))
    )
    result = by_classes(trace, formula, k, seed, clock)
    assert result == by_policy(trace, formula, k, seed, clock)


@given(st.integers(0, 10**6), st.floats(0.05, 1.0), st.sampled_from(["ndcg", "changerate"]))
@settings(max_examples=60, deadline=None)
def test_only_a_crawl_that_cannot_reach_the_floor_is_stopped(
    seed: int, floor: float, measure: str
) -> None:
    crawled = crawl_of(some_trace(seed, cycles=30), 6, seed)
    formula = Formula(
        tuple(random_tree(Random(seed), PrimitiveSet(PAPER_VARIABLES), 4, is_full=True))
    )
    full_result = crawled.run(formula, measure=measure)
    result = crawled.run(formula, measure=measure, floor=floor)
    assert not full_result.is_stopped
    if result.is_stopped:
        assert full_result.fitness <= result.fitness < floor
        assert len(result.changes_found) < len(full_result.changes_found)
    else:
        assert result.fitness == full_result.fitness


def test_a_crawl_that_finds_nothing_is_stopped() -> None:
    changed = np.zeros((40, 50), np.bool_)
    changed[0] = True
    trace = build_trace("one busy page", PageGroupKeys(*(np.zeros(40, np.uint64),) * 3), changed)
    assert crawl_of(trace, 1, 0).run(parse_formula("0 - X", PAPER_VARIABLES), floor=0.5).is_stopped
    assert not crawl_of(trace, 1, 0).run(parse_formula("X", PAPER_VARIABLES), floor=0.5).is_stopped


def test_fitness_is_the_mean_that_the_measures_give() -> None:
    trace, k = some_trace(11, pages=300, cycles=40), 15
    formula = parse_formula("t * X", PAPER_VARIABLES)
    scored = measure_crawl(
        crawl_in_cycles(trace, FormulaPolicy("some", formula), k), trace.pages.importance, k
    )
    crawled = crawl_of(trace, k, 0)
    assert crawled.run(formula, measure="changerate").fitness == pytest.approx(scored.changerate)
    assert crawled.run(formula).fitness == pytest.approx(scored.ndcg, abs=0.02)


@pytest.mark.parametrize("measure", ["ndcg", "changerate"])
@pytest.mark.parametrize("seed", range(20))
def test_a_crawl_that_can_just_reach_the_floor_goes_on(seed: int, measure: str) -> None:
    crawled = crawl_of(some_trace(seed, cycles=30), 6, seed)
    formula = parse_formula("0 - X", PAPER_VARIABLES)
    bound = crawled.run(formula, measure=measure, floor=0.9).fitness
    for _ in range(3):
        result = crawled.run(formula, measure=measure, floor=bound)
        assert not result.is_stopped or result.fitness < bound
        bound = result.fitness


def expected_gain(changed: BoolArray, scores: FloatArray) -> float:
    """Add up the discounts of finds, each that of the mean place of its score."""
    weights = discount_weights(len(scores))
    return sum(
        float(changed[scores == score].mean() * weights[scores == score].sum())
        for score in set(scores.tolist())
    )


class RecordingPolicy(FormulaPolicy):
    """Remembers the values of its last choice."""

    values: FloatArray

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        choices = super().choose(now, k, caps)
        self.values = choices.values
        return choices


@pytest.mark.parametrize("text", FORMULAS)
def test_the_gain_is_the_mean_over_the_order_of_pages_with_equal_scores(text: str) -> None:
    trace, policy = (
        some_trace(5),
        RecordingPolicy(text, parse_formula(text, PAPER_VARIABLES), seed=1),
    )
    gains = [
        expected_gain(cycle.changed, policy.values) for cycle in crawl_in_cycles(trace, policy, 12)
    ]
    assert crawl_of(trace, 12, 1).run(
        parse_formula(text, PAPER_VARIABLES)
    ).gain.tolist() == pytest.approx(gains)
