"""A race in continuous time: policies visit the same changing pages on the same budget.

Each racer keeps copies of its own and is scored on the truth, which no policy sees. A trace becomes
such a truth by a moment for each of its changes: a cycle tells only the day.
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
    """When each page truly changes (epoch seconds, ascending), and which seem to at every look.

    ``times[starts[i]:starts[i + 1]]`` are those of the i-th page of ``pages``.
    """

    pages: PageTable
    starts: NDArray[np.int64]
    times: FloatArray
    is_noisy: BoolArray

    def next_changes(
        self, page_indices: PageIndices, moment: float
    ) -> tuple[PageIndices, FloatArray]:
        """Return the times of pages' first changes after a moment, and where those stand."""
        at, when = kernels.find_next_changes(self.times, self.starts, page_indices, moment)
        return at, when


@dataclass(frozen=True, slots=True)
class ChangeDetections:
    """Changes that looks found, one by one: how many, and how many seconds they waited in sum.

    ``missed`` are those since a page's last look that no look has found so far, with the time that
    they have waited.
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
        """Return the mean days over all changes, those not found with what they waited so far."""
        waited = self.waited_seconds + self.missed_waited_seconds
        return _ratio(waited / DAY_SECONDS, self.changes + self.missed)

    @property
    def detected_share(self) -> float:
        """Return the share of the changes that were found."""
        return _ratio(self.changes, self.changes + self.missed)


@dataclass(frozen=True, slots=True)
class CrawlerScore:
    """How a racer stands: ``freshness`` is the mean since the start, ``fresh_now`` at this moment.

    Both are shares of the pages by importance; a page without a copy is not fresh.
    """

    policy: str
    visits: int
    changes_found: int
    freshness: float
    fresh_now: float


def ground_truth(
    pages: PageTable, change_times: Sequence[FloatArray], *, is_noisy: BoolArray | None = None
) -> GroundTruth:
    """Return the truth about pages from each one's change times."""
    counts = [len(times) for times in change_times]
    return GroundTruth(
        pages=pages,
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        times=np.concatenate([np.empty(0), *(np.sort(times) for times in change_times)]),
        is_noisy=np.zeros(len(pages), np.bool_) if is_noisy is None else is_noisy,
    )


def ground_truth_of_trace(trace: Trace, *, seed: int = 0) -> GroundTruth:
    """Return a trace's changes in continuous time: each at a moment of its cycle, drawn evenly."""
    rng = np.random.default_rng(seed)
    changed = [np.flatnonzero(trace.changed(cycle)) for cycle in range(trace.cycles)]
    places = np.concatenate(changed)
    cycles = np.repeat(np.arange(trace.cycles), [len(each) for each in changed])
    times = (cycles + rng.random(len(cycles))) * CYCLE_SECONDS
    order = np.lexsort((times, places))
    counts = np.bincount(places, minlength=len(trace.pages))
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
    """Return what finds the places of pages among ids.

    >>> index_lookup(np.array([30, 10, 20]))(np.array([10, 30])).tolist()
    [1, 0]
    """
    order = np.argsort(ids)
    in_order = ids[order]
    return lambda wanted: order[np.searchsorted(in_order, wanted)]


