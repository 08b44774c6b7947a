"""Looks at pages in time order, as columns: what features of visits are computed from."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.tables import DAY_SECONDS, BoolArray
from freshet.core.types import FloatArray, HashArray, IndexArray


@dataclass(frozen=True, slots=True)
class MeasuredLooks:
    """Looks in time order; ``pages`` are rows of the table of pages that the caller keeps.

    ``measured`` says which looks were compared with the look before, ``changed`` which found a
    change. ``text_hashes`` is 0 where it is not known. The sizes are NaN where they are not known:
    ``words`` that changed, ``dice`` similarity, ``new_links``, and ``total_words`` of the text.
    """

    pages: IndexArray
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

    def select(self, rows: IndexArray | BoolArray) -> Self:
        """Return some of the looks."""
        return type(self)(*(getattr(self, name)[rows] for name in self.__slots__))

    def in_time_order(self) -> Self:
        """Return the looks sorted by time; looks at one time keep their order."""
        return self.select(np.argsort(self.times, kind="stable").astype(np.int32))


def looks_of_grid(
    grid: ContentGrid, labels: IndexArray, words: FloatArray | None = None
) -> MeasuredLooks:
    """Return one look per page and step of a grid, in time order.

    ``labels`` says for each page and step but the last whether the page changes by the next step:
    1, 0, or -1 where that is not known; ``words`` how many words change.
    """
    pages, steps = np.nonzero(grid.versions.T != NO_VERSION)[::-1]
    versions = grid.versions[pages, steps]
    found = np.where(steps > 0, labels[pages, np.maximum(steps - 1, 0)], NO_VERSION)
    totals = np.append(grid.terms.row_sums(), np.nan)
    unknown = np.full(len(pages), np.nan)
    found_words = unknown if words is None else words[pages, np.maximum(steps - 1, 0)]
    return MeasuredLooks(
        pages.astype(np.int32),
        grid.times[steps],
        found != NO_VERSION,
        found == 1,
        grid.text_hashes[versions],
        np.where(steps > 0, found_words, np.nan),
        unknown,
        unknown,
        totals[versions],
    )


def days(times: FloatArray) -> FloatArray:
    """Return times in days since 1970."""
    return times / DAY_SECONDS
