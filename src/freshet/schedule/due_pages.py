"""The pages to be scored at a choice, without a look at all pages each time.

Every page has a time from which its value may reach the policy's threshold. At the first choice of
a period all pages are compared with it. Until the end of the period, only pages that fall due
within it are candidates, and pages that were marked since.
"""

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import SPARE_DIVISOR
from freshet.schedule.kernels import due_pages as kernels
from freshet.schedule.page_states import PageStates


class DuePages:
    """The candidates of the current period, all pages at first, and the rows of every host."""

    def __init__(self, page_states: PageStates) -> None:
        self._page_states = page_states
        self._candidates: NDArray[np.intp] | None = None
        self._marked: list[NDArray[np.intp]] = []
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
        self._page_states.column("due")[:] = -np.inf
        self._forget_candidates()

    def mark(self, rows: IndexArray | NDArray[np.intp]) -> None:
        """Mark pages to be scored at the next choice."""
        self._page_states.column("due")[rows] = -np.inf
        if self._candidates is None:
            return
        self._marked.append(rows.astype(np.intp))
        self._marked_count += len(rows)
        if self._marked_count > len(self._page_states) // 2:
            self._forget_candidates()

    def mark_hosts(self, hosts: NDArray[np.intp]) -> None:
        """Mark all pages of hosts to be scored at the next choice."""
        rows = self.rows_of_hosts(hosts)
        self._page_states.column("due")[rows] = -np.inf
        self._merge(rows)

    def mark_candidates(self) -> None:
        """Mark the candidates of the period to be scored at the next choice."""
        if self._candidates is None:
            self.mark_all()
        else:
            self._merge_marked()
            self._page_states.column("due")[self._candidates] = -np.inf

    def rows_of_hosts(self, hosts: NDArray[np.intp]) -> IndexArray:
        """Return the rows of all pages of hosts, in ascending order."""
        states = self._page_states
        indexed = len(self._rows_by_host)
        if len(states) - indexed > len(states) // SPARE_DIVISOR:
            self._rows_by_host, self._host_starts = kernels.group_rows(
                states.host, len(states.hosts)
            )
            indexed = len(states)
        starts = self._host_starts
        parts = [
            self._rows_by_host[starts[host] : starts[host + 1]]
            for host in hosts[hosts < len(starts) - 1].tolist()
        ]
        newer_rows = indexed + np.flatnonzero(np.isin(states.host[indexed:], hosts))
        if len(parts) == 1 and not len(newer_rows):
            return parts[0]
        return np.sort(np.concatenate([*parts, newer_rows.astype(np.int32)]))

    def defer(self, rows: NDArray[np.intp], times: FloatArray | float) -> None:
        """Set the times from which pages have to be scored again."""
        self._page_states.column("due")[rows] = times

    def rows(self, now: float) -> NDArray[np.intp]:
        """Return the rows that are due, in ascending order."""
        due = self._page_states.column("due")
        if self._candidates is None:
            return np.flatnonzero(due <= now)
        self._merge_marked()
        return kernels.rows_due(self._candidates, due, now)

    def settle(self, period_end: float) -> None:
        """Keep only pages as candidates that fall due by the end of the period.

        This is done once in a period: a page that is due later by a higher threshold remains.
        """
        if self._candidates is None:
            self._candidates = self.rows(period_end)

    def _merge_marked(self) -> None:
        """Add the marked pages to the candidates."""
        if self._marked:
            self._merge(np.sort(np.concatenate(self._marked)))
            self._marked, self._marked_count = [], 0

    def _merge(self, rows: IndexArray | NDArray[np.intp]) -> None:
        """Add rows in ascending order to the candidates."""
        if self._candidates is not None:
            self._candidates = kernels.merge_rows(self._candidates, rows)

    def _forget_candidates(self) -> None:
        """Make all pages candidates."""
        self._candidates, self._marked, self._marked_count = None, [], 0
