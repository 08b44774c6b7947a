"""What every policy remembers of its pages, as columns: their place, their looks, their failures.

A visit that is no look costs budget and leaves the age running; it lowers the page's value by the
chance that the next visit is a look, over about the last ten visits, and backs the page off.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, BoolArray, HostCaps, PageIdArray, PageTable, VisitTable
from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.schedule.columns import (
    NOT_FOUND,
    ColumnSpec,
    GrowableColumns,
    KeyIndex,
    SmallFloatArray,
)
from freshet.schedule.kernels import states as kernels
from freshet.schedule.top_k import RowPositions, TieBreaker, top_k

GROUPS = ("hosts", "sites", "directories")
COMMON_COLUMNS = {
    "host": ColumnSpec(np.int32),
    "site": ColumnSpec(np.int32),
    "directory": ColumnSpec(np.int32),
    "importance": ColumnSpec(np.float32, 1),
    "last": ColumnSpec(np.float64, np.nan),
    "measured": ColumnSpec(np.int32),
    "changes": ColumnSpec(np.int32),
    "recent_looks": ColumnSpec(np.float32),
    "recent_failures": ColumnSpec(np.float32),
    "streak": ColumnSpec(np.uint8),
    "not_before": ColumnSpec(np.float64, -np.inf),
    "pending": ColumnSpec(np.bool_),
}


@dataclass(frozen=True, slots=True)
class RevisitDelays:
    """How long a page is left alone, in seconds: after any visit, and after failures in a row.

    The first failure makes it wait for ``first_backoff_seconds``, each further one twice as long as the one
    before, up to ``longest_backoff_seconds``.
    """

    page_interval_seconds: float = 0.0
    first_backoff_seconds: float = 3_600.0
    longest_backoff_seconds: float = 30 * DAY_SECONDS


@dataclass(frozen=True, slots=True)
class LookBatch:
    """Looks that were taken in, in the order of the visits; a page may come several times.

    ``gap_days`` are the days since the look before, never negative, NaN where there was none;
    ``measured`` ones have a look before that they were compared with.
    """

    rows: IndexArray
    times: FloatArray
    gap_days: FloatArray
    measured: BoolArray
    changed: BoolArray

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, places: NDArray[Any]) -> "LookBatch":
        columns = (self.rows, self.times, self.gap_days, self.measured, self.changed)
        return LookBatch(*(column[places] for column in columns))

    def split_repeated_pages(self) -> Iterator["LookBatch"]:
        """Yield the looks in rounds in which no page comes twice, each page's in their order."""
        ranks = ranks_within_groups(self.rows)
        for rank in range(int(ranks.max(initial=-1)) + 1):
            yield self[ranks == rank]


