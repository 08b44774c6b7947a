"""Back-test policies: let each crawl the same trace within the same budgets, and score them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from freshet.archive.exporters import table
from freshet.backtest import Trace, selectors, simulate
from freshet.backtest.cycle_crawl import WARM_UP_CYCLES, CycleResult
from freshet.backtest.metrics import COMPARED_METRICS, BacktestMetrics, MetricCurves
from freshet.backtest.significance import (
    ConfidenceInterval,
    confidence_interval,
    count_cycle_wins,
    paired_difference,
)
from freshet.core.errors import UsageError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.types import FloatArray


@dataclass(frozen=True, slots=True)
class PolicyComparison:
    """How one measure compares with another policy's, cycle by cycle.

    ``difference`` is the mean over the cycles with its 95 % ``margin``, ``p`` of the paired test
    over cycles; a cycle is ``won`` or ``lost`` where the seeds agree on it.
    """

    policy: str
    measure: str
    difference: float
    margin: float
    p: float
    won: int
    lost: int
    tied: int
    won_by: float
    lost_by: float


@dataclass(frozen=True, slots=True)
class BacktestRow:
    """How one policy did on a trace with one budget, in means over seeds.

    ``budget`` is the share of the pages visited in a cycle; the measures are those of ``BacktestMetrics``,
    NaN where there is none. What ends in ``_ci`` is half the width of the 95 % interval of the mean
    over seeds, NaN for a single one. ``imputed`` says that changes of the trace were guessed.
    """

    policy: str
    trace: str
    budget: float
    seeds: int
    pages: int
    cycles: int
    imputed: bool
    changerate: float
    ndcg: float
    freshness: float
    weighted_freshness: float
    stale_age: float
    time_to_detection: float
    time_waited: float
    detected: float
    new_links: float
    links_detected: float
    unranked: float
    changerate_ci: float
    ndcg_ci: float
    freshness_ci: float
    weighted_freshness_ci: float
    stale_age_ci: float
    time_to_detection_ci: float
    time_waited_ci: float
    detected_ci: float
    new_links_ci: float
    links_detected_ci: float
    against: tuple[PolicyComparison, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """How one policy did with one budget: its curves, one of each seed.

    A policy goes by the name that it was asked for, so that a program finds what it asked for.
    """

    policy: str
    budget: float
    runs: tuple[MetricCurves, ...]

    def to_row(self, trace: Trace, rival: "PolicyResult | None" = None) -> BacktestRow:
        """Return its means over the seeds, and how they compare with a rival's."""
        scores = [run.overall() for run in self.runs]
        told = (
            () if rival is None else tuple(self.compare(rival, name) for name in COMPARED_METRICS)
        )
        known = tuple(each for each in told if each.won + each.lost + each.tied)
        return result_row(trace, self.policy, self.budget, scores, against=known)

    def compare(self, rival: "PolicyResult", measure: str) -> PolicyComparison:
        """Compare one measure with a rival's on the same trace and budget."""
        ours, theirs = self.metric_values(measure), rival.metric_values(measure)
        pairs = paired_difference(ours.mean(axis=0), theirs.mean(axis=0))
        cycles = count_cycle_wins(ours, theirs)
        return PolicyComparison(
            policy=rival.policy,
            measure=measure,
            difference=pairs.difference,
            margin=pairs.margin,
            p=pairs.p,
            won=cycles.won,
            lost=cycles.lost,
            tied=cycles.tied,
            won_by=cycles.won_by,
            lost_by=cycles.lost_by,
        )

    def metric_values(self, measure: str) -> FloatArray:
        """Return a measure of every cycle, a row per seed."""
        return np.stack([run.column(measure) for run in self.runs])


def run_policies(
    trace: Trace,
    names: Sequence[str],
    budgets: Sequence[float],
    *,
    seeds: int = 3,
    progress: ProgressCallback = ignore_progress,
) -> Iterator[PolicyResult]:
    """Yield how every policy did with every budget, cycle by cycle."""
    check_request(names, budgets, seeds)
    measured = trace.cycles - WARM_UP_CYCLES
    total = len(budgets) * len(names) * seeds * measured
    for number, (budget, name) in enumerate((each, name) for each in budgets for name in names):
        begun = number * seeds * measured
        runs = []
        for seed in range(1, seeds + 1):
            told = partial(_tell, progress, begun + (seed - 1) * measured, total)
            policy = selectors.make_selector(name, trace, seed)
            runs.append(simulate(trace, policy, budget, on_cycle=told))
        yield PolicyResult(name, budget, tuple(runs))


def result_rows(
    trace: Trace, found: Sequence[PolicyResult], *, against: str = ""
) -> list[BacktestRow]:
    """Return a row for every result, compared with that of one policy where one is named."""
    rivals = {each.budget: each for each in found if each.policy == against}
    return [
        each.to_row(trace, rivals.get(each.budget) if each.policy != against else None)
        for each in found
    ]


def check_curves_path(path: Path | None) -> None:
    """Refuse a file that curves cannot be written to."""
    if path is not None:
        table.check_table_path(path)


def write_curves(path: Path | None, found: Sequence[PolicyResult]) -> None:
    """Write the measures of every policy, budget, seed and cycle as a table."""
    if path is None:
        return
    rows = [
        {"policy": result.policy, "budget": result.budget, "seed": seed} | asdict(cycle)
        for result in found
        for seed, run in enumerate(result.runs, 1)
        for cycle in run.cycles
    ]
    table.write(path, {name: [row[name] for row in rows] for name in rows[0]})


def check_request(names: Sequence[str], budgets: Sequence[float], seeds: int) -> None:
    """Refuse policies that do not exist and budgets that cannot be spent."""
    for name in names:
        selectors.check_name(name)
    for budget in budgets:
        if not 0.0 < budget <= 1.0:
            raise UsageError(f"budget {budget:.4g} of the pages: it must be above 0 and at most 1")
    if seeds < 1:
        raise UsageError(f"{seeds} seeds: at least 1 is needed")


def result_row(
    trace: Trace,
    name: str,
    budget: float,
    scores: Sequence[BacktestMetrics],
    *,
    against: tuple[PolicyComparison, ...] = (),
) -> BacktestRow:
    """Return the means of scores, one of each seed, with their intervals."""
    around = {each.name: _interval(scores, each.name) for each in fields(BacktestMetrics)}
    figures: dict[str, Any] = {name: found.mean for name, found in around.items()}
    figures |= {f"{name}_ci": around[name].margin for name in figures if name != "unranked"}
    return BacktestRow(
        policy=name,
        trace=trace.name,
        budget=budget,
        seeds=len(scores),
        pages=len(trace.pages),
        cycles=trace.cycles,
        imputed=trace.is_imputed,
        against=against,
        **figures,
    )


def _interval(scores: Sequence[BacktestMetrics], measure: str) -> ConfidenceInterval:
    return confidence_interval(np.array([getattr(each, measure) for each in scores], np.float64))


def _tell(progress: ProgressCallback, begun: int, total: int, cycle: CycleResult) -> None:
    progress(begun + cycle.number - WARM_UP_CYCLES + 1, total)
