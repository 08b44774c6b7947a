"""Metrics of a simulated crawl: changes found, their order, and the freshness of the copies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from freshet.backtest.cycle_crawl import CycleResult
from freshet.backtest.kernels import copies as kernels
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, IndexArray

UNDEFINED = float("nan")
COMPARED_METRICS = ("changerate", "ndcg", "freshness")
"""The metrics by which policies are compared."""
WEIGHTED_METRICS = ("weighted_changerate", "weighted_freshness")
"""The metrics that weigh pages by importance; without importance they equal the plain ones."""


@dataclass(frozen=True, slots=True)
class BacktestMetrics:
    """Metrics of one crawl: means over its cycles, except those of single changes.

    ``changerate`` is the share of visits that found a change. ``weighted_changerate`` is the
    importance of the changed pages found per visit, where the mean importance of all pages is 1; it
    can be above 1. ``ndcg`` measures how early in each cycle's order the changed pages came,
    against an order that knows every stale copy. ``freshness`` is the share of pages whose copy
    equals the page at the end of a cycle, ``weighted_freshness`` the same weighted by importance.
    ``stale_age`` is the number of cycles since the first change that a stale copy misses.
    ``unranked`` counts the cycles without a stale copy, which ``ndcg`` leaves out. A page without a
    copy, which only a cold crawl has, is not fresh, but it is not a stale copy either.

    A change is a changed cell; a visit finds all changes since the previous visit. ``detected`` is
    the share of all changes that were found. ``time_to_detection`` is the mean number of cycles
    from a change to the visit that found it. A policy that never visits slow pages looks quick by
    that measure, so ``time_waited`` covers every change: a change not found by the last cycle
    counts with the cycles it has waited so far, a lower bound. The changes of a page before its
    first visit are left out, because no visit can find them.

    ``links_found`` is the number of new links found, ``new_links`` the mean number per visit and
    ``links_detected`` the share of all new links; they are NaN if the trace has no link counts.
    """

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
    unranked: int


@dataclass(frozen=True, slots=True)
class CycleMetrics:
    """Metrics of one cycle, as in ``BacktestMetrics``; NaN where the cycle has no value.

    ``time_to_detection`` covers the changes found in this cycle; ``time_waited``, ``detected`` and
    ``links_detected`` cover all changes up to this cycle. ``visits``, ``changes_found`` and
    ``links_found`` are counts.
    """

    cycle: int
    visits: int
    changes_found: int
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


@dataclass(frozen=True, slots=True)
class CrawledPageFigures:
    """Figures of every page over the cycles that count.

    ``changes_found`` counts the visits that found a change. ``fresh_shares`` are shares of the
    cycles, or in continuous time of the time, in which the copy was fresh.
    """

    visits: IndexArray
    changes_found: IndexArray
    fresh_shares: FloatArray


def sum_page_figures(runs: Sequence[CrawledPageFigures]) -> CrawledPageFigures:
    """Return the sums of visits and changes over several crawls, and the means of fresh shares."""
    return CrawledPageFigures(
        np.sum([run.visits for run in runs], axis=0),
        np.sum([run.changes_found for run in runs], axis=0),
        np.mean([run.fresh_shares for run in runs], axis=0),
    )


@dataclass(frozen=True, slots=True)
class MetricCurves:
    """Metrics of a crawl cycle by cycle, and figures of its pages."""

    cycles: tuple[CycleMetrics, ...]
    page_figures: CrawledPageFigures | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.cycles)

    def column(self, name: str) -> FloatArray:
        """Return one metric of every cycle."""
        return np.array([getattr(metrics, name) for metrics in self.cycles], np.float64)

    def overall(self) -> BacktestMetrics:
        """Return the metrics of the whole crawl."""
        change_counts = self.column("changes_found")
        waited_cycles = np.nansum(self.column("time_to_detection") * change_counts)
        return BacktestMetrics(
            changerate=self._mean("changerate"),
            weighted_changerate=self._mean("weighted_changerate"),
            ndcg=self._mean("ndcg"),
            freshness=self._mean("freshness"),
            weighted_freshness=self._mean("weighted_freshness"),
            stale_age=self._mean("stale_age"),
            time_to_detection=_ratio(waited_cycles, change_counts.sum()),
            time_waited=self._last("time_waited"),
            detected=self._last("detected"),
            links_found=float(self.column("links_found").sum()),
            new_links=self._mean("new_links"),
            links_detected=self._last("links_detected"),
            unranked=int(np.count_nonzero(np.isnan(self.column("ndcg")))),
        )

    def _last(self, name: str) -> float:
        """Return the last cycle's value of a cumulative metric."""
        return float(getattr(self.cycles[-1], name)) if self.cycles else UNDEFINED

    def _mean(self, name: str) -> float:
        """Return the mean over the cycles that have a value."""
        values = self.column(name)
        return fmean(values[~np.isnan(values)]) if not np.isnan(values).all() else UNDEFINED


