"""Oracles of the simulated crawl in cycles: they know the truth and are upper bounds for policies.

They weigh pages by importance and ignore host caps. In a cold crawl they visit pages without a copy
first, as the policies do.
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

NEVER_SEEN = float("inf")


class CycleOracle(ABC):
    """Selects pages by the true value of a visit; ties are broken by a seeded order."""

    name = "oracle"

    def __init__(self, trace: Trace, *, seed: int = 0) -> None:
        self._trace = trace
        self._copies = CycleCopies(trace)
        self._last_visits = np.full(len(trace.pages), -1, np.int32)
        self._applied_cycles = 0
        self._rng = np.random.default_rng(seed)

    def add(self, pages: PageTable) -> None:
        """Start with the pages of the trace; pages without a history have no copy."""
        self._copies = CycleCopies(self._trace, cold=bool(np.isnan(pages.known_since).any()))

    def learn(self, visits: VisitTable) -> None:
        """Refresh the copies of the visited pages; the visits are those of one cycle."""
        cycle = cycle_at(float(visits.times.max(initial=0.0)))
        self._apply_changes_up_to(cycle)
        self._copies.refresh(visits.pages, cycle)
        self._last_visits[visits.pages] = cycle

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest value, ordered by the probability of a change."""
        cycle = cycle_at(to_epoch(now))
        self._apply_changes_up_to(cycle)
        values = np.where(self._copies.unseen, NEVER_SEEN, self._values(cycle))
        probabilities = self._probabilities(cycle)
        order = self._rng.permutation(len(values))
        selected = order[np.argsort(-values[order], kind="stable")[:k]]
        selected = selected[np.argsort(-probabilities[selected], kind="stable")]
        ages = self._ages(cycle)
        return ChoiceTable(
            selected.astype(np.int64), values[selected], probabilities[selected], ages[selected]
        )

    def _apply_changes_up_to(self, cycle: int) -> None:
        """Apply the changes of all cycles up to this one."""
        for number in range(self._applied_cycles, cycle + 1):
            self._copies.apply_changes(number)
        self._applied_cycles = max(self._applied_cycles, cycle + 1)

    def _ages(self, cycle: int) -> FloatArray:
        """Return the number of cycles since each page's last visit."""
        return (cycle - self._last_visits).astype(np.float64)

    def _probabilities(self, cycle: int) -> FloatArray:
        """Return the probability that each copy is stale; here it is known."""
        return self._copies.stale.astype(np.float64)

    @abstractmethod
    def _values(self, cycle: int) -> FloatArray:
        """Return the true value of a visit to each page."""


class CycleChangeOracle(CycleOracle):
    """Visits the most important stale pages: the most changes found in this cycle."""

    name = "oracle-change"

    def _values(self, cycle: int) -> FloatArray:
        return self._trace.pages.importance * self._probabilities(cycle)


class CycleLifetimeOracle(CycleOracle):
    """Visits the stale pages that will stay unchanged for longest, weighted by importance."""

    name = "oracle-life"

    def __init__(self, trace: Trace, *, seed: int = 0) -> None:
        super().__init__(trace, seed=seed)
        self._next_changes = next_change_cycles(trace)

    def _values(self, cycle: int) -> FloatArray:
        cycles_ahead: FloatArray = self._next_changes[cycle].astype(np.float64) - cycle
        return self._trace.pages.importance * np.where(self._copies.stale, cycles_ahead, 0.0)


class CycleRateOracle(CycleOracle):
    """Knows each page's mean rate over the whole trace, and greedily gains fresh time.

    It is a reference, not an upper bound: a policy that learns when rates change, or which pages
    change together, can be better.
    """

    name = "known-rate"

    def __init__(self, trace: Trace, *, seed: int = 0) -> None:
        super().__init__(trace, seed=seed)
        share = np.minimum(trace.change_counts() / trace.cycles, 1.0 - 0.5 / trace.cycles)
        self._rates: FloatArray = -np.log1p(-share)

    def _probabilities(self, cycle: int) -> FloatArray:
        return -np.expm1(-self._rates * self._ages(cycle))

    def _values(self, cycle: int) -> FloatArray:
        gained = fresh_time_gained(self._rates, self._ages(cycle))
        return self._trace.pages.importance * gained


class CycleRateChangesOracle(CycleRateOracle):
    """Knows each page's rate, and maximises changes instead of freshness."""

    name = "known-rate-changes"

    def _values(self, cycle: int) -> FloatArray:
        return self._trace.pages.importance * self._probabilities(cycle)


CYCLE_ORACLES: Mapping[str, Callable[..., Selector]] = {
    oracle.name: oracle
    for oracle in (CycleChangeOracle, CycleLifetimeOracle, CycleRateOracle, CycleRateChangesOracle)
}


def fresh_time_gained(rates: FloatArray, ages: FloatArray) -> FloatArray:
    """Return the fresh time that visits gain at known rates (Cho and Garcia-Molina 2003).

    >>> fresh_time_gained(np.array([0.0, 1.0]), np.array([1.0, 1.0])).round(3).tolist()
    [0.0, 0.264]
    """
    expected_changes = rates * ages
    gained_share = -np.expm1(-expected_changes) - expected_changes * np.exp(-expected_changes)
    return np.divide(gained_share, rates, out=np.zeros_like(gained_share), where=rates > 0)


def next_change_cycles(trace: Trace) -> IndexArray:
    """Return the cycle of each page's next change, a row per cycle; far away if there is none."""
    next_cycles = np.empty((trace.cycles, len(trace.pages)), np.int32)
    next_cycle = np.full(len(trace.pages), 2 * trace.cycles, np.int32)
    for cycle in reversed(range(trace.cycles)):
        next_cycles[cycle] = next_cycle
        next_cycle[trace.changed(cycle)] = cycle
    return next_cycles


def cycle_at(seconds: float) -> int:
    """Return the cycle that contains a time."""
    return int(seconds // CYCLE_SECONDS)
