"""Choosers that look at the truth of a trace: ceilings that no policy can reach from its visits.

They serve the simulated crawl alone, and know no host caps.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime

import numpy as np

from freshet.backtest.cycle_crawl import CycleCopies, Selector
from freshet.backtest.trace import Trace
from freshet.core.clock import CYCLE_SECONDS, to_epoch
from freshet.core.tables import ChoiceTable, HostCaps, PageTable, VisitTable
from freshet.core.types import FloatArray, IndexArray


class CycleOracle(ABC):
    """Chooses by what a visit is truly worth; equal pages stand in a seeded order."""

    name = "oracle"

    def __init__(self, trace: Trace, *, seed: int = 0) -> None:
        self._copies = CycleCopies(trace)
        self._seen = np.full(len(trace.pages), -1, np.int32)
        self._passed = 0
        self._rng = np.random.default_rng(seed)

    def add(self, pages: PageTable) -> None:
        """Know the pages already: they are those of the trace."""
        return

    def learn(self, visits: VisitTable) -> None:
        """Take note of which copies are new; the visits are those of one cycle."""
        cycle = cycle_at(float(visits.times.max(initial=0.0)))
        self._pass_to(cycle)
        self._copies.refresh(visits.pages, cycle)
        self._seen[visits.pages] = cycle

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest worth, in the order of their chances."""
        cycle = cycle_at(to_epoch(now))
        self._pass_to(cycle)
        worth, chance = self._worth(cycle), self._chance(cycle)
        order = self._rng.permutation(len(worth))
        best = order[np.argsort(-worth[order], kind="stable")[:k]]
        best = best[np.argsort(-chance[best], kind="stable")]
        age = self._age(cycle)
        return ChoiceTable(best.astype(np.int64), worth[best], chance[best], age[best])

    def _pass_to(self, cycle: int) -> None:
        """Let the pages change up to a cycle."""
        for each in range(self._passed, cycle + 1):
            self._copies.apply_changes(each)
        self._passed = max(self._passed, cycle + 1)

    def _age(self, cycle: int) -> FloatArray:
        """Return the cycles since the last visit of each page."""
        return (cycle - self._seen).astype(np.float64)

    def _chance(self, cycle: int) -> FloatArray:
        """Return the chance that each copy is stale: here it is known."""
        return self._copies.stale.astype(np.float64)

    @abstractmethod
    def _worth(self, cycle: int) -> FloatArray:
        """Return what a visit to each page is truly worth."""


class CycleChangeOracle(CycleOracle):
    """Visits pages whose copy is stale, whichever: the most changes found in this cycle."""

    name = "oracle-change"

    def _worth(self, cycle: int) -> FloatArray:
        return self._chance(cycle)


class CycleLifetimeOracle(CycleOracle):
    """Visits the stale pages first that then stay as they are for longest."""

    name = "oracle-life"

    def __init__(self, trace: Trace, *, seed: int = 0) -> None:
        super().__init__(trace, seed=seed)
        self._following = next_change_cycles(trace)

    def _worth(self, cycle: int) -> FloatArray:
        ahead: FloatArray = self._following[cycle].astype(np.float64) - cycle
        return np.where(self._copies.stale, ahead, 0.0)


class CycleRateOracle(CycleOracle):
    """Knows each page's rate over the whole trace, and no more: the ceiling of rate estimators."""

    name = "known-rate"

    def __init__(self, trace: Trace, *, seed: int = 0) -> None:
        super().__init__(trace, seed=seed)
        share = np.minimum(trace.change_counts() / trace.cycles, 1.0 - 0.5 / trace.cycles)
        self._rates: FloatArray = -np.log1p(-share)

    def _chance(self, cycle: int) -> FloatArray:
        return -np.expm1(-self._rates * self._age(cycle))

    def _worth(self, cycle: int) -> FloatArray:
        return fresh_time_gained(self._rates, self._age(cycle))


class CycleRateChangesOracle(CycleRateOracle):
    """Knows each page's rate and seeks changes instead of freshness."""

    name = "known-rate-changes"

    def _worth(self, cycle: int) -> FloatArray:
        return self._chance(cycle)


CYCLE_ORACLES: Mapping[str, Callable[..., Selector]] = {
    each.name: each
    for each in (CycleChangeOracle, CycleLifetimeOracle, CycleRateOracle, CycleRateChangesOracle)
}


def fresh_time_gained(rates: FloatArray, ages: FloatArray) -> FloatArray:
    """Return the fresh time that visits gain at known rates (Cho and Garcia-Molina 2003).

    >>> fresh_time_gained(np.array([0.0, 1.0]), np.array([1.0, 1.0])).round(3).tolist()
    [0.0, 0.264]
    """
    spent = rates * ages
    gained = -np.expm1(-spent) - spent * np.exp(-spent)
    return np.divide(gained, rates, out=np.zeros_like(gained), where=rates > 0)


def next_change_cycles(trace: Trace) -> IndexArray:
    """Return, a row per cycle, when each page changes after it: far off where it never does."""
    following = np.empty((trace.cycles, len(trace.pages)), np.int32)
    coming = np.full(len(trace.pages), 2 * trace.cycles, np.int32)
    for cycle in reversed(range(trace.cycles)):
        following[cycle] = coming
        coming[trace.changed(cycle)] = cycle
    return following


def cycle_at(seconds: float) -> int:
    """Return the number of the cycle in which a time lies."""
    return int(seconds // CYCLE_SECONDS)
