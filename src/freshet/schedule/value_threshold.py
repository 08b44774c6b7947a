"""The value that a page must reach to be scored at each choice, and the pages that may reach it.

The threshold is the value of the last page of a small reserve, so that the best pages are always
among those due. When the reserve is used up, the threshold falls to that of the period: the value
of the last page of a larger reserve, found at the first choice of the period.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import row_blocks
from freshet.schedule.due_pages import DuePages
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.host_bounds import host_bounds
from freshet.schedule.objectives import PageScores, concatenate_scores, days_below_multiplier
from freshet.schedule.sentinels import Sentinels

MIN_RESERVE, RESERVE_SHARE, MAX_RESERVE_RATIO = 1024, 256, 1.25
# The pages of a host with so many pages are scored after an event only if a bound allows it.
MIN_BOUNDED_PAGES = 4096
MAX_THRESHOLD_SAMPLE, MAX_ROWS_SCORED_AT_ONCE, SCORING_THREADS = 1 << 16, 1 << 18, 2


class ValueThreshold:
    """Scores due pages, and defers those below the threshold until they may reach it."""

    def __init__(self, model: ForecastModel, due_pages: DuePages, sentinels: Sentinels) -> None:
        self._model = model
        self._due_pages = due_pages
        self._sentinels = sentinels
        self.value = 0.0
        self._period_value = 0.0
        self._moved_hosts: set[int] = set()
        self._bounded_hosts: set[int] = set()

    @property
    def moved_hosts(self) -> IndexArray:
        """Return the large hosts whose pages were not valued since their events moved."""
        return np.array(sorted(self._moved_hosts), np.int32)

    def restore(self, value: float, moved_hosts: IndexArray) -> None:
        """Continue with a value and the hosts that ``moved_hosts`` returned."""
        self.value, self._moved_hosts = value, set(moved_hosts.tolist())

    def reserve(self, k: int) -> int:
        """Return how many pages reach the threshold: more at the first choice of a period."""
        pages = len(self._model.page_states) // RESERVE_SHARE if self._due_pages.are_all else 0
        return k + max(MIN_RESERVE, pages)

    def reset(self) -> None:
        """Let all pages be scored at the next choice."""
        self.value = 0.0
        self._due_pages.mark_all()

    def fall_back(self) -> bool:
        """Let the threshold fall to that of the period, and mark all pages that may reach it.

        Returns False if it is not above it.
        """
        if not self.value > self._period_value:
            return False
        self.value = self._period_value
        self._due_pages.mark_candidates()
        return True

    def settle(self, period_end: float) -> None:
        """Find the candidates of a period after its first choice."""
        if self._due_pages.are_all:
            self._due_pages.settle(period_end)
            self._period_value, self._bounded_hosts = self.value, set()

    def mark_hosts(self, hosts: NDArray[np.intp]) -> None:
        """Let the pages of hosts whose events have moved be valued at the next choice."""
        is_large = self._model.are_large(hosts, MIN_BOUNDED_PAGES)
        self._due_pages.mark_hosts(hosts[~is_large])
        self._moved_hosts.update(hosts[is_large].tolist())

    def value_moved_hosts(self, now: float, caps: HostCaps) -> None:
        """Mark the pages of large hosts whose events moved, unless their value has a low bound.

        The threshold is raised if very many pages of the host may be among the best. Pages that may
        be the best of their host are marked, because one of them is its sentinel.
        """
        hosts, self._moved_hosts = self.moved_hosts, set()
        are_all = self._due_pages.are_all
        for host, limit in zip(
            hosts, self._model.page_states.limits_of_hosts(hosts, caps), strict=True
        ):
            rows = self._due_pages.rows_of_hosts(host[np.newaxis])
            bounds = None if are_all else host_bounds(self._model, int(host), rows, now)
            if bounds is None:
                self._due_pages.mark_hosts(host[np.newaxis])
                continue
            if limit > 0:
                self.value = bounds.level_of(2 * MIN_RESERVE, self.value)
            best = self._model.page_scores(bounds.best_rows, now).values
            lowest = min(self.value, float(best.min(initial=np.inf)))
            if int(host) not in self._bounded_hosts:
                self._due_pages.mark_hosts(host[np.newaxis])
                self._bounded_hosts.add(int(host))
            self._due_pages.set_times(rows, bounds.due_times(lowest, self.value, now))

    def rows_above(
        self, rows: NDArray[np.intp], now: float, reserve: int
    ) -> tuple[NDArray[np.intp], PageScores]:
        """Return the rows that reach the threshold; the others fall due when they may reach it.

        The threshold is raised so that about ``reserve`` pages reach it, if far more do now. Of
        very many rows a sample is scored for that first.
        """
        if len(rows) <= MAX_ROWS_SCORED_AT_ONCE:
            scores = self._model.page_scores(rows, now)
            self._raise(scores.values, reserve)
            self._sentinels.consider(rows, scores.values)
            return self._keep_above(rows, scores, now)
        sample = np.ascontiguousarray(rows[:: 1 + len(rows) // MAX_THRESHOLD_SAMPLE])
        values = self._model.page_scores(sample, now).values
        self._raise(values, reserve * len(sample) // len(rows))
        # The compiled loops run without the lock of the interpreter.
        with ThreadPoolExecutor(SCORING_THREADS) as threads:
            parts = list(threads.map(partial(self._score_block, now, Lock()), row_blocks(rows)))
        return (
            np.concatenate([above for above, _ in parts]),
            concatenate_scores([scores for _, scores in parts]),
        )

    def _score_block(
        self, now: float, lock: Lock, rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], PageScores]:
        """Return the rows that reach the threshold, and their scores."""
        scores = self._model.page_scores(rows, now)
        with lock:
            self._sentinels.consider(rows, scores.values)
        return self._keep_above(rows, scores, now)

    def _keep_above(
        self, rows: NDArray[np.intp], scores: PageScores, now: float
    ) -> tuple[NDArray[np.intp], PageScores]:
        """Return the rows that reach the threshold and stay due, and their scores.

        For the others it is set when they may reach it, if nothing else is learned.
        """
        is_above = scores.values >= self.value
        self._due_pages.keep_due(rows[is_above])
        others, other_scores = rows[~is_above], scores[~is_above]
        growth_days = self._model.growth_days(others, other_scores.ages, now)
        days = days_below_multiplier(replace(other_scores, ages=growth_days), self.value)
        self._due_pages.defer(others, now + DAY_SECONDS * days)
        return rows[is_above], scores[is_above]

    def _raise(self, values: FloatArray, reserve: int) -> None:
        """Raise the threshold to the value of the last page of the reserve, if it is exceeded."""
        if len(values) > MAX_RESERVE_RATIO * reserve:
            rank = max(1, reserve)
            self.value = max(self.value, float(np.partition(values, -rank)[-rank]))
