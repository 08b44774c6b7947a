"""The place of a learned formula among the usual rules, on pages that it was not learnt from."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from freshet.backtest.cycle_crawl import Selector, crawl_in_cycles, visits_per_cycle
from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.backtest.metrics import BacktestMetrics, measure_crawl
from freshet.backtest.selectors import make_selector
from freshet.backtest.significance import confidence_interval
from freshet.backtest.trace import Trace
from freshet.formula.variables import WeightClock
from freshet.schedule import policies
from freshet.schedule.model_file import PolicyTestResult
from freshet.schedule.policies import FormulaRanking

LEARNED_POLICY = "learned"
COMPARED_POLICIES = (
    "rand",
    "age",
    "cg",
    "nad",
    "sad",
    "aad",
    "gad",
    "t * X",
    *policies.BAYES_POLICIES,
    *CYCLE_ORACLES,
)
COMPARISON_SEEDS = 3
MIN_INTERVAL_FOLDS = 3
COMPARED_MEASURES = ("changerate", "ndcg", "freshness")


@dataclass(frozen=True, slots=True)
class MeanTestResult:
    """What a policy reached in the mean over folds; the margins are those of 95 % intervals.

    One or two folds have no margins: those of two would be wider than the measures.
    """

    policy: str
    changerate: float
    changerate_ci: float | None
    ndcg: float
    ndcg_ci: float | None
    freshness: float
    freshness_ci: float | None


def compared_policies(clock: WeightClock) -> tuple[str, ...]:
    """Return whom a learned formula is held against: by cycle, those that weigh so as well.

    >>> compared_policies("cycle")[-4:]
    ('nad-cycle', 'sad-cycle', 'aad-cycle', 'gad-cycle')
    """
    return (
        (*COMPARED_POLICIES, *policies.CYCLE_POLICY_NAMES)
        if clock == "cycle"
        else COMPARED_POLICIES
    )


def compare_policies(
    trace: Trace, learned: FormulaRanking, budget: float, pool: Executor
) -> tuple[PolicyTestResult, ...]:
    """Let a learned formula, the classic rules and the ceilings crawl the same pages."""
    k = visits_per_cycle(budget, len(trace.pages))
    makers: dict[str, Callable[[int], Selector]] = {
        LEARNED_POLICY: lambda seed: policies.make_policy(learned, seed=seed)
    }
    for name in compared_policies(learned.clock):
        makers[name] = partial(make_selector, name, trace)
    runs = [(make, seed) for make in makers.values() for seed in range(1, COMPARISON_SEEDS + 1)]
    scores = list(pool.map(lambda run: _score(trace, run[0](run[1]), k), runs))
    return tuple(
        _standing(name, scores[number * COMPARISON_SEEDS : (number + 1) * COMPARISON_SEEDS])
        for number, name in enumerate(makers)
    )


def _score(trace: Trace, chooser: Selector, k: int) -> BacktestMetrics:
    return measure_crawl(crawl_in_cycles(trace, chooser, k), trace.pages.importance, k)


def _standing(name: str, scores: Sequence[BacktestMetrics]) -> PolicyTestResult:
    return PolicyTestResult(
        name, *(fmean(getattr(each, of) for each in scores) for of in COMPARED_MEASURES)
    )


def mean_results(
    folds: Sequence[Sequence[PolicyTestResult]], measure: str
) -> tuple[MeanTestResult, ...]:
    """Return the mean place of every policy over folds, the best by a measure first."""
    found = [_place(name, each) for name, each in _by_policy(folds)]
    return tuple(sorted(found, key=lambda place: -getattr(place, measure)))


def _by_policy(
    folds: Sequence[Sequence[PolicyTestResult]],
) -> list[tuple[str, tuple[PolicyTestResult, ...]]]:
    return [(each[0].policy, each) for each in zip(*folds, strict=True)]


def _place(policy: str, standings: Sequence[PolicyTestResult]) -> MeanTestResult:
    """Return the means of a policy's standings with their margins."""
    figures: list[Any] = []
    for of in COMPARED_MEASURES:
        around = confidence_interval(np.array([getattr(each, of) for each in standings]))
        figures += [around.mean, around.margin if len(standings) >= MIN_INTERVAL_FOLDS else None]
    return MeanTestResult(policy, *figures)
