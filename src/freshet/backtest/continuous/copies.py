"""Copies of pages that a crawler keeps in continuous time, and the changes that they miss."""

from dataclasses import dataclass

import numpy as np

from freshet.backtest.continuous.ground_truth import GroundTruth
from freshet.backtest.continuous.link_arrivals import PageIndices
from freshet.core.tables import DAY_SECONDS, BoolArray
from freshet.core.types import FloatArray

NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class ChangeDetections:
    """Number of changes found by looks, and the sum of the seconds they waited.

    ``missed`` counts the changes since a page's last look that no look has found, with the seconds
    they have waited so far.
    """

    changes: int = 0
    waited_seconds: float = 0.0
    missed: int = 0
    missed_waited_seconds: float = 0.0

    @property
    def time_to_detection(self) -> float:
        """Return the mean days from a change to the look that found it."""
        return _ratio(self.waited_seconds / DAY_SECONDS, self.changes)

    @property
    def time_waited(self) -> float:
        """Return the mean days over all changes; those not found count with their wait so far."""
        waited = self.waited_seconds + self.missed_waited_seconds
        return _ratio(waited / DAY_SECONDS, self.changes + self.missed)

    @property
    def detected_share(self) -> float:
        """Return the share of the changes that were found."""
        return _ratio(self.changes, self.changes + self.missed)


class TimedCopies:
    """A crawler's copies of pages, and how long they were fresh.

    Shares are weighted by importance; a page without a copy is not fresh.
    """

    def __init__(self, truth: GroundTruth) -> None:
        count = len(truth.pages)
        self._truth = truth
        self._weights = truth.weights / truth.weights.sum()
        self._fetch_times = np.full(count, NEVER)
        self._stale_times = np.full(count, NEVER)
        self._next_change_indices = truth.starts[1:].copy()
        self._first_time = float(truth.times.min()) if len(truth.times) else 0.0
        self._time_sums = np.concatenate([[0.0], np.cumsum(truth.times - self._first_time)])
        self._fresh_seconds = self._unweighted_seconds = self._waited_seconds = 0.0
        self._found_count = 0
        self._page_fresh_seconds = np.zeros(count)

    def exists(self, page_indices: PageIndices) -> BoolArray:
        """Return which pages have a copy."""
        has_copy: BoolArray = self._fetch_times[page_indices] < NEVER
        return has_copy

    def stale(self, now: float) -> BoolArray:
        """Return which copies differ from their pages now."""
        is_stale: BoolArray = self._stale_times <= now
        return is_stale

    def ages(self, now: float) -> FloatArray:
        """Return the age of each copy in seconds."""
        ages: FloatArray = now - self._fetch_times
        return ages

    def refresh(self, page_indices: PageIndices, moment: float) -> BoolArray:
        """Replace pages' copies at a moment; return which were stale."""
        stale: BoolArray = self._stale_times[page_indices] <= moment
        fresh_seconds = self._fresh_time(page_indices, moment)
        self._page_fresh_seconds[page_indices] += fresh_seconds
        self._fresh_seconds += float(self._weights[page_indices] @ fresh_seconds)
        self._unweighted_seconds += float(fresh_seconds.sum()) / len(self._fetch_times)
        time_indices, change_times = self._truth.next_changes(page_indices, moment)
        changes, waited = self._missed_changes(page_indices[stale], time_indices[stale], moment)
        self._found_count += changes
        self._waited_seconds += waited
        self._fetch_times[page_indices] = moment
        self._stale_times[page_indices] = change_times
        self._next_change_indices[page_indices] = time_indices
        return stale

    def reset_totals(self, now: float) -> None:
        """Count freshness and changes from now on."""
        self._fresh_seconds -= self.fresh_seconds(now)
        self._unweighted_seconds -= self.unweighted_fresh_seconds(now)
        self._waited_seconds, self._found_count = 0.0, 0
        self._page_fresh_seconds -= self.page_fresh_seconds(now)

    def fresh_seconds(self, now: float) -> float:
        """Return the mean time for which the copies were fresh by now, weighted by importance."""
        fresh_seconds = self._fresh_time(np.arange(len(self._fetch_times)), now)
        return self._fresh_seconds + float(self._weights @ fresh_seconds)

    def unweighted_fresh_seconds(self, now: float) -> float:
        """Return the mean time for which the copies were fresh by now, with equal weights."""
        fresh_seconds = self._fresh_time(np.arange(len(self._fetch_times)), now)
        return self._unweighted_seconds + float(fresh_seconds.mean())

    def page_fresh_seconds(self, now: float) -> FloatArray:
        """Return the time for which each copy was fresh by now."""
        fresh_seconds = self._fresh_time(np.arange(len(self._fetch_times)), now)
        return self._page_fresh_seconds + fresh_seconds

    def fresh_share(self, now: float) -> float:
        """Return the share of the pages whose copies are fresh now."""
        return float(self._weights @ ((self._fetch_times <= now) & (self._stale_times > now)))

    def detections(self, now: float) -> ChangeDetections:
        """Return the changes that were found, and those that stale copies miss now."""
        page_indices = np.flatnonzero(self.stale(now))
        time_indices, _ = self._truth.next_changes(page_indices, now)
        return ChangeDetections(
            self._found_count,
            self._waited_seconds,
            *self._missed_changes(page_indices, time_indices, now),
        )

    def _fresh_time(self, page_indices: PageIndices, now: float) -> FloatArray:
        """Return how long copies were fresh between their fetch and now."""
        ends = np.minimum(self._stale_times[page_indices], now)
        fresh_seconds: FloatArray = np.maximum(0.0, ends - self._fetch_times[page_indices])
        return fresh_seconds

    def _missed_changes(
        self, page_indices: PageIndices, ends: PageIndices, now: float
    ) -> tuple[int, float]:
        """Return the number of changes that stale copies miss, and the sum of their waiting times.

        ``ends`` are the indices of the first changes that are not counted.
        """
        firsts = self._next_change_indices[page_indices]
        changes = int((ends - firsts).sum())
        change_time_sum = float((self._time_sums[ends] - self._time_sums[firsts]).sum())
        return changes, changes * (now - self._first_time) - change_time_sum


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
