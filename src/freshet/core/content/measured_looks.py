"""Looks at pages as columns: what features of visits are computed from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import BoolArray, PageIdArray
from freshet.core.types import FloatArray, HashArray, IndexArray


@dataclass(frozen=True, slots=True)
class MeasuredLooks:
    """Looks; ``pages`` are ids, or rows of the table of pages that the caller keeps.

    ``measured`` says which looks were compared with the look before, ``changed`` which found a
    change. ``text_hashes`` is 0 where it is not known. The sizes are NaN where they are not known:
    ``words`` that changed, ``dice`` similarity, ``new_links``, and ``total_words`` of the text.
    """

    pages: IndexArray | PageIdArray
    times: FloatArray
    measured: BoolArray
    changed: BoolArray
    text_hashes: HashArray
    words: FloatArray
    dice: FloatArray
    new_links: FloatArray
    total_words: FloatArray

    def __len__(self) -> int:
        return len(self.pages)

    def select(self, rows: IndexArray | NDArray[np.intp] | BoolArray | slice) -> Self:
        """Return some of the looks."""
        return type(self)(*(getattr(self, name)[rows] for name in self.__slots__))

    def in_time_order(self) -> Self:
        """Return the looks sorted by time; looks at one time keep their order."""
        return self.select(np.argsort(self.times, kind="stable"))


@dataclass(frozen=True, slots=True)
class LinkTotals:
    """How many links pages had at looks, in the order of page ids, and of time at each page."""

    pages: PageIdArray
    times: FloatArray
    links: FloatArray

    def known_at(self, ids: PageIdArray, time: float) -> FloatArray:
        """Return the latest numbers of links of pages at a time, NaN if there is none.

        >>> totals = LinkTotals(np.array([1, 1, 3]), np.array([0.0, 5.0, 9.0]), np.array([7, 8, 9]))
        >>> totals.known_at(np.array([1, 2, 3]), 5.0)
        array([ 8., nan, nan])
        """
        earlier = np.flatnonzero(self.times <= time)
        if not len(earlier):
            return np.full(len(ids), np.nan)
        pages = self.pages[earlier]
        latest = np.maximum(np.searchsorted(pages, ids, side="right") - 1, 0)
        return np.where(pages[latest] == ids, self.links[earlier[latest]], np.nan)


def concatenate_looks(parts: Sequence[MeasuredLooks]) -> MeasuredLooks:
    """Return the looks of all parts in one table; without parts it is empty."""
    parts = parts or [NO_LOOKS]
    return MeasuredLooks(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in MeasuredLooks.__slots__
        )
    )


NO_LOOKS = MeasuredLooks(
    pages=np.empty(0, np.int64),
    times=np.empty(0),
    measured=np.empty(0, np.bool_),
    changed=np.empty(0, np.bool_),
    text_hashes=np.empty(0, np.uint64),
    words=np.empty(0),
    dice=np.empty(0),
    new_links=np.empty(0),
    total_words=np.empty(0),
)
NO_LINK_TOTALS = LinkTotals(np.empty(0, np.int64), np.empty(0), np.empty(0))
