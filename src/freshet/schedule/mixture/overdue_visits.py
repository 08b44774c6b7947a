"""Visits of pages that have waited for very many rounds, so that no page waits for ever.

A round is the time in which the budget would visit every page once. If some pages change at every
look and fill the budget, others would hardly be visited again. A page that has waited for more than
``MAX_ROUNDS`` rounds is overdue, and a share of ``1 / MAX_ROUNDS`` of the visits goes to overdue
pages, the oldest first: that is enough to visit every page once in so many rounds.
"""

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, HOUR_SECONDS, HostCaps
from freshet.schedule.mixture.candidate_ranking import CandidateRanking
from freshet.schedule.page_states import PageStates

MAX_ROUNDS = 20.0
MEMORY_DAYS = 30.0


class OverdueVisits:
    """Finds the overdue pages that are visited next.

    ``visits_per_day`` is a mean over about the last month. It is too low in the first weeks, so
    that a round seems longer then.
    """

    def __init__(self, page_states: PageStates, oldest_first: CandidateRanking) -> None:
        self._page_states = page_states
        self._oldest_first = oldest_first
        self._last_time = self._checked_period = np.nan
        self._longest_wait = self._owed_visits = 0.0
        self.visits_per_day = 0.0

    @property
    def max_days(self) -> float:
        """Return after how many days without a look a page is overdue."""
        if self.visits_per_day <= 0.0:
            return np.inf
        return MAX_ROUNDS * len(self._page_states) / self.visits_per_day

    def add_visits(self, count: int) -> None:
        """Count chosen visits, or with a negative number visits that were not made."""
        self.visits_per_day = max(0.0, self.visits_per_day + count / MEMORY_DAYS)

    def next_rows(self, now: float, k: int, caps: HostCaps) -> NDArray[np.intp]:
        """Return the rows of the overdue pages that get one of the next k visits."""
        self._fade(now)
        if now // HOUR_SECONDS != self._checked_period:
            self._checked_period = now // HOUR_SECONDS
            looks = self._page_states.last_look
            oldest = float(np.fmin.reduce(looks, initial=np.inf))
            self._longest_wait = (now - oldest) / DAY_SECONDS
        if self._longest_wait <= self.max_days:
            self._owed_visits = 0.0
            return np.empty(0, np.intp)
        self._owed_visits = min(self._owed_visits + k / MAX_ROUNDS, k / MAX_ROUNDS + 1.0)
        rows = self._oldest_first.best_rows(now, int(self._owed_visits), caps)
        ages = self._page_states.days_since_look(rows, now)
        overdue_rows: NDArray[np.intp] = rows[(ages > self.max_days) & np.isfinite(ages)]
        self._owed_visits -= len(overdue_rows)
        return overdue_rows

    def _fade(self, now: float) -> None:
        """Let visits of earlier days count less."""
        if now > self._last_time:
            self.visits_per_day *= np.exp((self._last_time - now) / DAY_SECONDS / MEMORY_DAYS)
        self._last_time = now