class TimedCopies:
    """The copies of a truth's pages that a crawl keeps, and for how long they were fresh.

    Shares are by importance; a page without a copy is not fresh.
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

    def exists(self, places: PageIndices) -> BoolArray:
        """Return which pages, by their places in the truth, have a copy."""
        kept: BoolArray = self._taken[places] < NEVER
        return kept

    def stale(self, now: float) -> BoolArray:
        """Return which copies differ from their pages now."""
        differing: BoolArray = self._stale_at <= now
        return differing

    def ages(self, now: float) -> FloatArray:
        """Return for how many seconds each copy has been kept."""
        ages: FloatArray = now - self._taken
        return ages

    def refresh(self, places: PageIndices, moment: float) -> BoolArray:
        """Replace pages' copies by what the pages are at a moment; say which were stale."""
        stale: BoolArray = self._stale_at[places] <= moment
        lived = self._lived(places, moment)
        self._fresh_seconds += float(self._weights[places] @ lived)
        self._even_seconds += float(lived.sum()) / len(self._taken)
        at, when = self._truth.next_changes(places, moment)
        changes, waited = self._waiting(places[stale], at[stale], moment)
        self._changes += changes
        self._waited += waited
        self._taken[places] = moment
        self._stale_at[places] = when
        self._next[places] = at
        return stale

    def reset_totals(self, now: float) -> None:
        """Count freshness and changes found from now on."""
        self._fresh_seconds -= self.fresh_seconds(now)
        self._even_seconds -= self.unweighted_fresh_seconds(now)
        self._waited, self._changes = 0.0, 0

    def fresh_seconds(self, now: float) -> float:
        """Return for how long, in the mean, the copies were fresh by now."""
        everywhere = self._lived(np.arange(len(self._taken)), now)
        return self._fresh_seconds + float(self._weights @ everywhere)

    def unweighted_fresh_seconds(self, now: float) -> float:
        """Return for how long the copies were fresh by now, in the mean with all pages alike."""
        everywhere = self._lived(np.arange(len(self._taken)), now)
        return self._even_seconds + float(everywhere.mean())

    def fresh_share(self, now: float) -> float:
        """Return the share of the pages whose copies are fresh now."""
        return float(self._weights @ ((self._taken <= now) & (self._stale_at > now)))

    def detections(self, now: float) -> ChangeDetections:
        """Return the changes that were found, and those that stale copies miss now."""
        places = np.flatnonzero(self.stale(now))
        at, _ = self._truth.next_changes(places, now)
        return ChangeDetections(self._changes, self._waited, *self._waiting(places, at, now))

    def _lived(self, places: PageIndices, now: float) -> FloatArray:
        """Return for how long copies were fresh between being taken and now."""
        ends = np.minimum(self._stale_at[places], now)
        lived: FloatArray = np.maximum(0.0, ends - self._taken[places])
        return lived

    def _waiting(self, places: PageIndices, ends: PageIndices, now: float) -> tuple[int, float]:
        """Return how many changes stale copies miss up to some ends, and for how long in sum."""
        firsts = self._next[places]
        changes = int((ends - firsts).sum())
        moments = float((self._sums[ends] - self._sums[firsts]).sum())
        return changes, changes * (now - self._origin) - moments


class SimulatedCrawler:
    """A policy that visits pages at an even pace, ``batch_size`` of them each time."""

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
        """Look at every page once a day before the start, in some order; none of it counts."""
        batches_per_day = min(batches_per_day, len(order))
        batches = np.array_split(order, batches_per_day)
        for turn in range(days * batches_per_day):
            before = days * DAY_SECONDS - turn * DAY_SECONDS / batches_per_day
            self._look(batches[turn % batches_per_day], self._start - before)
        self._copies.reset_totals(self._start)
        self.visits = self.changes_found = 0

    def advance(self, until: datetime) -> CrawlerScore:
        """Make every visit that falls due up to a moment, and say how the race stands then."""
        end = to_epoch(until)
        while (turn := self._start + self._turns * self._pause) <= end:
            self._turns += 1
            self.visit(turn)
        self._now = max(self._now, end)
        return self.score()

    def score(self) -> CrawlerScore:
        """Say how the race stands at the moment it was advanced to."""
        passed, now = self._now - self._start, self._copies.fresh_share(self._now)
        return CrawlerScore(
            policy=self._policy.name,
            visits=self.visits,
            changes_found=self.changes_found,
            freshness=self._copies.fresh_seconds(self._now) / passed if passed > 0 else now,
            fresh_now=now,
        )

    def detections(self) -> ChangeDetections:
        """Return the changes that were found by the moment the race was advanced to."""
        return self._copies.detections(self._now)

    def unweighted_fresh_seconds(self) -> float:
        """Return for how long the copies were fresh by then, with all pages alike."""
        return self._copies.unweighted_fresh_seconds(self._now)

    def fresh_seconds(self) -> float:
        """Return for how long the copies were fresh by then, by importance."""
        return self._copies.fresh_seconds(self._now)

    def visit(self, now: float) -> None:
        """Let the policy choose, look at those pages, and let it learn what they showed."""
        self._look(self._policy.choose(from_epoch(now), self._at_once, HostCaps()).pages, now)

    def _look(self, pages: PageIdArray, now: float) -> None:
        places = self._places(pages)
        seen_before = self._copies.exists(places)
        changed = self._copies.refresh(places, now)
        self.visits += len(places)
        self.changes_found += int(np.count_nonzero(changed))
        found = seen_before & (changed | self._truth.is_noisy[places])
        self._policy.learn(look_table(pages, now, found, measured=seen_before))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
