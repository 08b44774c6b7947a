"""The crawl by classes chooses what a policy with the same formula and seed chooses."""

from datetime import datetime
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.backtest.class_crawl import ClassCrawl
from freshet.backtest.cycle_crawl import crawl, moment
from freshet.backtest.metrics import discount, score
from freshet.backtest.trace import Keys, Trace, packed
from freshet.core.tables import Caps, Choices, Truths
from freshet.core.types import Floats
from freshet.formula.expression import Formula, parse
from freshet.formula.variables import ALL, Clock, Measure
from freshet.learning.evolve.genetic_operators import Language, grown
from freshet.schedule.ranked import Ranked
from freshet.schedule.top_k import lot_key

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
    keys = Keys(*(np.zeros(pages, np.uint64),) * 3)
    return packed("some", keys, rng.random((pages, cycles)) < rates[:, None])


def keys(seed: int, cycles: int) -> np.ndarray:
    moments = (moment(cycle).timestamp() for cycle in range(cycles))
    return np.array([lot_key(seed, each) for each in moments], np.uint64)


def crawl_of(trace: Trace, k: int, seed: int, clock: Clock = "visit") -> ClassCrawl:
    return ClassCrawl(trace, k, keys(seed, trace.cycles), clock=clock)


def by_classes(
    trace: Trace, formula: Formula, k: int, seed: int, clock: Clock = "visit"
) -> list[tuple[int, int, int]]:
    result = crawl_of(trace, k, seed, clock).run(formula)
    columns = (result.found, result.stale_before, result.stale_after)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def by_policy(
    trace: Trace, formula: Formula, k: int, seed: int, clock: Clock = "visit"
) -> list[tuple[int, int, int]]:
    policy = Ranked("some", formula, seed=seed, clock=clock)
    return [
        (int(cycle.found.sum()), cycle.stale_before, int(cycle.stale.sum()))
        for cycle in crawl(trace, policy, k)
    ]


@pytest.mark.parametrize("clock", ["visit", "cycle"])
@pytest.mark.parametrize("text", FORMULAS)
def test_a_crawl_by_classes_finds_what_the_policy_finds(text: str, clock: Clock) -> None:
    trace, formula = some_trace(3), parse(text, ALL)
    found = by_classes(trace, formula, 5, seed=7, clock=clock)
    assert found == by_policy(trace, formula, 5, seed=7, clock=clock)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from(["visit", "cycle"]))
def test_it_does_so_on_any_trace_with_any_formula_and_budget(
    seed: int, k: int, clock: Clock
) -> None:
    trace = some_trace(seed)
    formula = Formula(tuple(grown(Random(seed), Language(ALL), 7, is_full=seed % 2 == 0)))
    found = by_classes(trace, formula, k, seed, clock)
    assert found == by_policy(trace, formula, k, seed, clock)


@given(st.integers(0, 10**6), st.floats(0.05, 1.0), st.sampled_from(["ndcg", "changerate"]))
@settings(max_examples=60, deadline=None)
def test_only_a_crawl_that_cannot_reach_the_floor_is_given_up(
    seed: int, floor: float, measure: Measure
) -> None:
    crawled = crawl_of(some_trace(seed, cycles=30), 6, seed)
    formula = Formula(tuple(grown(Random(seed), Language(ALL), 4, is_full=True)))
    whole = crawled.run(formula, measure=measure)
    result = crawled.run(formula, measure=measure, floor=floor)
    assert not whole.stopped
    if result.stopped:
        assert whole.fitness <= result.fitness < floor
        assert len(result.found) < len(whole.found)
    else:
        assert result.fitness == whole.fitness


def test_a_crawl_that_finds_nothing_is_given_up() -> None:
    changed = np.zeros((40, 50), np.bool_)
    changed[0] = True
    trace = packed("one busy page", Keys(*(np.zeros(40, np.uint64),) * 3), changed)
    assert crawl_of(trace, 1, 0).run(parse("0 - X", ALL), floor=0.5).stopped
    assert not crawl_of(trace, 1, 0).run(parse("X", ALL), floor=0.5).stopped


def test_fitness_is_the_mean_that_the_measures_give() -> None:
    trace, k = some_trace(11, pages=300, cycles=40), 15
    formula = parse("t * X", ALL)
    scored = score(crawl(trace, Ranked("some", formula), k), trace.pages.importance, k)
    crawled = crawl_of(trace, k, 0)
    assert crawled.run(formula, measure="changerate").fitness == pytest.approx(scored.changerate)
    assert crawled.run(formula).fitness == pytest.approx(scored.ndcg, abs=0.02)


@pytest.mark.parametrize("measure", ["ndcg", "changerate"])
@pytest.mark.parametrize("seed", range(20))
def test_a_crawl_that_can_just_reach_the_floor_goes_on(seed: int, measure: Measure) -> None:
    crawled = crawl_of(some_trace(seed, cycles=30), 6, seed)
    formula = parse("0 - X", ALL)
    bound = crawled.run(formula, measure=measure, floor=0.9).fitness
    for _ in range(3):
        result = crawled.run(formula, measure=measure, floor=bound)
        assert not result.stopped or result.fitness < bound
        bound = result.fitness


def expected_gain(found: Truths, scores: Floats) -> float:
    """Add up the discounts of finds, each that of the mean place of its score."""
    weights = discount(len(scores))
    return sum(
        float(found[scores == score].mean() * weights[scores == score].sum())
        for score in set(scores.tolist())
    )


class Noting(Ranked):
    """Remembers the values of its last choice."""

    values: Floats

    def choose(self, now: datetime, k: int, caps: Caps) -> Choices:
        choices = super().choose(now, k, caps)
        self.values = choices.values
        return choices


@pytest.mark.parametrize("text", FORMULAS)
def test_the_gain_is_the_mean_over_the_order_of_pages_with_equal_scores(text: str) -> None:
    trace, policy = some_trace(5), Noting(text, parse(text, ALL), seed=1)
    gains = [expected_gain(cycle.found, policy.values) for cycle in crawl(trace, policy, 12)]
    assert crawl_of(trace, 12, 1).run(parse(text, ALL)).gain.tolist() == pytest.approx(gains)
