"""Choosers that know the truth in continuous time: the ceilings of a race.

They are those of the simulated crawl in cycles, and like them know no host caps.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime

import numpy as np

from freshet.backtest.continuous import NEVER, GroundTruth, TimedCopies, index_lookup
from freshet.backtest.cycle_crawl import Selector
from freshet.backtest.cycle_oracles import fresh_time_gained
from freshet.core.clock import to_epoch
from freshet.core.tables import DAY_SECONDS, ChoiceTable, HostCaps, PageTable, VisitTable
from freshet.core.types import FloatArray


class ContinuousOracle(ABC):
    """Chooses by what a visit is truly worth; equal pages stand in a seeded order.

    A page without a copy comes first.
    """

    name = "ceiling"

    def __init__(self, truth: GroundTruth, *, seed: int = 0) -> None:
        self._truth = truth
        self._copies = TimedCopies(truth)
        self._everywhere = np.arange(len(truth.pages))
        self._places = index_lookup(truth.pages.ids)
        self._rng = np.random.default_rng(seed)

    def add(self, pages: PageTable) -> None:
        """Know the pages already: they are those of the truth."""
        return

    def learn(self, visits: VisitTable) -> None:
        """Take note of which copies are new."""
        for time in np.unique(visits.times).tolist():
            self._copies.refresh(self._places(visits.pages[visits.times == time]), time)

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest worth."""
        seconds = to_epoch(now)
        known = self._copies.exists(self._everywhere)
        age_days = np.where(known, self._copies.ages(seconds), 0.0) / DAY_SECONDS
        worth = np.where(known, self._worth(seconds, age_days), NEVER)
        order = self._rng.permutation(len(worth))
        best = order[np.argsort(-worth[order], kind="stable")[:k]]
        chances = self._copies.stale(seconds)[best].astype(np.float64)
        ages = np.where(known, age_days, NEVER)[best]
        return ChoiceTable(self._truth.pages.ids[best], worth[best], chances, ages)

    @abstractmethod
    def _worth(self, now: float, age_days: FloatArray) -> FloatArray:
        """Return what a visit to each page is truly worth now."""


class ContinuousChangeOracle(ContinuousOracle):
    """Visits pages whose copy is stale, whichever: the most changes found."""

    name = "oracle-change"

    def _worth(self, now: float, age_days: FloatArray) -> FloatArray:
        return self._copies.stale(now).astype(np.float64)


class ContinuousLifetimeOracle(ContinuousOracle):
    """Visits the stale pages first that then stay as they are for longest."""

    name = "oracle-life"

    def _worth(self, now: float, age_days: FloatArray) -> FloatArray:
        _, following = self._truth.next_changes(self._everywhere, now)
        longest = 2.0 * max(now, float(self._truth.times.max(initial=now)))
        ahead = np.minimum(following, longest) - now
        return np.where(self._copies.stale(now), ahead, 0.0)


class ContinuousRateOracle(ContinuousOracle):
    """Knows each page's rate over the whole time, and no more."""

    name = "known-rate"

    def __init__(self, truth: GroundTruth, *, seed: int = 0) -> None:
        super().__init__(truth, seed=seed)
        spent = float(np.ptp(truth.times)) / DAY_SECONDS if len(truth.times) else 0.0
        self._rates: FloatArray = np.diff(truth.starts) / max(1.0, np.ceil(spent))

    def _worth(self, now: float, age_days: FloatArray) -> FloatArray:
        return fresh_time_gained(self._rates, age_days)


class ContinuousRateChangesOracle(ContinuousRateOracle):
    """Knows each page's rate and seeks changes instead of freshness."""

    name = "known-rate-changes"

    def _worth(self, now: float, age_days: FloatArray) -> FloatArray:
        return -np.expm1(-self._rates * age_days)


CONTINUOUS_ORACLES: Mapping[str, Callable[..., Selector]] = {
    each.name: each
    for each in (
        ContinuousChangeOracle,
        ContinuousLifetimeOracle,
        ContinuousRateOracle,
        ContinuousRateChangesOracle,
    )
}
