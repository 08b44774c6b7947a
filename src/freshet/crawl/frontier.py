"""The live pages of a crawl: which are new, requested, paused, in flight or inactive now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import PageColumns
from freshet.core.active_hours import ActiveHours
from freshet.core.settings import Settings
from freshet.core.tables import PageIdArray, PageTable
from freshet.crawl.live_policy import id_array, page_columns, page_table
from freshet.record.fault_isolation import isolate_faults

NO_PAGES = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class FrontierChange:
    """The changes since the last load: pages added or reweighted, removed, and restored."""

    added: tuple[PageTable, ...]
    removed: PageIdArray
    restored: frozenset[int]


@dataclass(slots=True)
class Frontier:
    """Loads the list of live pages, and the changes that other processes make to it."""

    catalog: Catalog
    settings: Settings
    _data_version: int = -1
    _live: PageIdArray = field(default_factory=NO_PAGES.copy)
    _paused: PageIdArray = field(default_factory=NO_PAGES.copy)
    _removed: frozenset[int] = frozenset()
    _importance: dict[int, float] = field(default_factory=dict)
    _active_hours: dict[int, ActiveHours] = field(default_factory=dict)
    _unvisited: set[int] = field(default_factory=set)
    _requested: dict[int, None] = field(default_factory=dict)
    _in_flight: set[int] = field(default_factory=set)

    @property
    def size(self) -> int:
        """Return the number of live pages that are not paused."""
        return len(self._live) - len(self._paused)

    def is_stale(self) -> bool:
        """Whether another process has written to the catalog since the last load."""
        return self.catalog.data_version() != self._data_version

    def reload(self) -> FrontierChange:
        """Load the changes of the list and return them."""
        is_first = self._data_version < 0
        self._data_version = self.catalog.data_version()
        inactive, importance = self.catalog.inactive_pages(), self.catalog.importance_by_page()
        added_pages = self._load_added(importance)
        restored = frozenset() if is_first else self._removed - inactive.removed
        altered = {
            page for page, _ in importance.items() ^ self._importance.items() if self.contains(page)
        }
        removed_pages = np.intersect1d(self._live, id_array(inactive.removed))
        self._importance, self._removed = importance, inactive.removed
        self._paused = np.sort(id_array(inactive.paused))
        self._unvisited |= set(self.catalog.unvisited_pages()) if is_first else _ids(added_pages)
        self._live = np.union1d(self._live, id_array(_ids(added_pages) | restored))
        self._live = np.setdiff1d(self._live, removed_pages)
        self._requested = dict.fromkeys(self.catalog.requested_pages())
        self._active_hours = _parse_hours(self.catalog.active_hours_by_page())
        return FrontierChange(
            (*added_pages, self.table_of(sorted(restored | altered))), removed_pages, restored
        )

    def _load_added(self, importance: Mapping[int, float]) -> list[PageTable]:
        last_id = int(self._live[-1]) if len(self._live) else 0
        batches = self.catalog.live_page_columns(after_id=last_id)
        return [self._table(batch, importance) for batch in batches]

    def _table(self, pages: PageColumns, importance: Mapping[int, float]) -> PageTable:
        return page_table(pages, importance, self.settings.page.importance)

    def table_of(self, pages: Sequence[int]) -> PageTable:
        """Return live pages as the table that a policy takes."""
        columns = page_columns(self.catalog.pages_by_id(pages).values())
        return self._table(columns, self._importance)

    def contains(self, page: int) -> bool:
        """Whether a page is live."""
        return _contains(self._live, page)

    def count_unpaced(self) -> int:
        """Return the number of pages that need not wait for the pace: unvisited or requested."""
        unavailable = self._in_flight.union(self._paused.tolist())
        requested = self._requested.keys() - self._unvisited - unavailable
        return len(requested) + len(self._unvisited) - len(self._unvisited & unavailable)

    def is_unpaced(self, page: int) -> bool:
        """Whether a page need not wait for the pace."""
        return page in self._unvisited or page in self._requested

    def requested(self, limit: int) -> list[int]:
        """Return requested pages that are not in flight."""
        waiting = (page for page in self._requested if page not in self._in_flight)
        return list(islice(waiting, limit))

    def barred_pages(self, now: datetime) -> PageIdArray:
        """Return the pages that are paused, and those outside their active hours."""
        default_hours = ActiveHours.parse(self.settings.page.active_hours)
        inactive_ids = [
            page for page, hours in self._active_hours.items() if not hours.contains(now)
        ]
        if default_hours is not None and not default_hours.contains(now):
            return np.setdiff1d(self._live, id_array(self._active_hours.keys() - set(inactive_ids)))
        return np.union1d(self._paused, id_array(inactive_ids))

    def is_available(self, page: int, now: datetime) -> bool:
        """Whether a page is live, not in flight, not paused, and in its active hours."""
        if page in self._in_flight or not self.contains(page) or _contains(self._paused, page):
            return False
        hours = self._active_hours.get(page) or ActiveHours.parse(self.settings.page.active_hours)
        return hours is None or hours.contains(now)

    def next_active_start(self, after: datetime) -> datetime | None:
        """Return when active hours next start for any page; None if all pages are always active."""
        default_hours = ActiveHours.parse(self.settings.page.active_hours)
        windows = set(self._active_hours.values()) | ({default_hours} if default_hours else set())
        return min((hours.next_start(after) for hours in windows), default=None)

    @property
    def in_flight(self) -> frozenset[int]:
        """Return the pages that are being fetched."""
        return frozenset(self._in_flight)

    def mark_in_flight(self, pages: Iterable[int]) -> None:
        """Mark pages as being fetched."""
        self._in_flight.update(pages)

    def mark_refused(self, pages: Iterable[int]) -> None:
        """Mark pages whose visit was refused; they are no longer new to this crawl."""
        self._unvisited.difference_update(pages)

    def mark_returned(
        self, pages: Iterable[int], *, were_visited: bool, is_last: bool = False
    ) -> None:
        """Mark pages as no longer in flight; after their last visit they stay in flight."""
        pages = set(pages)
        if is_last:
            self._in_flight |= pages
        else:
            self._in_flight -= pages
        if were_visited:
            self._unvisited -= pages
            for page in pages:
                self._requested.pop(page, None)


def _contains(pages: PageIdArray, page: int) -> bool:
    """Whether a sorted array contains a page."""
    index = int(np.searchsorted(pages, page))
    return index < len(pages) and int(pages[index]) == page


def _ids(pages: Iterable[PageTable]) -> set[int]:
    return {page for table in pages for page in table.ids.tolist()}


def _parse_hours(texts: Mapping[int, str]) -> dict[int, ActiveHours]:
    hours_by_page: dict[int, ActiveHours] = {}
    for page, text in texts.items():
        with isolate_faults(f"reading its active hours {text!r}", f"page {page}"):
            hours = ActiveHours.parse(text)
            if hours is not None:
                hours_by_page[page] = hours
    return hours_by_page
