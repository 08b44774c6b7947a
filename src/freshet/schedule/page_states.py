"""The state of pages that all policies share, as columns: groups, looks, failures, back-off.

A visit that is not a look costs budget and does not reset the page's age. It lowers the chance that
the next visit is a look, taken over about the last ten visits, and the page backs off.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, BoolArray, HostCaps, PageIdArray, PageTable, VisitTable
from freshet.core.types import Float32Array, FloatArray, HashArray, IndexArray
from freshet.schedule.columns import (
    NOT_FOUND,
    ColumnSpec,
    GrowableColumns,
    KeyIndex,
)
from freshet.schedule.kernels import page_states as kernels
from freshet.schedule.top_k import RowPositions, TieBreaker, top_k

GROUP_NAMES = ("hosts", "sites", "directories")
# The column of a policy that needs the directories of its pages.
DIRECTORY_COLUMN = {"directory": ColumnSpec(np.int32)}
COMMON_COLUMNS = {
    "host": ColumnSpec(np.int32),
    "site": ColumnSpec(np.int32),
    "importance": ColumnSpec(np.float32, 1),
    "last_look": ColumnSpec(np.float64, np.nan),
    "measured_looks": ColumnSpec(np.int32),
    "changes": ColumnSpec(np.int32),
    "recent_looks": ColumnSpec(np.float32),
    "recent_failures": ColumnSpec(np.float32),
    "failure_streak": ColumnSpec(np.uint8),
    "not_before": ColumnSpec(np.float64, -np.inf),
    "pending": ColumnSpec(np.bool_),
    "value_factor": ColumnSpec(np.float32, 1),
}


@dataclass(frozen=True, slots=True)
class RevisitDelays:
    """The shortest times between visits of a page: after any visit, and after failures in a row.

    The first failure delays the page by ``first_backoff_seconds``, each further one by twice the
    previous delay, up to ``longest_backoff_seconds``.
    """

    page_interval_seconds: float = 0.0
    first_backoff_seconds: float = 3_600.0
    longest_backoff_seconds: float = 30 * DAY_SECONDS


@dataclass(frozen=True, slots=True)
class LookBatch:
    """Looks in the order of the visits; a page may occur several times.

    ``gap_days`` are the days since the page's previous look, at least 0, NaN if there was none.
    ``measured`` looks were compared with the previous look.
    """

    rows: IndexArray
    times: FloatArray
    gap_days: FloatArray
    measured: BoolArray
    changed: BoolArray

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, selection: NDArray[Any]) -> "LookBatch":
        columns = (self.rows, self.times, self.gap_days, self.measured, self.changed)
        return LookBatch(*(column[selection] for column in columns))

    def split_repeated_pages(self) -> Iterator["LookBatch"]:
        """Yield batches in which no page occurs twice; each page's looks keep their order."""
        ranks = ranks_within_groups(self.rows)
        for rank in range(int(ranks.max(initial=-1)) + 1):
            yield self[ranks == rank]