def measure_crawl(cycles: Iterable[CycleResult], importance: FloatArray, k: int) -> BacktestMetrics:
    """Return the metrics of a crawl with k visits a cycle."""
    return measure_cycles(cycles, importance, k).overall()


def measure_cycles(cycles: Iterable[CycleResult], importance: FloatArray, k: int) -> MetricCurves:
    """Return the metrics of each cycle of a crawl with k visits a cycle."""
    meter = _CycleMeter(importance, k)
    return MetricCurves(tuple(meter.measure(cycle) for cycle in cycles), meter.page_figures())


def discount_weights(k: int) -> FloatArray:
    """Return the weight of each rank: 1, then 1/ln(rank + 1).

    Santos et al. 2015 divide by ln(rank), which is 0 at the first rank; their program uses the
    weights returned here.

    >>> discount_weights(3).round(3).tolist()
    [1.0, 0.91, 0.721]
    """
    weights: FloatArray = 1.0 / np.log(np.arange(2.0, k + 2.0))
    weights[:1] = 1.0
    return weights


def cumulative_gains(k: int) -> FloatArray:
    """Return the gain of changes at the first ranks, from none of them to all k.

    >>> cumulative_gains(3).round(3).tolist()
    [0.0, 1.0, 1.91, 2.632]
    """
    return np.concatenate([[0.0], np.cumsum(discount_weights(k))])


class _CycleMeter:
    """Measures the cycles of one crawl in order."""

    def __init__(self, importance: FloatArray, k: int) -> None:
        self._k = k
        self._discounts = discount_weights(k)
        self._ideal_gains = cumulative_gains(k)
        self._weights = importance / importance.sum()
        self._found_count = self._waited_cycles = self._found_links = self._cycle_count = 0
        self._visits, self._hits, self._fresh_cycles = (
            np.zeros(len(importance), np.int32) for _ in range(3)
        )

    def measure(self, cycle: CycleResult) -> CycleMetrics:
        """Return the metrics of a cycle."""
        self._add_page_figures(cycle)
        found_changes, missed_changes = cycle.found_changes, cycle.missed_changes
        self._found_count += found_changes.changes
        self._waited_cycles += found_changes.waited_cycles
        self._found_links += found_changes.new_links or 0
        stale, stale_since_sum, stale_weight = kernels.sum_stale_copies(
            cycle.stale, cycle.stale_since, self._weights
        )
        unseen = np.count_nonzero(cycle.unseen)
        unseen_weight = float(self._weights[cycle.unseen].sum()) if unseen else 0.0
        links = UNDEFINED if found_changes.new_links is None else float(found_changes.new_links)
        return CycleMetrics(
            cycle=cycle.number,
            visits=len(cycle.visited_pages),
            changes_found=found_changes.changes,
            changerate=_share(cycle.changed),
            weighted_changerate=self._weighted_share(cycle),
            ndcg=self._normalised_gain(cycle),
            freshness=1.0 - (stale + unseen) / len(cycle.stale),
            weighted_freshness=1.0 - stale_weight - unseen_weight,
            stale_age=_ratio(cycle.number * stale - stale_since_sum, stale),
            time_to_detection=_ratio(found_changes.waited_cycles, found_changes.changes),
            time_waited=_ratio(
                self._waited_cycles + missed_changes.waited_cycles,
                self._found_count + missed_changes.changes,
            ),
            detected=_ratio(self._found_count, self._found_count + missed_changes.changes),
            links_found=links,
            new_links=_ratio(links, len(cycle.visited_pages)),
            links_detected=_ratio(
                self._found_links, self._found_links + (missed_changes.new_links or 0)
            ),
        )

    def page_figures(self) -> CrawledPageFigures:
        """Return the figures of the pages over the measured cycles."""
        fresh_shares = self._fresh_cycles / max(1, self._cycle_count)
        return CrawledPageFigures(self._visits, self._hits, fresh_shares)

    def _add_page_figures(self, cycle: CycleResult) -> None:
        self._cycle_count += 1
        self._visits[cycle.visited_pages] += 1
        self._hits[cycle.visited_pages] += cycle.changed
        self._fresh_cycles += ~(cycle.stale | cycle.unseen)

    def _weighted_share(self, cycle: CycleResult) -> float:
        """Return the importance of the changed pages per visit; all pages have the mean 1."""
        weight = float(self._weights[cycle.visited_pages] @ cycle.changed)
        return weight * len(self._weights) / max(1, len(cycle.visited_pages))

    def _normalised_gain(self, cycle: CycleResult) -> float:
        """Return the normalised discounted gain; NaN if no copy was stale."""
        if not cycle.stale_before:
            return UNDEFINED
        ideal_gain = self._ideal_gains[min(self._k, cycle.stale_before)]
        return float(self._discounts[np.flatnonzero(cycle.changed)].sum() / ideal_gain)


def _share(flags: BoolArray) -> float:
    return float(np.count_nonzero(flags)) / len(flags) if len(flags) else 0.0


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator else UNDEFINED