class PageStates:
    """The columns that all policies share, with those a policy adds; a row a page.

    The columns are arrays of exactly one entry a page, replaced whenever pages come or go.
    """

    host: IndexArray
    site: IndexArray
    directory: IndexArray
    importance: SmallFloatArray
    last: FloatArray
    measured: IndexArray
    changes: IndexArray
    recent_looks: SmallFloatArray
    recent_failures: SmallFloatArray
    streak: NDArray[np.uint8]
    not_before: FloatArray
    pending: BoolArray

    def __init__(
        self, waits: RevisitDelays | None = None, extra: Mapping[str, ColumnSpec] | None = None
    ):
        waits = waits or RevisitDelays()
        self._waits = (
            waits.page_interval_seconds,
            waits.first_backoff_seconds,
            waits.longest_backoff_seconds,
        )
        self.hosts, self.sites, self.directories = (KeyIndex(np.uint64) for _ in GROUPS)
        self._pages = KeyIndex(np.int64)
        self._columns = GrowableColumns(COMMON_COLUMNS | dict(extra or {}))
        self._show_columns()

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def ids(self) -> PageIdArray:
        """Return the page of every row."""
        return self._pages.keys

    @property
    def nbytes(self) -> int:
        """Return the memory that all columns and indices take."""
        indices = (self._pages, self.hosts, self.sites, self.directories)
        return self._columns.nbytes + sum(index.nbytes for index in indices)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column that the policy added."""
        return self._columns[name]

    def rows_by_page_id(self) -> IndexArray:
        """Return all rows in the order of their pages' ids, which no order of arrival alters."""
        return self._pages.sorted_rows()

    def find_rows(self, ids: PageIdArray) -> IndexArray:
        """Return the row of every page, ``NOT_FOUND`` for those that are not known."""
        return self._pages.find(ids)

    def known_rows(self, ids: PageIdArray) -> IndexArray:
        """Return the rows of those pages that are known."""
        rows = self.find_rows(ids)
        found: IndexArray = rows[rows != NOT_FOUND]
        return found

    def add(self, pages: PageTable) -> IndexArray:
        """Take pages in, the importance of known ones alone; return the rows of the new ones."""
        held = len(self)
        rows = self._pages.add(pages.ids)
        self._columns.append_rows(len(self) - held)
        self._show_columns()
        self.importance[rows] = pages.importance
        new = rows >= held
        self.host[rows[new]] = self.hosts.add(pages.hosts[new])
        self.site[rows[new]] = self.sites.add(pages.sites[new])
        self.directory[rows[new]] = self.directories.add(pages.directories[new])
        self.last[rows[new]] = pages.known_since[new]
        return np.arange(held, len(self), dtype=np.int32)

    def forget(self, ids: PageIdArray) -> BoolArray:
        """Leave pages out; return which rows were kept, in their old order."""
        kept = np.ones(len(self), np.bool_)
        kept[self.known_rows(ids)] = False
        if not kept.all():
            self._pages.keep_rows(kept)
            self._columns.keep_rows(kept)
            self._show_columns()
        return kept

    def add_visits(self, visits: VisitTable) -> LookBatch:
        """Take in visits of known pages; return the looks among them."""
        rows = self.find_rows(visits.pages)
        known = rows != NOT_FOUND
        columns = (visits.times, visits.looks, visits.measured, visits.changed)
        rows, (times, looks, measured, changed) = rows[known], (part[known] for part in columns)
        gaps = kernels.add_visits(
            (rows, times, looks, measured, changed),
            (self.last, self.measured, self.changes),
            (
                self.recent_looks,
                self.recent_failures,
                self.streak,
                self.not_before,
                self.pending,
            ),
            self._waits,
        )
        return LookBatch(rows, times, gaps, measured & ~np.isnan(gaps), changed)[looks]

    def mark_pending(self, rows: NDArray[Any]) -> None:
        """Make pages pending: chosen, and not yet learnt or released."""
        self.pending[rows] = True

    def release(self, ids: PageIdArray) -> None:
        """Take back pages that were chosen and not visited."""
        self.pending[self.known_rows(ids)] = False

    def eligible_rows(
        self, now: float, caps: HostCaps, candidates: NDArray[np.intp] | None = None
    ) -> NDArray[np.intp]:
        """Return the rows that may be chosen: not pending, barred, backed off or without room."""
        rows = np.arange(len(self)) if candidates is None else candidates
        # A look ahead of now means that the clock was set back: then nobody waits it out.
        rested = (self.not_before[rows] <= now) | (self.last[rows] > now)
        rows = rows[rested & ~self.pending[rows]]
        if len(caps.excluded_pages):
            rows = rows[~np.isin(rows, self.known_rows(caps.excluded_pages))]
        if len(caps.hosts) or caps.default_limit <= 0:
            rows = rows[self.host_limits(caps)[self.host[rows]] > 0]
        return rows

    def next_time(self, now: float) -> float | None:
        """Return when a page may next be chosen, None where all are pending or there are none."""
        waiting = self.not_before[~self.pending]
        return max(now, float(waiting.min())) if len(waiting) else None

    def select_top_k(
        self, rows: NDArray[Any], scores: FloatArray, k: int, caps: HostCaps, draw: TieBreaker
    ) -> RowPositions:
        """Return the places in ``find_rows`` of the k best scores, best first, within every host's room.

        Hosts with more pages among the best than they have room for are pinned at their best
        pages, and the rest is filled by the others.
        """
        room, running = self.host_limits(caps), rows
        places: RowPositions = np.arange(len(rows))
        while True:
            lots = partial(self._lots, running, draw)
            found = top_k(scores[places] if len(places) < len(rows) else scores, k, lots)
            hosts = self.host[running[found]]
            beyond = ranks_within_groups(hosts) >= room[hosts]
            if not beyond.any():
                return places[found]
            stays = ~np.isin(self.host[running], hosts[beyond])
            stays[found[~beyond]] = True
            running, places = running[stays], places[stays]

    def host_limits(self, caps: HostCaps) -> NDArray[np.int64]:
        """Return the room of every host."""
        room = np.full(len(self.hosts), caps.default_limit, np.int64)
        rows = self.hosts.find(caps.hosts)
        room[rows[rows != NOT_FOUND]] = caps.limits[rows != NOT_FOUND]
        return room

    def days_since_look(self, rows: NDArray[Any], now: float, never: float = np.inf) -> FloatArray:
        """Return the days since each page's last look, at least 0, ``never`` where none was.

        The start of a trace counts as a look.
        """
        return kernels.days_since(self.last, rows, now, never)

    def look_chances(self, rows: NDArray[Any]) -> FloatArray:
        """Return the chance that the next visit of each page is a look, by its recent visits."""
        looks = self.recent_looks[rows].astype(np.float64)
        chances: FloatArray = (looks + 1) / (looks + self.recent_failures[rows] + 1)
        return chances

    def state(self) -> dict[str, Any]:
        """Return all columns and keys as plain arrays."""
        groups = {name: getattr(self, name).keys.copy() for name in GROUPS}
        return {"ids": self.ids.copy()} | groups | self._columns.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        self._pages.restore(state["ids"])
        for name in GROUPS:
            getattr(self, name).restore(state[name])
        self._columns.restore(state)
        self._show_columns()

    def _lots(self, rows: NDArray[Any], draw: TieBreaker, places: RowPositions) -> HashArray:
        """Draw the lots of the pages at some places of ``find_rows``."""
        return draw(self.ids[rows[places]])

    def _show_columns(self) -> None:
        """Let the attributes be the columns as they are now."""
        for name in COMMON_COLUMNS:
            setattr(self, name, self._columns[name])


def ranks_within_groups(groups: NDArray[Any]) -> NDArray[np.intp]:
    """Return how many equal entries stand before each entry.

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
