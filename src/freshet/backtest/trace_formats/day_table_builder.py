"""A book of looks at pages, put down by day."""

from array import array
from datetime import date, datetime

import numpy as np

from freshet.core.tables import PageDayTable
from freshet.core.types import IndexArray
from freshet.view.url import canonical_url

FIRST_DAY = date(1970, 1, 1).toordinal()
UNKNOWN = -1


def day_of(time: datetime) -> int:
    """Return the UTC day of a time, in days since 1970.

    >>> day_of(datetime.fromisoformat("1970-01-03T23:59:59+00:00"))
    2
    """
    return time.toordinal() - FIRST_DAY


class DayTableBuilder:
    """Looks as they come, each with its page, its day and what it found."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], int] = {}
        self._urls: list[str] = []
        self._parts: list[str] = []
        self._importance = array("d")
        self._pages, self._days = array("i"), array("i")
        self._changed, self._links = array("b"), array("i")

    def page_index(self, part: str, url: str, importance: float | None = None) -> int:
        """Return the place of a page, a new one where it was not met before."""
        place = self._places.get((part, url))
        if place is None:
            place = self._places[part, url] = self._place_of(part, canonical_url(url) or url)
        if importance is not None:
            self._importance[place] = importance
        return place

    def add_look(self, page: int, day: int, changed: bool, links: int | None) -> None:
        """Put down what a look found; links are None where their number is not known."""
        self._pages.append(page)
        self._days.append(day)
        self._changed.append(changed)
        self._links.append(UNKNOWN if links is None else links)

    def add_unchanged_looks(self, pages: IndexArray, days: IndexArray) -> None:
        """Put down many looks that found nothing new."""
        self._pages.frombytes(pages.astype(np.int32).tobytes())
        self._days.frombytes(days.astype(np.int32).tobytes())
        self._changed.frombytes(bytes(len(pages)))
        self._links.frombytes(bytes(len(pages) * self._links.itemsize))

    def build(self) -> PageDayTable:
        """Return what was put down; pages stand in order of part and URL."""
        known = list(zip(self._parts, self._urls, strict=True))
        order = sorted(range(len(known)), key=known.__getitem__)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        return PageDayTable(
            pages=place[np.array(self._pages, np.int32)],
            days=np.array(self._days, np.int32),
            changed=np.array(self._changed, np.bool_),
            urls=tuple(self._urls[page] for page in order),
            parts=tuple(self._parts[page] for page in order),
            new_links=np.array(self._links, np.int32),
            importance=np.array(self._importance, np.float64)[order],
        )

    def _place_of(self, part: str, url: str) -> int:
        place = self._places.setdefault((part, url), len(self._urls))
        if place == len(self._urls):
            self._urls.append(url)
            self._parts.append(part)
            self._importance.append(1.0)
        return place
