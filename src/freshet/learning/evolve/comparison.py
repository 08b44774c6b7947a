"""Comparison of a learned formula with other policies, on pages that it was not learned from."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import partial
from math import fsum
from statistics import fmean
from typing import Any

import numpy as np

from freshet.backtest.cycle_crawl import Selector, crawl_in_cycles, visits_per_cycle
from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.backtest.fitness import FitnessMixture, parse_fitness
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
COMPARED_MEASURES = ("changerate", "ndcg", "freshness", "weighted_freshness", "links_detected")
COMPARED_BY_FITNESS = {"links": "links_detected"}


@dataclass(frozen=True, slots=True)
class MeanTestResult:
    """The mean results of a policy over folds, with the margins of 95 % confidence intervals.

    One or two folds have no margins: those of two would be wider than the range of the measures.
    """

    policy: str
    changerate: float
    changerate_ci: float | None
    ndcg: float
    ndcg_ci: float | None
    freshness: float
    freshness_ci: float | None
    weighted_freshness: float
    weighted_freshness_ci: float | None
    links_detected: float
    links_detected_ci: float | None

    def fitness(self, mixture: FitnessMixture) -> float:
        """Return the mixture of the measures by which results are ranked."""
        measures = (
            (getattr(self, COMPARED_BY_FITNESS.get(name, name)), weight)
            for name, weight in asdict(mixture).items()
        )
        return fsum(weight * value for value, weight in measures if weight)


def compared_policies(clock: WeightClock) -> tuple[str, ...]:
    """Return the policies to compare with; for the clock ``cycle`` also those weighted by cycle.

    >>> compared_policies("cycle")[-4:]
    ('nad-cycle', 'sad-cycle', 'aad-cycle', 'gad-cycle')
    """
    by_cycle = policies.CYCLE_POLICY_NAMES if clock == "cycle" else ()
    return (*COMPARED_POLICIES, *by_cycle)


def compare_policies(
    trace: Trace, learned: FormulaRanking, budget: float, pool: Executor
) -> tuple[PolicyTestResult, ...]:
    """Return the results of a learned formula, other policies and oracles on the same pages."""
    k = visits_per_cycle(budget, len(trace.pages))
    makers: dict[str, Callable[[int], Selector]] = {
        LEARNED_POLICY: lambda seed: policies.make_policy(learned, seed=seed)
    }
    for name in compared_policies(learned.clock):
        makers[name] = partial(make_selector, name, trace)
    runs = [(make, seed) for make in makers.values() for seed in range(1, COMPARISON_SEEDS + 1)]
    metrics = list(pool.map(lambda run: _run(trace, run[0](run[1]), k), runs))
    return tuple(
        _mean_over_seeds(name, metrics[number * COMPARISON_SEEDS :][:COMPARISON_SEEDS])
        for number, name in enumerate(makers)
    )


def _run(trace: Trace, selector: Selector, k: int) -> BacktestMetrics:
    return measure_crawl(crawl_in_cycles(trace, selector, k), trace.pages.importance, k)


def _mean_over_seeds(name: str, metrics: Sequence[BacktestMetrics]) -> PolicyTestResult:
    means = (
        _one_nan(fmean(getattr(seed_metrics, measure) for seed_metrics in metrics))
        for measure in COMPARED_MEASURES
    )
    return PolicyTestResult(name, *means)


def _one_nan(value: float) -> float:
    """Return a value; NaN is always the same object, so that equal results compare equal."""
    return math.nan if math.isnan(value) else value


def mean_results(
    folds: Sequence[Sequence[PolicyTestResult]], measure: str
) -> tuple[MeanTestResult, ...]:
    """Return the mean results of every policy over folds, the best by the fitness first."""
    means = [_mean_over_folds(results) for results in zip(*folds, strict=True)]
    mixture = parse_fitness(measure)
    return tuple(sorted(means, key=lambda result: -result.fitness(mixture)))


def _mean_over_folds(results: Sequence[PolicyTestResult]) -> MeanTestResult:
    """Return the means and margins of one policy's results."""
    figures: list[Any] = []
    for measure in COMPARED_MEASURES:
        values = np.array([getattr(result, measure) for result in results])
        interval = confidence_interval(values)
        has_margin = len(results) >= MIN_INTERVAL_FOLDS
        figures += [_one_nan(interval.mean), _one_nan(interval.margin) if has_margin else None]
    return MeanTestResult(results[0].policy, *figures)
