"""The pages to be scored at a choice, without a look at all pages each time.

Every page has a time from which its value may reach the policy's threshold. At the first choice of
a period all pages are compared with it. Until the end of the period, only pages that fall due
within it are candidates, and pages that were marked since. In the same way only the candidates that
fall due within seconds are compared at each choice.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import SPARE_DIVISOR, ColumnSpec
from freshet.schedule.kernels import due_pages as kernels
from freshet.schedule.kernels.due_pages import ALWAYS_DUE, DueTimes
from freshet.schedule.page_states import PageStates

# The time from which a page is due, in whole seconds since the epoch.
DUE_COLUMN, DUE_TIMES = "due", ColumnSpec(np.uint32, ALWAYS_DUE)


# The candidates that fall due within these seconds are found at once.
SOON_SECONDS = 10.0


class DuePages:
    """The candidates of the current period, all pages at first, and the rows of every host."""

    def __init__(self, page_states: PageStates) -> None:
        self._page_states = page_states
        self._candidates: NDArray[np.intp] | None = None
        self._soon_due, self._soon_end = np.empty(0, np.intp), -np.inf
        # Marked pages: new ones, and those among the ones due soon but not among the candidates.
        self._marked: list[NDArray[np.intp]] = []
        self._soon_marked: list[NDArray[np.intp]] = []
        self._marked_count = 0
        self._rows_by_host = np.empty(0, np.int32)
        self._host_starts = np.zeros(1, np.int32)

    @property
    def are_all(self) -> bool:
        """Return whether all pages are candidates, as at the first choice of a period."""
        return self._candidates is None

    @property
    def nbytes(self) -> int:
        """Return the memory of candidates and of the rows by host in bytes."""
        candidates = 0 if self._candidates is None else self._candidates.nbytes
        return candidates + self._rows_by_host.nbytes + self._host_starts.nbytes

    def reset(self) -> None:
        """Make all pages candidates, after rows were removed or replaced."""
        self._forget_candidates()
        self._rows_by_host, self._host_starts = np.empty(0, np.int32), np.zeros(1, np.int32)

    def mark_all(self) -> None:
        """Mark all pages to be scored at the next choice."""
        self._times[:] = ALWAYS_DUE
        self._forget_candidates()

    def mark(self, rows: IndexArray | NDArray[np.intp]) -> None:
        """Mark pages to be scored at the next choice."""
        self._times[rows] = ALWAYS_DUE
        if self._candidates is None:
            return
        self._marked.append(rows.astype(np.intp))
        self._marked_count += len(rows)
        if self._marked_count > len(self._page_states) // 2:
            self._forget_candidates()

    def mark_hosts(self, hosts: NDArray[Any]) -> None:
        """Mark all pages of hosts to be scored at the next choice."""
        self.mark(self.rows_of_hosts(hosts))

    def mark_candidates(self) -> None:
        """Mark the candidates of the period to be scored at the next choice."""
        if self._candidates is None:
            self.mark_all()
        else:
            self._candidates = self._merge_marked(self._candidates)
            self._times[self._candidates] = ALWAYS_DUE

    def rows_of_hosts(self, hosts: NDArray[Any]) -> IndexArray:
        """Return the rows of all pages of hosts, in ascending order."""
        self._index_hosts()
        states, indexed, starts = self._page_states, len(self._rows_by_host), self._host_starts
        parts = [
            self._rows_by_host[starts[host] : starts[host + 1]]
            for host in hosts[hosts < len(starts) - 1].tolist()
        ]
        newer_rows = indexed + np.flatnonzero(np.isin(states.host[indexed:], hosts))
        if len(parts) == 1 and not len(newer_rows):
            return parts[0]
        return np.sort(np.concatenate([*parts, newer_rows.astype(np.int32)]))

    def defer(self, rows: NDArray[np.intp], times: FloatArray) -> None:
        """Set the times in seconds from which pages have to be scored again."""
        self._times[rows] = kernels.due_times(times)

    def keep_due(self, rows: NDArray[np.intp]) -> None:
        """Let pages that were scored be scored again at the next choice."""
        self._times[rows] = ALWAYS_DUE

    def set_times(self, set_due: Callable[[DueTimes, int], NDArray[np.intp]]) -> None:
        """Let a function set the times of candidates.

        It gets the column and a time, and returns the rows in ascending order that fall due by
        that time and did not before.
        """
        soon_rows = set_due(self._times, kernels.due_time(max(self._soon_end, 0.0)))
        self._soon_due = kernels.merge_rows(self._soon_due, soon_rows)

    def rows(self, now: float) -> NDArray[np.intp]:
        """Return the rows that are due, in ascending order."""
        if self._candidates is None:
            return np.flatnonzero(self._times <= kernels.due_time(now))
        if now > self._soon_end:
            self._candidates = self._merge_marked(self._candidates)
            self._soon_end = now + SOON_SECONDS
            self._soon_due = kernels.rows_due(self._candidates, self._times, self._soon_end)
        elif self._marked:
            self._soon_due = _merge(self._soon_due, self._marked)
            self._soon_marked, self._marked = self._soon_marked + self._marked, []
        return kernels.rows_due(self._soon_due, self._times, now)

    def settle(self, period_end: float, hosts: NDArray[Any]) -> None:
        """Keep only pages as candidates that fall due by the end of the period, or are of hosts.

        This is done once in a period: a page that is due later by a higher threshold remains.
        """
        if self._candidates is None:
            candidates = self.rows(period_end)
            self._candidates = kernels.merge_rows(candidates, self.rows_of_hosts(hosts))

    @property
    def _times(self) -> DueTimes:
        """Return the time from which every page is due."""
        times: DueTimes = self._page_states.column(DUE_COLUMN)
        return times

    def _index_hosts(self) -> None:
        """Group all rows by host again if many were added since."""
        states = self._page_states
        if len(states) - len(self._rows_by_host) > len(states) // SPARE_DIVISOR:
            self._rows_by_host, self._host_starts = kernels.group_rows(
                states.host, len(states.hosts)
            )

    def _merge_marked(self, candidates: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return candidates with the marked pages; those due soon have to be found again."""
        marked = self._soon_marked + self._marked
        self._forget_marked()
        return _merge(candidates, marked) if marked else candidates

    def _forget_candidates(self) -> None:
        """Make all pages candidates."""
        self._candidates = None
        self._forget_marked()

    def _forget_marked(self) -> None:
        """Forget which pages were marked, and which are due soon."""
        self._marked, self._soon_marked, self._marked_count = [], [], 0
        self._soon_due, self._soon_end = np.empty(0, np.intp), -np.inf


def _merge(rows: NDArray[np.intp], parts: list[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Return rows in ascending order, with the rows of all parts."""
    return kernels.merge_rows(rows, np.sort(np.concatenate(parts)))
