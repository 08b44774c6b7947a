"""Oracles of the continuous backtest: they know the ground truth and are upper bounds for policies.

They correspond to the oracles in cycles and, like them, weigh pages by importance and ignore host
caps.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime

import numpy as np

from freshet.backtest.continuous.copies import NEVER, TimedCopies
from freshet.backtest.continuous.ground_truth import GroundTruth, index_lookup
from freshet.backtest.cycle_crawl import Selector
from freshet.backtest.cycle_oracles import fresh_time_gained
from freshet.core.clock import to_epoch
from freshet.core.tables import DAY_SECONDS, ChoiceTable, HostCaps, PageTable, VisitTable
from freshet.core.types import FloatArray


class ContinuousOracle(ABC):
    """Selects pages by the true value of a visit; ties are broken by a seeded order.

    Pages without a copy come first.
    """

    name = "oracle"

    def __init__(self, truth: GroundTruth, *, seed: int = 0) -> None:
        self._truth = truth
        self._copies = TimedCopies(truth)
        self._all_pages = np.arange(len(truth.pages))
        self._page_indices = index_lookup(truth.pages.ids)
        self._rng = np.random.default_rng(seed)

    def add(self, pages: PageTable) -> None:
        """Do nothing: the pages are those of the ground truth."""
        return

    def learn(self, visits: VisitTable) -> None:
        """Refresh the copies of the visited pages."""
        for time in np.unique(visits.times).tolist():
            self._copies.refresh(self._page_indices(visits.pages[visits.times == time]), time)

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest value."""
        seconds = to_epoch(now)
        has_copy = self._copies.exists(self._all_pages)
        age_days = np.where(has_copy, self._copies.ages(seconds), 0.0) / DAY_SECONDS
        values = np.where(has_copy, self._values(seconds, age_days), NEVER)
        order = self._rng.permutation(len(values))
        selected = order[np.argsort(-values[order], kind="stable")[:k]]
        probabilities = self._copies.stale(seconds)[selected].astype(np.float64)
        ages = np.where(has_copy, age_days, NEVER)[selected]
        return ChoiceTable(self._truth.pages.ids[selected], values[selected], probabilities, ages)

    @abstractmethod
    def _values(self, now: float, age_days: FloatArray) -> FloatArray:
        """Return the true value of a visit to each page now."""


class ContinuousChangeOracle(ContinuousOracle):
    """Visits the most important stale pages: the most changes found."""

    name = "oracle-change"

    def _values(self, now: float, age_days: FloatArray) -> FloatArray:
        return self._truth.pages.importance * self._copies.stale(now)


class ContinuousLifetimeOracle(ContinuousOracle):
    """Visits the stale pages that will stay unchanged for longest, weighted by importance."""

    name = "oracle-life"

    def _values(self, now: float, age_days: FloatArray) -> FloatArray:
        _, next_changes = self._truth.next_changes(self._all_pages, now)
        horizon = 2.0 * max(now, float(self._truth.times.max(initial=now)))
        seconds_ahead = np.minimum(next_changes, horizon) - now
        return self._truth.pages.importance * np.where(self._copies.stale(now), seconds_ahead, 0.0)


class ContinuousRateOracle(ContinuousOracle):
    """Knows each page's rate over the whole time and its importance, and nothing else."""

    name = "known-rate"

    def __init__(self, truth: GroundTruth, *, seed: int = 0) -> None:
        super().__init__(truth, seed=seed)
        days = float(np.ptp(truth.times)) / DAY_SECONDS if len(truth.times) else 0.0
        self._rates: FloatArray = np.diff(truth.starts) / max(1.0, np.ceil(days))

    def _values(self, now: float, age_days: FloatArray) -> FloatArray:
        return self._truth.pages.importance * fresh_time_gained(self._rates, age_days)


class ContinuousRateChangesOracle(ContinuousRateOracle):
    """Knows each page's rate, and maximises changes instead of freshness."""

    name = "known-rate-changes"

    def _values(self, now: float, age_days: FloatArray) -> FloatArray:
        return self._truth.pages.importance * -np.expm1(-self._rates * age_days)


CONTINUOUS_ORACLES: Mapping[str, Callable[..., Selector]] = {
    oracle.name: oracle
    for oracle in (
        ContinuousChangeOracle,
        ContinuousLifetimeOracle,
        ContinuousRateOracle,
        ContinuousRateChangesOracle,
    )
}
