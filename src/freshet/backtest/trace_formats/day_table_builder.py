"""Build a table of looks at pages by day."""

from array import array
from collections.abc import Callable
from datetime import date, datetime

import numpy as np

from freshet.backtest.trace_formats.change_moments import previous_looks, recorded_moments
from freshet.core.clock import to_epoch
from freshet.core.tables import PageDayTable
from freshet.core.types import FloatArray, IndexArray
from freshet.view.url import canonical_url

PreviousLooks = Callable[[IndexArray, FloatArray], FloatArray]

FIRST_DAY = date(1970, 1, 1).toordinal()
UNKNOWN_LINKS = -1


def day_of(time: datetime) -> int:
    """Return the UTC day of a time, in days since 1970.

    >>> day_of(datetime.fromisoformat("1970-01-03T23:59:59+00:00"))
    2
    """
    return time.toordinal() - FIRST_DAY


class DayTableBuilder:
    """Collects looks, each with its page, its time and its result."""

    def __init__(self) -> None:
        self._indices: dict[tuple[str, str], int] = {}
        self._urls: list[str] = []
        self._parts: list[str] = []
        self._importance = array("d")
        self._pages, self._days = array("i"), array("i")
        self._changed, self._links = array("b"), array("i")
        self._times = array("d")

    def page_index(self, part: str, url: str, importance: float | None = None) -> int:
        """Return the index of a page; a new page gets a new index."""
        index = self._indices.get((part, url))
        if index is None:
            index = self._indices[part, url] = self._index_of(part, canonical_url(url) or url)
        if importance is not None:
            self._importance[index] = importance
        return index

    def add_look(self, page: int, time: datetime, changed: bool, links: int | None) -> None:
        """Add the result of a look; ``links`` is None if the number of new links is not known."""
        self._pages.append(page)
        self._days.append(day_of(time))
        self._times.append(to_epoch(time))
        self._changed.append(changed)
        self._links.append(UNKNOWN_LINKS if links is None else links)

    def add_unchanged_looks(self, pages: IndexArray, days: IndexArray) -> None:
        """Add many looks that found no change; only their days are known."""
        self._pages.frombytes(pages.astype(np.int32).tobytes())
        self._days.frombytes(days.astype(np.int32).tobytes())
        self._changed.frombytes(bytes(len(pages)))
        self._links.frombytes(bytes(len(pages) * self._links.itemsize))
        self._times.frombytes(np.full(len(pages), np.nan).tobytes())

    def build(self, find_previous: PreviousLooks = previous_looks) -> PageDayTable:
        """Return the table; pages are ordered by part and URL.

        ``find_previous`` returns the time of the look before each look of pages and times.
        """
        keys = list(zip(self._parts, self._urls, strict=True))
        order = sorted(range(len(keys)), key=keys.__getitem__)
        new_index = np.empty(len(order), np.int32)
        new_index[order] = np.arange(len(order))
        pages, changed = np.array(self._pages, np.int32), np.array(self._changed, np.bool_)
        times = np.array(self._times, np.float64)
        return PageDayTable(
            pages=new_index[pages],
            days=np.array(self._days, np.int32),
            changed=changed,
            urls=tuple(self._urls[page] for page in order),
            parts=tuple(self._parts[page] for page in order),
            new_links=np.array(self._links, np.int32),
            importance=np.array(self._importance, np.float64)[order],
            change_times=recorded_moments(times, find_previous(pages, times), changed),
        )

    def _index_of(self, part: str, url: str) -> int:
        index = self._indices.setdefault((part, url), len(self._urls))
        if index == len(self._urls):
            self._urls.append(url)
            self._parts.append(part)
            self._importance.append(1.0)
        return index
