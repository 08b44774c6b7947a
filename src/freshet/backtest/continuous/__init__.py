"""Continuous backtest: crawlers visit the same changing pages with the same budget.

Each crawler keeps its own copies and is scored on the ground truth, which no policy sees. The
ground truth of a trace is made by drawing a moment for each change, because a cycle gives only the
day.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.cycle_crawl import Selector, look_table
from freshet.backtest.kernels import copies as kernels
from freshet.backtest.trace import Trace
from freshet.core.clock import CYCLE_SECONDS, from_epoch, to_epoch
from freshet.core.tables import DAY_SECONDS, BoolArray, HostCaps, PageIdArray, PageTable
from freshet.core.types import FloatArray

PageIndices = NDArray[np.int64]

NEVER = float("inf")
BATCHES_PER_DAY = 24


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """The times at which each page really changes (epoch seconds, ascending).

    ``times[starts[i]:starts[i + 1]]`` belong to the i-th page of ``pages``. Pages marked in
    ``is_noisy`` seem to change at every look.
    """

    pages: PageTable
    starts: NDArray[np.int64]
    times: FloatArray
    is_noisy: BoolArray

    def next_changes(
        self, page_indices: PageIndices, moment: float
    ) -> tuple[PageIndices, FloatArray]:
        """Return the indices and times of pages' first changes after a moment."""
        time_indices, change_times = kernels.find_next_changes(
            self.times, self.starts, page_indices, moment
        )
        return time_indices, change_times


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


@dataclass(frozen=True, slots=True)
class CrawlerScore:
    """Score of a crawler: mean freshness since the start, and freshness now.

    Both are shares of the pages weighted by importance; a page without a copy is not fresh.
    """

    policy: str
    visits: int
    changes_found: int
    freshness: float
    fresh_now: float


def ground_truth(
    pages: PageTable, change_times: Sequence[FloatArray], *, is_noisy: BoolArray | None = None
) -> GroundTruth:
    """Return the ground truth of pages from each page's change times."""
    counts = [len(times) for times in change_times]
    return GroundTruth(
        pages=pages,
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        times=np.concatenate([np.empty(0), *(np.sort(times) for times in change_times)]),
        is_noisy=np.zeros(len(pages), np.bool_) if is_noisy is None else is_noisy,
    )


def ground_truth_of_trace(trace: Trace, *, seed: int = 0) -> GroundTruth:
    """Return the ground truth of a trace: each change at a uniformly drawn moment of its cycle."""
    rng = np.random.default_rng(seed)
    changed_by_cycle = [np.flatnonzero(trace.changed(cycle)) for cycle in range(trace.cycles)]
    page_indices = np.concatenate(changed_by_cycle)
    cycles = np.repeat(
        np.arange(trace.cycles), [len(changed_pages) for changed_pages in changed_by_cycle]
    )
    times = (cycles + rng.random(len(cycles))) * CYCLE_SECONDS
    order = np.lexsort((times, page_indices))
    counts = np.bincount(page_indices, minlength=len(trace.pages))
    return GroundTruth(
        pages=without_history(trace.pages),
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        times=times[order],
        is_noisy=np.zeros(len(trace.pages), np.bool_),
    )


def without_history(pages: PageTable) -> PageTable:
    """Return pages of which nothing is known before their first look, as in a live collection."""
    return replace(pages, known_since=np.full(len(pages), np.nan))


def index_lookup(ids: PageIdArray) -> Callable[[PageIdArray], PageIndices]:
    """Return a function that maps page ids to their indices.

    >>> index_lookup(np.array([30, 10, 20]))(np.array([10, 30])).tolist()
    [1, 0]
    """
    order = np.argsort(ids)
    in_order = ids[order]
    return lambda wanted: order[np.searchsorted(in_order, wanted)]


