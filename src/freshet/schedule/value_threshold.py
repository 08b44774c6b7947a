"""The value that a page must reach to be scored at each choice, and the pages that may reach it.

The threshold is the value of the last page of a small reserve, so that the best pages are always
among those due. When the reserve is used up, the threshold falls to that of the period: the value
of the last page of a larger reserve, found at the first choice of the period.

After an event very many pages of one host may be far above the threshold. Such a host has a higher
level of its own for the rest of the period, which moves with its events.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import row_blocks
from freshet.schedule.due_pages import DuePages
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.host_bounds import HostBounds, host_bounds
from freshet.schedule.objectives import PageScores, concatenate_scores, days_below_multiplier
from freshet.schedule.sentinels import Sentinels
from freshet.schedule.top_k import kth_highest

MIN_RESERVE, RESERVE_SHARE, MAX_RESERVE_RATIO = 1024, 256, 1.25
# The pages of a host with a level of its own that may reach it, beyond those of one choice.
HOST_RESERVE = 1024
# The pages of a host with so many pages are scored after an event only if a bound allows it.
MIN_BOUNDED_PAGES = 4096
MAX_THRESHOLD_SAMPLE, MAX_ROWS_SCORED_AT_ONCE = 1 << 16, 1 << 18

# The bounds of hosts by their number; None for a host whose prior is not known.
BoundsByHost = dict[int, HostBounds | None]


class ValueThreshold:
    """Scores due pages, and defers those below the threshold until they may reach it."""

    def __init__(self, model: ForecastModel, due_pages: DuePages, sentinels: Sentinels) -> None:
        self._model = model
        self._due_pages = due_pages
        self._sentinels = sentinels
        self.value = 0.0
        self._period_value = 0.0
        # The highest levels of hosts that are valued at the next choice, and the present levels.
        self._moved_hosts: dict[int, float] = {}
        self._host_levels: dict[int, float] = {}

    @property
    def highest(self) -> float:
        """Return the highest value that a page may have that is not due."""
        return max(self.value, *self._host_levels.values(), 0.0)

    @property
    def moved_hosts(self) -> IndexArray:
        """Return the large hosts that were valued by levels of their own, or not since an event."""
        return np.array(sorted(self._moved_hosts.keys() | self._host_levels.keys()), np.int32)

    def restore(self, value: float, moved_hosts: IndexArray) -> None:
        """Continue with a value and the hosts that ``moved_hosts`` returned."""
        self.value, self._host_levels = value, {}
        self._moved_hosts = dict.fromkeys(moved_hosts.tolist(), np.inf)

    def reserve(self, k: int) -> int:
        """Return how many pages reach the threshold: more at the first choice of a period."""
        pages = len(self._model.page_states) // RESERVE_SHARE if self._due_pages.are_all else 0
        return k + max(MIN_RESERVE, pages)

    def reset(self) -> None:
        """Let all pages be scored at the next choice."""
        self.value, self._moved_hosts, self._host_levels = 0.0, {}, {}
        self._due_pages.mark_all()

    def fall_back(self) -> bool:
        """Let the threshold fall to that of the period, and mark all pages that may reach it.

        Returns False if it is not above it. Hosts with levels have to be valued again.
        """
        if not self.value > self._period_value:
            return False
        self.value = self._period_value
        self._due_pages.mark_candidates()
        self._moved_hosts.update(dict.fromkeys(self._host_levels, np.inf))
        return True

    def lower_levels(
        self, chosen_rows: NDArray[np.intp], lowest_value: float, caps: HostCaps
    ) -> bool:
        """Lower the levels of hosts that are above the lowest value of a choice.

        Returns whether there are such hosts with room for more pages; they have to be valued again.
        """
        hosts = [host for host, level in self._host_levels.items() if level > self.value]
        hosts = [host for host in hosts if self._host_levels[host] > lowest_value]
        states = self._model.page_states
        limits = states.limits_of_hosts(np.array(hosts, np.int32), caps)
        for host, limit in zip(hosts, limits.tolist(), strict=True):
            if np.count_nonzero(states.host[chosen_rows] == host) < limit:
                self._moved_hosts[host] = lowest_value
        return bool(self._moved_hosts)

    def settle(self, period_end: float) -> None:
        """Find the candidates of a period after its first choice.

        All pages of hosts with levels are candidates, because their levels may fall.
        """
        if self._due_pages.are_all:
            self._due_pages.settle(period_end, np.array(sorted(self._host_levels), np.int32))
            self._period_value = self.value

    def mark_hosts(self, hosts: NDArray[np.intp]) -> None:
        """Let the pages of hosts whose events have moved be valued at the next choice."""
        is_large = self._model.are_large(hosts, MIN_BOUNDED_PAGES)
        self._due_pages.mark_hosts(hosts[~is_large])
        self._moved_hosts.update(dict.fromkeys(hosts[is_large].tolist(), np.inf))

    def value_moved_hosts(
        self, now: float, caps: HostCaps, reserve: int, known_bounds: BoundsByHost | None = None
    ) -> BoundsByHost:
        """Mark the pages of large hosts whose events moved, unless their value has a low bound.

        A host has a level above the threshold if more pages than its reserve may reach it. Returns
        the bounds of these hosts, which hold until something is learned or a page is chosen. Bounds
        that are known already are not computed again.
        """
        bounds_by_host = dict(known_bounds or {})
        if self._due_pages.are_all:
            self._due_pages.mark_hosts(self.moved_hosts)
            self._moved_hosts, self._host_levels = {}, {}
        moved_hosts, self._moved_hosts = self._moved_hosts, {}
        hosts = np.array(sorted(moved_hosts), np.int32)
        limits = self._model.page_states.limits_of_hosts(hosts, caps)
        for host, limit in zip(hosts.tolist(), limits.tolist(), strict=True):
            rows = self._due_pages.rows_of_hosts(np.array([host], np.int32))
            if host not in bounds_by_host:
                bounds_by_host[host] = host_bounds(self._model, host, rows, now)
            bounds = bounds_by_host[host]
            if bounds is None or host not in self._host_levels:
                self._due_pages.mark(rows)
            if bounds is None:
                self._host_levels.pop(host, None)
                continue
            highest_level = moved_hosts[host] if limit > 0 else self.value
            level = min(highest_level, bounds.level_of(_host_reserve(reserve), self.value))
            self._set_level(host, max(self.value, level), bounds, now)
        return bounds_by_host

    def _set_level(self, host: int, level: float, bounds: HostBounds, now: float) -> None:
        """Set the level of a host, and when its pages may reach it.

        Pages that may be the best of their host are marked, because one of them is its sentinel.
        """
        rows = self._due_pages.rows_of_hosts(np.array([host], np.int32))
        best = self._model.page_scores(bounds.best_rows, now).values
        lowest = min(level, float(best.min(initial=np.inf)))
        options = (lowest, level, now)
        self._due_pages.set_times(lambda due, end: bounds.set_due_times(rows, due, options, end))
        self._host_levels[host] = level

    def rows_above(
        self, rows: NDArray[np.intp], now: float, reserve: int
    ) -> tuple[NDArray[np.intp], PageScores]:
        """Return the rows that reach the threshold; the others fall due when they may reach it.

        The threshold is raised so that about ``reserve`` pages reach it, if far more do now. Of
        very many rows a sample is scored for that first.
        """
        if len(rows) <= MAX_ROWS_SCORED_AT_ONCE:
            scores = self._model.page_scores(rows, now)
            self._raise_levels(rows, scores.values, reserve)
            self._sentinels.consider(rows, scores.values)
            return self._keep_above(rows, scores, now)
        sample = np.ascontiguousarray(rows[:: 1 + len(rows) // MAX_THRESHOLD_SAMPLE])
        values = self._model.page_scores(sample, now).values
        self._raise(values, reserve * len(sample) // len(rows))
        # The compiled loops run without the lock of the interpreter.
        half, lock = len(rows) // 2, Lock()
        with ThreadPoolExecutor(1) as thread:
            first_half = thread.submit(self._score_blocks, rows[:half], now, lock)
            second_half = self._score_blocks(rows[half:], now, lock)
            parts = first_half.result() + second_half
        return (
            np.concatenate([above for above, _ in parts]),
            concatenate_scores([scores for _, scores in parts]),
        )

    def _score_blocks(
        self, rows: NDArray[np.intp], now: float, lock: Lock
    ) -> list[tuple[NDArray[np.intp], PageScores]]:
        """Return the rows of each block that reach the threshold, and their scores."""
        parts = []
        for block in row_blocks(rows):
            scores = self._model.page_scores(block, now)
            with lock:
                self._sentinels.consider(block, scores.values)
            parts.append(self._keep_above(block, scores, now))
        return parts

    def _keep_above(
        self, rows: NDArray[np.intp], scores: PageScores, now: float
    ) -> tuple[NDArray[np.intp], PageScores]:
        """Return the rows that reach the threshold and stay due, and their scores.

        For the others it is set when they may reach it, if nothing else is learned.
        """
        levels = self._levels_of(rows)
        is_above = scores.values >= levels
        self._due_pages.keep_due(rows[is_above])
        others, other_scores = rows[~is_above], scores[~is_above]
        growth_days = self._model.growth_days(others, other_scores.ages, now)
        days = days_below_multiplier(replace(other_scores, ages=growth_days), levels[~is_above])
        self._due_pages.defer(others, now + DAY_SECONDS * days)
        return rows[is_above], scores[is_above]

    def _levels_of(self, rows: NDArray[np.intp]) -> FloatArray:
        """Return the values that pages have to reach: the threshold, or the level of their host."""
        levels = np.full(len(rows), self.value)
        if self._host_levels:
            hosts = self._model.page_states.host[rows]
            for host, level in self._host_levels.items():
                levels[hosts == host] = max(level, self.value)
        return levels

    def _raise_levels(self, rows: NDArray[np.intp], values: FloatArray, reserve: int) -> None:
        """Raise the threshold and the levels of hosts, each by the pages to which it applies."""
        if not self._host_levels:
            self._raise(values, reserve)
            return
        hosts = self._model.page_states.host[rows]
        for host, level in self._host_levels.items():
            host_values = values[hosts == host]
            if np.count_nonzero(host_values > level) > 2 * _host_reserve(reserve):
                self._host_levels[host] = kth_highest(host_values, _host_reserve(reserve))
        self._raise(values[~np.isin(hosts, list(self._host_levels))], reserve)

    def _raise(self, values: FloatArray, reserve: int) -> None:
        """Raise the threshold to the value of the last page of the reserve, if it is exceeded."""
        if len(values) > MAX_RESERVE_RATIO * reserve:
            rank = max(1, reserve)
            self.value = max(self.value, float(np.partition(values, -rank)[-rank]))


def _host_reserve(reserve: int) -> int:
    """Return how many pages of a host reach its level, given how many reach the threshold."""
    return max(1, reserve - MIN_RESERVE + HOST_RESERVE)