class PageStates:
    """The columns that all policies share and those that a policy adds, with a row per page.

    The attributes are arrays with one entry per page; they are replaced when pages come or go.
    """

    host: IndexArray
    site: IndexArray
    importance: Float32Array
    last_look: FloatArray
    measured_looks: IndexArray
    changes: IndexArray
    recent_looks: Float32Array
    recent_failures: Float32Array
    failure_streak: NDArray[np.uint8]
    not_before: FloatArray
    pending: BoolArray
    value_factor: Float32Array

    def __init__(
        self,
        delays: RevisitDelays | None = None,
        policy_columns: Mapping[str, ColumnSpec] | None = None,
    ):
        delays = delays or RevisitDelays()
        self._delays = (
            delays.page_interval_seconds,
            delays.first_backoff_seconds,
            delays.longest_backoff_seconds,
        )
        self.hosts, self.sites, self.directories = (KeyIndex(np.uint64) for _ in GROUP_NAMES)
        self._pages = KeyIndex(np.int64)
        self._columns = GrowableColumns(COMMON_COLUMNS | dict(policy_columns or {}))
        self._set_attributes()

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def ids(self) -> PageIdArray:
        """Return the page id of every row."""
        return self._pages.keys

    @property
    def nbytes(self) -> int:
        """Return the memory of all columns and indices in bytes."""
        indices = (self._pages, self.hosts, self.sites, self.directories)
        return self._columns.nbytes + sum(index.nbytes for index in indices)

    @property
    def directory(self) -> IndexArray:
        """Return the directory of every row, if the policy has such a column."""
        directories: IndexArray = self._columns["directory"]
        return directories

    def column(self, name: str) -> NDArray[Any]:
        """Return a column that the policy added."""
        return self._columns[name]

    def rows_by_page_id(self) -> IndexArray:
        """Return all rows in the order of their page ids."""
        return self._pages.sorted_rows()

    def find_rows(self, ids: PageIdArray) -> IndexArray:
        """Return the row of every page, ``NOT_FOUND`` for unknown pages."""
        return self._pages.find(ids)

    def known_rows(self, ids: PageIdArray) -> IndexArray:
        """Return the rows of the pages that are known."""
        rows = self.find_rows(ids)
        known_rows: IndexArray = rows[rows != NOT_FOUND]
        return known_rows

    def add(self, pages: PageTable) -> IndexArray:
        """Add new pages and update the importance of known ones; return the rows of the new."""
        count = len(self)
        rows = self._pages.add(pages.ids)
        self._columns.append_rows(len(self) - count)
        self._set_attributes()
        self.importance[rows] = pages.importance
        is_new = rows >= count
        self.host[rows[is_new]] = self.hosts.add(pages.hosts[is_new])
        self.site[rows[is_new]] = self.sites.add(pages.sites[is_new])
        if "directory" in self._columns:
            self.directory[rows[is_new]] = self.directories.add(pages.directories[is_new])
        self.last_look[rows[is_new]] = pages.known_since[is_new]
        return np.arange(count, len(self), dtype=np.int32)

    def forget(self, ids: PageIdArray) -> BoolArray:
        """Remove pages; return a mask of the former rows that remain."""
        mask = np.ones(len(self), np.bool_)
        mask[self.known_rows(ids)] = False
        if not mask.all():
            self._pages.keep_rows(mask)
            self._columns.keep_rows(mask)
            self._set_attributes()
        return mask

    def add_visits(self, visits: VisitTable) -> LookBatch:
        """Add visits of known pages; return the looks among them."""
        all_rows = self.find_rows(visits.pages)
        is_known = all_rows != NOT_FOUND
        columns = (all_rows, visits.times, visits.looks, visits.measured, visits.changed)
        if np.count_nonzero(is_known) < len(visits):
            columns = tuple(column[is_known] for column in columns)
        rows, times, looks, measured, changed = columns
        gap_days = kernels.add_visits(
            (rows, times, looks, measured, changed),
            (self.last_look, self.measured_looks, self.changes),
            (
                self.recent_looks,
                self.recent_failures,
                self.failure_streak,
                self.not_before,
                self.pending,
            ),
            self._delays,
        )
        batch = LookBatch(rows, times, gap_days, measured & ~np.isnan(gap_days), changed)
        return batch if np.count_nonzero(looks) == len(looks) else batch[looks]

    def bound_times(self, now: float) -> None:
        """Let looks after now count as made now, and shorten waits that no delay allows.

        Such times show that the clock was set back; the pages would not be visited for that long.
        """
        rows = np.flatnonzero(self.last_look > now)
        self.last_look[rows] = now
        self.not_before[rows] = np.minimum(self.not_before[rows], now)
        np.minimum(self.not_before, now + max(self._delays), out=self.not_before)

    def mark_pending(self, rows: NDArray[Any]) -> None:
        """Mark pages as pending: chosen, and neither visited nor released yet."""
        self.pending[rows] = True

    def release(self, ids: PageIdArray) -> None:
        """Make pages that were chosen and not visited available again."""
        self.pending[self.known_rows(ids)] = False

    def eligible_rows(
        self, now: float, caps: HostCaps, candidates: NDArray[Any] | None = None
    ) -> NDArray[np.intp]:
        """Return the rows that may be chosen: not pending, excluded, backed off or over a limit."""
        columns = (self.not_before, self.last_look, self.pending)
        rows = kernels.free_rows(candidates, columns, now)
        if len(caps.excluded_pages):
            rows = rows[~np.isin(rows, self.known_rows(caps.excluded_pages))]
        if caps.default_limit <= 0 or np.any(caps.limits <= 0):
            rows = rows[self.host_limits(caps)[self.host[rows]] > 0]
        return rows

    def next_time(self, now: float) -> float | None:
        """Return when a page may next be chosen, None if no page is free."""
        times = self.not_before[~self.pending]
        return max(now, float(times.min())) if len(times) else None

    def select_top_k(
        self,
        rows: NDArray[Any],
        scores: FloatArray,
        k: int,
        caps: HostCaps,
        break_ties: TieBreaker,
    ) -> RowPositions:
        """Return the positions in ``rows`` of the k best scores within host limits, best first.

        A host with more pages among the best than its limit keeps only its best pages, and the
        selection is repeated with the other hosts.
        """
        candidates, positions = rows, np.arange(len(rows))
        while True:
            tie_breaks = partial(self._tie_breaks, candidates, break_ties)
            candidate_scores = scores[positions] if len(positions) < len(rows) else scores
            best = top_k(candidate_scores, k, tie_breaks)
            hosts = self.host[candidates[best]]
            is_over_limit = ranks_within_groups(hosts) >= self.limits_of_hosts(hosts, caps)
            if not is_over_limit.any():
                return positions[best]
            remains = ~np.isin(self.host[candidates], hosts[is_over_limit])
            remains[best[~is_over_limit]] = True
            candidates, positions = candidates[remains], positions[remains]

    def host_limits(self, caps: HostCaps) -> NDArray[np.int64]:
        """Return the largest number of visits of every host."""
        limits = np.full(len(self.hosts), caps.default_limit, np.int64)
        rows = self.hosts.find(caps.hosts)
        limits[rows[rows != NOT_FOUND]] = caps.limits[rows != NOT_FOUND]
        return limits

    def limits_of_hosts(self, hosts: IndexArray, caps: HostCaps) -> NDArray[np.int64]:
        """Return the largest number of visits of some hosts."""
        limits = np.full(len(hosts), caps.default_limit, np.int64)
        if len(caps.hosts):
            named = self.hosts.find(caps.hosts)
            order = np.argsort(named, kind="stable")
            positions = np.searchsorted(named[order], hosts, side="right") - 1
            is_named = named[order][positions] == hosts
            limits[is_named] = caps.limits[order][positions[is_named]]
        return limits

    def max_choices(self, now: float, caps: HostCaps) -> int:
        """Return the largest number of pages that host limits allow to choose."""
        pages = np.bincount(self.host[self.eligible_rows(now, caps)], minlength=len(self.hosts))
        return int(np.minimum(pages, self.host_limits(caps)).sum())

    def are_unlimited(self, caps: HostCaps, k: int) -> bool:
        """Return whether host limits allow any choice of k pages."""
        return caps.default_limit >= k and not np.any(caps.limits < k)

    def days_since_look(self, rows: NDArray[Any], now: float, never: float = np.inf) -> FloatArray:
        """Return the days since each page's last look, at least 0, or ``never`` if it had none.

        The start of a trace counts as a look.
        """
        return kernels.days_since(self.last_look, rows, now, never)

    def look_chances(self, rows: NDArray[Any]) -> FloatArray:
        """Return the chance that each page's next visit is a look, by its recent visits."""
        looks = self.recent_looks[rows].astype(np.float64)
        chances: FloatArray = (looks + 1) / (looks + self.recent_failures[rows] + 1)
        return chances

    def state(self) -> dict[str, Any]:
        """Return all columns and keys as plain arrays."""
        groups = {name: getattr(self, name).keys.copy() for name in GROUP_NAMES}
        return {"ids": self.ids.copy()} | groups | self._columns.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self._pages.restore(state["ids"])
        for name in GROUP_NAMES:
            getattr(self, name).restore(state[name])
        self._columns.restore(state)
        self._set_attributes()

    def _tie_breaks(
        self, rows: NDArray[Any], break_ties: TieBreaker, positions: RowPositions
    ) -> HashArray:
        return break_ties(self.ids[rows[positions]])

    def _set_attributes(self) -> None:
        """Set the attributes to the current columns."""
        for name in COMMON_COLUMNS:
            setattr(self, name, self._columns[name])


def ranks_within_groups(groups: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of equal entries before each entry.

    >>> ranks_within_groups(np.array([7, 3, 7, 7, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(groups, kind="stable")
    sorted_groups = groups[order]
    starts = np.flatnonzero(np.append(True, sorted_groups[1:] != sorted_groups[:-1]))
    sizes = np.diff(np.append(starts, len(groups)))
    ranks = np.empty(len(groups), np.intp)
    ranks[order] = np.arange(len(groups)) - np.repeat(starts, sizes)
    return ranks
