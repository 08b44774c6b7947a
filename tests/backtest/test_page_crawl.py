"""The crawl page by page selects the same pages as the policy of the formula."""

from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.backtest.class_crawl.history_class_crawl import HistoryClassCrawl
from freshet.backtest.cycle_crawl import crawl_in_cycles, cycle_time
from freshet.backtest.metrics import measure_crawl
from freshet.backtest.page_crawl import PageCrawl
from freshet.backtest.trace import Trace
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, IndexArray
from freshet.formula.expression import Formula, parse_formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock
from freshet.learning.evolve.genetic_operators import PrimitiveSet, random_tree
from freshet.schedule.formulas.cycle_formula_policy import CycleFormulaPolicy
from freshet.schedule.formulas.extended_formula_policy import VARIABLES_BY_TERMINAL_SET
from freshet.schedule.policies import FormulaRanking, make_policy
from freshet.schedule.top_k import tie_break_key
from tests.backtest.traces import by_chance, choices, in_groups

PAGES, CYCLES, K = 90, 30, 7
EXTENDED = VARIABLES_BY_TERMINAL_SET["extended"]
FORMULAS = (
    "chance",
    "rate * t",
    "around",
    "quiet",
    "weekday",
    "1 - exp(0 - rate * around)",
    "chance * (1 + weekday) + AAD / (quiet + n)",
)


class RecordingPolicy(CycleFormulaPolicy):
    """Remembers its selections."""

    chosen: list[list[int]]

    def choose_in_cycle(self, cycle: int, k: int) -> tuple[IndexArray, FloatArray]:
        pages, values = super().choose_in_cycle(cycle, k)
        self.chosen.append(pages.tolist())
        return pages, values


def some_trace(seed: int = 3) -> Trace:
    return in_groups(by_chance(PAGES, CYCLES, seed=seed))


def grown_formula(seed: int) -> Formula:
    return Formula(
        tuple(random_tree(Random(seed), PrimitiveSet(EXTENDED), 6, is_full=seed % 2 == 0))
    )


def by_page(
    trace: Trace, formula: Formula, k: int, seed: int, clock: WeightClock
) -> list[list[int]]:
    ranker = RecordingPolicy(trace.pages, formula, clock=clock, seed=seed)
    ranker.chosen = []
    PageCrawl(trace, k, lambda _: ranker).run(formula)
    return ranker.chosen


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("clock", ["visit", "cycle"])
def test_a_crawl_page_by_page_visits_what_the_policy_visits_in_the_same_order(
    text: str, clock: WeightClock
) -> None:
    trace, formula = some_trace(), parse_formula(text, EXTENDED)
    chosen = by_page(trace, formula, K, 5, clock)
    assert chosen == choices(trace, make_policy(FormulaRanking(formula, clock), seed=5), K)
    assert len({tuple(each) for each in chosen}) > 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, PAGES), st.sampled_from(["visit", "cycle"]))
def test_the_results_agree_on_any_trace_with_any_formula_and_budget(
    seed: int, k: int, clock: WeightClock
) -> None:
    trace, formula = some_trace(seed), grown_formula(seed)
    policy = make_policy(FormulaRanking(formula, clock), seed=seed)
    assert by_page(trace, formula, k, seed, clock) == choices(trace, policy, k)


def crawl_of(trace: Trace, k: int = K, seed: int = 0) -> PageCrawl:
    return PageCrawl(trace, k, partial(CycleFormulaPolicy, trace.pages, seed=seed))


def test_its_fitness_is_the_mean_that_the_measures_give() -> None:
    trace, formula = some_trace(), parse_formula("chance + n / 1000000", EXTENDED)
    scored = measure_crawl(
        crawl_in_cycles(trace, make_policy(FormulaRanking(formula)), K), trace.pages.importance, K
    )
    crawled = crawl_of(trace)
    assert crawled.run(formula, measure="changerate").fitness == pytest.approx(scored.changerate)
    assert crawled.run(formula).fitness == pytest.approx(scored.ndcg, abs=0.02)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["ndcg", "changerate"]))
def test_with_the_papers_variables_it_equals_the_crawl_by_classes(seed: int, measure: str) -> None:
    trace = some_trace(seed)
    formula = Formula(
        tuple(random_tree(Random(seed), PrimitiveSet(PAPER_VARIABLES), 4, is_full=True))
    )
    keys = [tie_break_key(seed, cycle_time(cycle).timestamp()) for cycle in range(trace.cycles)]
    classes = HistoryClassCrawl(trace, K, np.array(keys, np.uint64)).run(formula, measure=measure)
    pages = crawl_of(trace, seed=seed).run(formula, measure=measure)
    assert pages.fitness == pytest.approx(classes.fitness)
    for column in ("changes_found", "stale_before", "stale_after", "ideal_gain"):
        assert getattr(pages, column).tolist() == getattr(classes, column).tolist()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 1.0), st.sampled_from(["ndcg", "changerate"]))
def test_only_a_crawl_that_cannot_reach_the_floor_is_stopped(
    seed: int, floor: float, measure: str
) -> None:
    crawled, formula = crawl_of(some_trace(seed), seed=seed), grown_formula(seed)
    full_result = crawled.run(formula, measure=measure)
    result = crawled.run(formula, measure=measure, floor=floor)
    assert not full_result.is_stopped
    if result.is_stopped:
        assert full_result.fitness <= result.fitness < floor
        assert len(result.changes_found) < len(full_result.changes_found)
    else:
        assert result.fitness == full_result.fitness


class FixedRanking(CycleFormulaPolicy):
    """Ranks two of four pages alike, before a third."""

    def __init__(self) -> None:
        pass

    def choose_in_cycle(self, cycle: int, k: int) -> tuple[IndexArray, FloatArray]:
        return np.array([2, 0, 1], np.int32), np.array([5.0, 5.0, 4.0])

    def learn_in_cycle(self, cycle: int, pages: IndexArray, changed: BoolArray) -> None:
        return


def test_a_change_among_equal_values_gains_the_mean_of_their_ranks() -> None:
    changed = np.zeros((4, 3), np.bool_)
    changed[0, 2] = True
    result = PageCrawl(in_groups(changed), 3, lambda _: FixedRanking()).run(
        parse_formula("t", PAPER_VARIABLES)
    )
    assert result.gain.tolist() == pytest.approx([(1 + 1 / np.log(3)) / 2])
    assert result.ideal_gain.tolist() == [1.0]