class TimedCopies:
    """A crawler's copies of pages, and how long they were fresh.

    Shares are weighted by importance; a page without a copy is not fresh.
    """

    def __init__(self, truth: GroundTruth) -> None:
        count = len(truth.pages)
        self._truth = truth
        self._weights = truth.pages.importance / truth.pages.importance.sum()
        self._taken = np.full(count, NEVER)
        self._stale_at = np.full(count, NEVER)
        self._next = truth.starts[1:].copy()
        self._origin = float(truth.times.min()) if len(truth.times) else 0.0
        self._sums = np.concatenate([[0.0], np.cumsum(truth.times - self._origin)])
        self._fresh_seconds = self._even_seconds = self._waited = 0.0
        self._changes = 0

    def exists(self, page_indices: PageIndices) -> BoolArray:
        """Return which pages have a copy."""
        has_copy: BoolArray = self._taken[page_indices] < NEVER
        return has_copy

    def stale(self, now: float) -> BoolArray:
        """Return which copies differ from their pages now."""
        is_stale: BoolArray = self._stale_at <= now
        return is_stale

    def ages(self, now: float) -> FloatArray:
        """Return the age of each copy in seconds."""
        ages: FloatArray = now - self._taken
        return ages

    def refresh(self, page_indices: PageIndices, moment: float) -> BoolArray:
        """Replace pages' copies at a moment; return which were stale."""
        stale: BoolArray = self._stale_at[page_indices] <= moment
        fresh_seconds = self._lived(page_indices, moment)
        self._fresh_seconds += float(self._weights[page_indices] @ fresh_seconds)
        self._even_seconds += float(fresh_seconds.sum()) / len(self._taken)
        time_indices, change_times = self._truth.next_changes(page_indices, moment)
        changes, waited = self._waiting(page_indices[stale], time_indices[stale], moment)
        self._changes += changes
        self._waited += waited
        self._taken[page_indices] = moment
        self._stale_at[page_indices] = change_times
        self._next[page_indices] = time_indices
        return stale

    def reset_totals(self, now: float) -> None:
        """Count freshness and changes from now on."""
        self._fresh_seconds -= self.fresh_seconds(now)
        self._even_seconds -= self.unweighted_fresh_seconds(now)
        self._waited, self._changes = 0.0, 0

    def fresh_seconds(self, now: float) -> float:
        """Return the mean time for which the copies were fresh by now, weighted by importance."""
        fresh_seconds = self._lived(np.arange(len(self._taken)), now)
        return self._fresh_seconds + float(self._weights @ fresh_seconds)

    def unweighted_fresh_seconds(self, now: float) -> float:
        """Return the mean time for which the copies were fresh by now, with equal weights."""
        fresh_seconds = self._lived(np.arange(len(self._taken)), now)
        return self._even_seconds + float(fresh_seconds.mean())

    def fresh_share(self, now: float) -> float:
        """Return the share of the pages whose copies are fresh now."""
        return float(self._weights @ ((self._taken <= now) & (self._stale_at > now)))

    def detections(self, now: float) -> ChangeDetections:
        """Return the changes that were found, and those that stale copies miss now."""
        page_indices = np.flatnonzero(self.stale(now))
        time_indices, _ = self._truth.next_changes(page_indices, now)
        return ChangeDetections(
            self._changes, self._waited, *self._waiting(page_indices, time_indices, now)
        )

    def _lived(self, page_indices: PageIndices, now: float) -> FloatArray:
        """Return how long copies were fresh between their fetch and now."""
        ends = np.minimum(self._stale_at[page_indices], now)
        fresh_seconds: FloatArray = np.maximum(0.0, ends - self._taken[page_indices])
        return fresh_seconds

    def _waiting(
        self, page_indices: PageIndices, ends: PageIndices, now: float
    ) -> tuple[int, float]:
        """Return the number of changes that stale copies miss, and the sum of their waiting times.

        ``ends`` are the indices of the first changes that are not counted.
        """
        firsts = self._next[page_indices]
        changes = int((ends - firsts).sum())
        change_time_sum = float((self._sums[ends] - self._sums[firsts]).sum())
        return changes, changes * (now - self._origin) - change_time_sum


class SimulatedCrawler:
    """A policy that visits pages at an even pace, ``batch_size`` pages at a time."""

    def __init__(
        self,
        policy: Selector,
        truth: GroundTruth,
        budget_per_day: float,
        start: datetime,
        *,
        batch_size: int = 1,
    ) -> None:
        self._policy = policy
        self._truth = truth
        self._at_once = batch_size
        self._pause = batch_size * DAY_SECONDS / budget_per_day
        self._start = to_epoch(start)
        self._now = self._start
        self._turns = self.visits = self.changes_found = 0
        self._places = index_lookup(truth.pages.ids)
        self._copies = TimedCopies(truth)
        policy.add(truth.pages)

    def warm_up(
        self, order: PageIdArray, days: int, *, batches_per_day: int = BATCHES_PER_DAY
    ) -> None:
        """Look at every page once a day before the start; these looks do not count."""
        batches_per_day = min(batches_per_day, len(order))
        batches = np.array_split(order, batches_per_day)
        for turn in range(days * batches_per_day):
            seconds_before = days * DAY_SECONDS - turn * DAY_SECONDS / batches_per_day
            self._look(batches[turn % batches_per_day], self._start - seconds_before)
        self._copies.reset_totals(self._start)
        self.visits = self.changes_found = 0

    def advance(self, until: datetime) -> CrawlerScore:
        """Make every visit due up to a moment, and return the score then."""
        end = to_epoch(until)
        while (visit_time := self._start + self._turns * self._pause) <= end:
            self._turns += 1
            self.visit(visit_time)
        self._now = max(self._now, end)
        return self.score()

    def score(self) -> CrawlerScore:
        """Return the score at the moment up to which the crawler has advanced."""
        elapsed, fresh_now = self._now - self._start, self._copies.fresh_share(self._now)
        return CrawlerScore(
            policy=self._policy.name,
            visits=self.visits,
            changes_found=self.changes_found,
            freshness=self._copies.fresh_seconds(self._now) / elapsed if elapsed > 0 else fresh_now,
            fresh_now=fresh_now,
        )

    def detections(self) -> ChangeDetections:
        """Return the changes found by that moment."""
        return self._copies.detections(self._now)

    def unweighted_fresh_seconds(self) -> float:
        """Return the fresh time by that moment, with equal weights."""
        return self._copies.unweighted_fresh_seconds(self._now)

    def fresh_seconds(self) -> float:
        """Return the fresh time by that moment, weighted by importance."""
        return self._copies.fresh_seconds(self._now)

    def visit(self, now: float) -> None:
        """Let the policy select pages, look at them, and let it learn the results."""
        self._look(self._policy.choose(from_epoch(now), self._at_once, HostCaps()).pages, now)

    def _look(self, pages: PageIdArray, now: float) -> None:
        page_indices = self._places(pages)
        has_copy = self._copies.exists(page_indices)
        was_stale = self._copies.refresh(page_indices, now)
        self.visits += len(page_indices)
        self.changes_found += int(np.count_nonzero(was_stale))
        seems_changed = has_copy & (was_stale | self._truth.is_noisy[page_indices])
        self._policy.learn(look_table(pages, now, seems_changed, measured=has_copy))


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
