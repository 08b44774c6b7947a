"""Compare policies: each crawls the same trace with the same budgets and is scored."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freshet.backtest import Trace, selectors, simulate
from freshet.backtest.cycle_crawl import warm_up_cycles
from freshet.backtest.metrics import (
    COMPARED_METRICS,
    UNDEFINED,
    BacktestMetrics,
    CrawledPageFigures,
    MetricCurves,
    sum_page_figures,
)
from freshet.backtest.page_bootstrap import BootstrapInterval, PageBootstrap
from freshet.backtest.significance import (
    ConfidenceInterval,
    confidence_interval,
    count_cycle_wins,
    paired_difference,
)
from freshet.backtest.site_wide_days import SiteWideDays
from freshet.core.errors import UsageError
from freshet.core.extras import OptionalPackage
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.types import FloatArray

if TYPE_CHECKING:
    from freshet.archive.exporters import table
else:
    table = OptionalPackage("freshet.archive.exporters.table", extra="parquet")

NO_INTERVAL = BootstrapInterval(UNDEFINED, UNDEFINED, UNDEFINED)


@dataclass(frozen=True, slots=True)
class PolicyComparison:
    """Comparison of one metric with another policy's, cycle by cycle.

    ``difference`` is the mean over the cycles with its 95 % ``margin``, ``p`` the p-value of the
    paired test over cycles. A cycle is ``won`` or ``lost`` if the test over seeds finds a
    difference. ``low`` and ``high`` are the bootstrap interval of the difference over pages; NaN
    for metrics without one.
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
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BacktestRow:
    """Metrics of one policy on a trace with one budget, as means over seeds.

    ``budget`` is the share of the pages visited in a cycle. The metrics are those of
    ``BacktestMetrics``, NaN where there is no value. Fields that end in ``_ci`` are half the width
    of the 95 % interval of the mean over seeds, NaN for a single seed. ``imputed`` says that
    unknown changes of the trace were imputed, ``cold`` that the crawl had no warm-up,
    ``importance_ignored`` that policies and oracles took all pages as equally important.
    ``site_wide_days`` counts the days on which a whole site changed, and ``site_wide_days_dropped``
    says whether the trace lacks them. Fields that end in ``_low`` and ``_high`` are the bootstrap
    interval over pages, and ``resampled`` says what it resamples.
    """

    policy: str
    trace: str
    budget: float
    seeds: int
    pages: int
    cycles: int
    imputed: bool
    cold: bool
    importance_ignored: bool
    site_wide_days: int
    site_wide_days_dropped: bool
    changerate: float
    weighted_changerate: float
    ndcg: float
    freshness: float
    weighted_freshness: float
    stale_age: float
    time_to_detection: float
    time_waited: float
    detected: float
    links_found: float
    new_links: float
    links_detected: float
    unranked: float
    changerate_ci: float
    weighted_changerate_ci: float
    ndcg_ci: float
    freshness_ci: float
    weighted_freshness_ci: float
    stale_age_ci: float
    time_to_detection_ci: float
    time_waited_ci: float
    detected_ci: float
    links_found_ci: float
    new_links_ci: float
    links_detected_ci: float
    changerate_low: float
    changerate_high: float
    freshness_low: float
    freshness_high: float
    resampled: str
    against: tuple[PolicyComparison, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """Metric curves of one policy with one budget, one for each seed.

    ``policy`` is the name that the caller gave. ``cold`` crawls had no warm-up.
    """

    policy: str
    budget: float
    runs: tuple[MetricCurves, ...]
    cold: bool = False

    def to_row(
        self,
        trace: Trace,
        baseline: "PolicyResult | None" = None,
        measures: Sequence[str] = COMPARED_METRICS,
    ) -> BacktestRow:
        """Return the means over the seeds, and the comparison of measures with a baseline."""
        bootstrap = PageBootstrap(trace.pages.sites)
        comparisons = () if baseline is None else self.compare(baseline, bootstrap, measures)
        return _result_row(trace, self, bootstrap, comparisons)

    def page_figures(self) -> CrawledPageFigures:
        """Return the figures of the pages over all seeds."""
        return sum_page_figures([run.page_figures for run in self.runs if run.page_figures])

    def compare(
        self,
        baseline: "PolicyResult",
        bootstrap: PageBootstrap,
        measures: Sequence[str] = COMPARED_METRICS,
    ) -> tuple[PolicyComparison, ...]:
        """Compare every measure that has values with a baseline's on the same trace and budget."""
        intervals = bootstrap.differences(self.page_figures(), baseline.page_figures())
        by_measure = {"changerate": intervals.changerate, "freshness": intervals.freshness}
        comparisons = (
            self._compare(baseline, name, by_measure.get(name, NO_INTERVAL)) for name in measures
        )
        return tuple(
            comparison
            for comparison in comparisons
            if comparison.won + comparison.lost + comparison.tied
        )

    def _compare(
        self, baseline: "PolicyResult", measure: str, interval: BootstrapInterval
    ) -> PolicyComparison:
        """Compare one metric with a baseline's."""
        ours, theirs = self.metric_values(measure), baseline.metric_values(measure)
        difference = paired_difference(ours.mean(axis=0), theirs.mean(axis=0))
        wins = count_cycle_wins(ours, theirs)
        return PolicyComparison(
            policy=baseline.policy,
            measure=measure,
            difference=difference.difference,
            margin=difference.margin,
            p=difference.p,
            won=wins.won,
            lost=wins.lost,
            tied=wins.tied,
            won_by=wins.won_by,
            lost_by=wins.lost_by,
            low=interval.low,
            high=interval.high,
        )

    def metric_values(self, measure: str) -> FloatArray:
        """Return a metric of every cycle, a row per seed."""
        return np.stack([run.column(measure) for run in self.runs])


def run_policies(
    trace: Trace,
    names: Sequence[str],
    budgets: Sequence[float],
    *,
    seeds: int = 3,
    cold: bool = False,
    progress: ProgressCallback = ignore_progress,
) -> Iterator[PolicyResult]:
    """Yield the result of every policy with every budget; a ``cold`` crawl has no warm-up."""
    check_request(names, budgets, seeds)
    measured_cycles = trace.cycles - warm_up_cycles(cold=cold)
    on_cycle = cycle_counter(progress, len(budgets) * len(names) * seeds * measured_cycles)
    for budget, name in product(budgets, names):
        runs = (
            simulate(
                trace,
                selectors.make_selector(name, trace, seed),
                budget,
                cold=cold,
                on_cycle=on_cycle,
            )
            for seed in range(1, seeds + 1)
        )
        yield PolicyResult(name, budget, tuple(runs), cold)


def cycle_counter(progress: ProgressCallback, total: int) -> Callable[[object], None]:
    """Return a callback that reports one more finished cycle at every call."""
    numbers = count(1)
    return lambda cycle: progress(next(numbers), total)


def result_rows(
    trace: Trace,
    results: Sequence[PolicyResult],
    *,
    against: str = "",
    measures: Sequence[str] = COMPARED_METRICS,
) -> list[BacktestRow]:
    """Return a row for every result, compared with the policy ``against`` if one is named."""
    baselines = {result.budget: result for result in results if result.policy == against}
    return [
        result.to_row(
            trace, baselines.get(result.budget) if result.policy != against else None, measures
        )
        for result in results
    ]


def check_curves_path(path: Path | None) -> None:
    """Reject a file to which curves cannot be written."""
    if path is not None:
        table.check_table_path(path)


def write_curves(path: Path | None, results: Sequence[PolicyResult]) -> None:
    """Write the metrics of every policy, budget, seed and cycle as a table."""
    if path is None:
        return
    rows = [
        {"policy": result.policy, "budget": result.budget, "seed": seed} | asdict(cycle)
        for result in results
        for seed, run in enumerate(result.runs, 1)
        for cycle in run.cycles
    ]
    table.write(path, {name: [row[name] for row in rows] for name in rows[0]})


def check_request(names: Sequence[str], budgets: Sequence[float], seeds: int) -> None:
    """Reject unknown policies, impossible budgets and fewer than one seed."""
    for name in names:
        selectors.check_name(name)
    for budget in budgets:
        if not 0.0 < budget <= 1.0:
            raise UsageError(f"budget {budget:.4g} of the pages: it must be above 0 and at most 1")
    if seeds < 1:
        raise UsageError(f"{seeds} seeds: at least 1 is needed")


def _result_row(
    trace: Trace,
    result: PolicyResult,
    bootstrap: PageBootstrap,
    comparisons: tuple[PolicyComparison, ...],
) -> BacktestRow:
    """Return the means of the metrics of several seeds, with their intervals."""
    metrics = [run.overall() for run in result.runs]
    page_intervals = bootstrap.intervals(result.page_figures())
    site_wide_days = trace.site_wide_days or SiteWideDays()
    intervals = {field.name: _interval(metrics, field.name) for field in fields(BacktestMetrics)}
    figures: dict[str, Any] = {name: interval.mean for name, interval in intervals.items()}
    figures |= {f"{name}_ci": intervals[name].margin for name in figures if name != "unranked"}
    return BacktestRow(
        policy=result.policy,
        trace=trace.name,
        budget=result.budget,
        seeds=len(metrics),
        pages=len(trace.pages),
        cycles=trace.cycles,
        imputed=trace.is_imputed,
        cold=result.cold,
        importance_ignored=trace.measured_importance is not None,
        site_wide_days=len(site_wide_days.days),
        site_wide_days_dropped=site_wide_days.are_dropped,
        changerate_low=page_intervals.changerate.low,
        changerate_high=page_intervals.changerate.high,
        freshness_low=page_intervals.freshness.low,
        freshness_high=page_intervals.freshness.high,
        resampled=bootstrap.unit,
        against=comparisons,
        **figures,
    )


def _interval(metrics: Sequence[BacktestMetrics], metric: str) -> ConfidenceInterval:
    return confidence_interval(
        np.array([getattr(values, metric) for values in metrics], np.float64)
    )
