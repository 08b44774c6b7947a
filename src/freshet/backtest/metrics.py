"""How well a simulated crawl did: changes found, their order, and how fresh the copies are."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from freshet.backtest.cycle_crawl import CycleResult
from freshet.backtest.kernels import copies as kernels
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray

UNDEFINED = float("nan")
COMPARED_METRICS = ("changerate", "ndcg", "freshness")
"""The measures by which policies are told apart."""


@dataclass(frozen=True, slots=True)
class BacktestMetrics:
    """The measures of one crawl: means over its cycles, but for those of single changes.

    ``changerate`` is the share of visits that found a change, ``ndcg`` how early in each cycle's
    order they came, against an order that knows every stale copy. ``freshness`` is the share of
    copies that equal their page at the end of a cycle, ``weighted_freshness`` the same by
    importance, ``stale_age`` the cycles since the first change that a stale copy misses.
    ``unranked`` counts the cycles without a stale copy, which ``ndcg`` leaves out.

    A change is a changed cell, and a visit finds all since the visit before. ``time_to_detection``
    is the mean of the cycles from a change to the visit that found it, over the changes found,
    ``detected`` their share in all changes. As who never visits slow pages would look quick by
    that, ``time_waited`` has every change in it: those not found by the last cycle with the cycles
    that they have waited so far, which is the least that it can be.

    ``new_links`` are those found in a visit, ``links_detected`` their share in all; both are NaN
    where the trace knows of none.
    """

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
    unranked: int


@dataclass(frozen=True, slots=True)
class CycleMetrics:
    """The measures of one cycle, as ``BacktestMetrics`` tells them; NaN where the cycle has none.

    ``time_to_detection`` goes over the changes that this cycle's visits found; ``time_waited``,
    ``detected`` and ``links_detected`` go over all changes up to this cycle. ``visits`` and
    ``changes_found`` are counts.
    """

    cycle: int
    visits: int
    changes_found: int
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


@dataclass(frozen=True, slots=True)
class MetricCurves:
    """The measures of a crawl cycle by cycle."""

    cycles: tuple[CycleMetrics, ...]

    def __len__(self) -> int:
        return len(self.cycles)

    def column(self, name: str) -> FloatArray:
        """Return one measure of every cycle."""
        return np.array([getattr(each, name) for each in self.cycles], np.float64)

    def overall(self) -> BacktestMetrics:
        """Return the measures of the whole crawl."""
        found = self.column("changes_found")
        waited = np.nansum(self.column("time_to_detection") * found)
        return BacktestMetrics(
            changerate=self._mean("changerate"),
            ndcg=self._mean("ndcg"),
            freshness=self._mean("freshness"),
            weighted_freshness=self._mean("weighted_freshness"),
            stale_age=self._mean("stale_age"),
            time_to_detection=_ratio(waited, found.sum()),
            time_waited=self._last("time_waited"),
            detected=self._last("detected"),
            new_links=self._mean("new_links"),
            links_detected=self._last("links_detected"),
            unranked=int(np.count_nonzero(np.isnan(self.column("ndcg")))),
        )

    def _last(self, name: str) -> float:
        """Return what the last cycle says of all cycles up to it."""
        return float(getattr(self.cycles[-1], name)) if self.cycles else UNDEFINED

    def _mean(self, name: str) -> float:
        """Return the mean over the cycles that have the measure."""
        values = self.column(name)
        return fmean(values[~np.isnan(values)]) if not np.isnan(values).all() else UNDEFINED


def measure_crawl(cycles: Iterable[CycleResult], importance: FloatArray, k: int) -> BacktestMetrics:
    """Return the measures of a crawl with k visits a cycle."""
    return measure_cycles(cycles, importance, k).overall()


def measure_cycles(cycles: Iterable[CycleResult], importance: FloatArray, k: int) -> MetricCurves:
    """Return the measures of each cycle of a crawl with k visits a cycle."""
    scorer = _CycleMeter(importance, k)
    return MetricCurves(tuple(scorer.measure(cycle) for cycle in cycles))


def discount_weights(k: int) -> FloatArray:
    """Return the weight of each place of an order: 1, then 1/ln(place + 1).

    Santos et al. 2015 divide by ln(place), which is 0 at the first place; this is what their
    program does.

    >>> discount_weights(3).round(3).tolist()
    [1.0, 0.91, 0.721]
    """
    weights: FloatArray = 1.0 / np.log(np.arange(2.0, k + 2.0))
    weights[:1] = 1.0
    return weights


def cumulative_gains(k: int) -> FloatArray:
    """Return the gain of finds at the first places, from none of them to all k.

    >>> cumulative_gains(3).round(3).tolist()
    [0.0, 1.0, 1.91, 2.632]
    """
    return np.concatenate([[0.0], np.cumsum(discount_weights(k))])


class _CycleMeter:
    """Measures one cycle after another, in their order."""

    def __init__(self, importance: FloatArray, k: int) -> None:
        self._k = k
        self._discounts = discount_weights(k)
        self._ideal = cumulative_gains(k)
        self._weights = importance / importance.sum()
        self._changes = self._waited = self._links = 0

    def measure(self, cycle: CycleResult) -> CycleMetrics:
        """Return the measures of a cycle."""
        finds, missed = cycle.found_changes, cycle.missed_changes
        self._changes += finds.changes
        self._waited += finds.waited_cycles
        self._links += finds.new_links or 0
        stale, since, weight = kernels.sum_stale_copies(
            cycle.stale, cycle.stale_since, self._weights
        )
        linked = finds.new_links is not None
        return CycleMetrics(
            cycle=cycle.number,
            visits=len(cycle.visited_pages),
            changes_found=finds.changes,
            changerate=_share(cycle.changed),
            ndcg=self._gain(cycle),
            freshness=1.0 - stale / len(cycle.stale),
            weighted_freshness=1.0 - weight,
            stale_age=_ratio(cycle.number * stale - since, stale),
            time_to_detection=_ratio(finds.waited_cycles, finds.changes),
            time_waited=_ratio(self._waited + missed.waited_cycles, self._changes + missed.changes),
            detected=_ratio(self._changes, self._changes + missed.changes),
            new_links=_ratio(finds.new_links or 0, len(cycle.visited_pages))
            if linked
            else UNDEFINED,
            links_detected=_ratio(self._links, self._links + (missed.new_links or 0)),
        )

    def _gain(self, cycle: CycleResult) -> float:
        """Return how early in the order the changes came; NaN where there was none to find."""
        if not cycle.stale_before:
            return UNDEFINED
        best = self._ideal[min(self._k, cycle.stale_before)]
        return float(self._discounts[np.flatnonzero(cycle.changed)].sum() / best)


def _share(flags: BoolArray) -> float:
    return float(np.count_nonzero(flags)) / len(flags) if len(flags) else 0.0


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else UNDEFINED
