"""The live pages as a crawl knows them: which are new, wanted, paused or asleep."""

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
    """What is new to a crawl: pages that came or count otherwise, that went, that are back."""

    added: tuple[PageTable, ...]
    removed: PageIdArray
    restored: frozenset[int]


@dataclass(slots=True)
class Frontier:
    """Reads the list of live pages, and what of it another process has changed since."""

    catalog: Catalog
    settings: Settings
    _stamp: int = -1
    _known: PageIdArray = field(default_factory=NO_PAGES.copy)
    _paused: PageIdArray = field(default_factory=NO_PAGES.copy)
    _removed: frozenset[int] = frozenset()
    _weights: dict[int, float] = field(default_factory=dict)
    _hours: dict[int, ActiveHours] = field(default_factory=dict)
    _unseen: set[int] = field(default_factory=set)
    _asked: dict[int, None] = field(default_factory=dict)
    _out: set[int] = field(default_factory=set)

    @property
    def size(self) -> int:
        """Return how many pages there are to keep fresh."""
        return len(self._known) - len(self._paused)

    def is_stale(self) -> bool:
        """Whether another process has written since the list was read."""
        return self.catalog.data_version() != self._stamp

    def reload(self) -> FrontierChange:
        """Read what is new of the list, and return it."""
        is_first = self._stamp < 0
        self._stamp = self.catalog.data_version()
        standing, weights = self.catalog.inactive_pages(), self.catalog.importance_by_page()
        came = self._came(weights)
        restored = frozenset() if is_first else self._removed - standing.removed
        altered = {
            page for page, _ in weights.items() ^ self._weights.items() if self.contains(page)
        }
        went = np.intersect1d(self._known, id_array(standing.removed))
        self._weights, self._removed = weights, standing.removed
        self._paused = np.sort(id_array(standing.paused))
        self._unseen |= set(self.catalog.unvisited_pages()) if is_first else _ids(came)
        self._known = np.union1d(self._known, id_array(_ids(came) | restored))
        self._known = np.setdiff1d(self._known, went)
        self._asked = dict.fromkeys(self.catalog.requested_pages())
        self._hours = _hours(self.catalog.active_hours_by_page())
        return FrontierChange((*came, self.table_of(sorted(restored | altered))), went, restored)

    def _came(self, weights: Mapping[int, float]) -> list[PageTable]:
        last = int(self._known[-1]) if len(self._known) else 0
        batches = self.catalog.live_page_columns(after_id=last)
        return [self._table(batch, weights) for batch in batches]

    def _table(self, pages: PageColumns, weights: Mapping[int, float]) -> PageTable:
        return page_table(pages, weights, self.settings.page.importance)

    def table_of(self, pages: Sequence[int]) -> PageTable:
        """Return pages of the list as a policy takes them."""
        found = self.catalog.pages_by_id(pages).values()
        return self._table(page_columns(found), self._weights)

    def contains(self, page: int) -> bool:
        """Whether a page is on the list."""
        return _holds(self._known, page)

    def count_unpaced(self) -> int:
        """Return how many pages do not wait for the pace: never visited, or asked for."""
        away = self._out.union(self._paused.tolist())
        asked = self._asked.keys() - self._unseen - away
        return len(asked) + len(self._unseen) - len(self._unseen & away)

    def is_unpaced(self, page: int) -> bool:
        """Whether a page does not wait for the pace."""
        return page in self._unseen or page in self._asked

    def requested(self, limit: int) -> list[int]:
        """Return pages that someone asked for and that are not out yet."""
        waiting = (page for page in self._asked if page not in self._out)
        return list(islice(waiting, limit))

    def barred_pages(self, now: datetime) -> PageIdArray:
        """Return the pages that are paused, and those outside their active hours."""
        usual = ActiveHours.parse(self.settings.page.active_hours)
        asleep = [page for page, hours in self._hours.items() if not hours.contains(now)]
        if usual is not None and not usual.contains(now):
            return np.setdiff1d(self._known, id_array(self._hours.keys() - set(asleep)))
        return np.union1d(self._paused, id_array(asleep))

    def is_available(self, page: int, now: datetime) -> bool:
        """Whether a page can be visited now: on the list, not out, not paused, and awake."""
        if page in self._out or not self.contains(page) or _holds(self._paused, page):
            return False
        hours = self._hours.get(page) or ActiveHours.parse(self.settings.page.active_hours)
        return hours is None or hours.contains(now)

    def next_active_start(self, after: datetime) -> datetime | None:
        """Return when the active hours of some pages next begin; None where all are always so."""
        usual = ActiveHours.parse(self.settings.page.active_hours)
        windows = set(self._hours.values()) | ({usual} if usual else set())
        return min((hours.next_start(after) for hours in windows), default=None)

    @property
    def in_flight(self) -> frozenset[int]:
        """Return the pages that are out being fetched."""
        return frozenset(self._out)

    def mark_in_flight(self, pages: Iterable[int]) -> None:
        """Note that pages are out being fetched."""
        self._out.update(pages)

    def mark_returned(
        self, pages: Iterable[int], *, were_visited: bool, is_last: bool = False
    ) -> None:
        """Note that pages are back, visited or not; after their last visit they stay out."""
        pages = set(pages)
        if is_last:
            self._out |= pages
        else:
            self._out -= pages
        if were_visited:
            self._unseen -= pages
            for page in pages:
                self._asked.pop(page, None)


def _holds(pages: PageIdArray, page: int) -> bool:
    """Whether a page is among some that are in order."""
    place = int(np.searchsorted(pages, page))
    return place < len(pages) and int(pages[place]) == page


def _ids(pages: Iterable[PageTable]) -> set[int]:
    return {page for table in pages for page in table.ids.tolist()}


def _hours(texts: Mapping[int, str]) -> dict[int, ActiveHours]:
    found: dict[int, ActiveHours] = {}
    for page, text in texts.items():
        with isolate_faults(f"reading its active hours {text!r}", f"page {page}"):
            hours = ActiveHours.parse(text)
            found |= {page: hours} if hours is not None else {}
    return found
