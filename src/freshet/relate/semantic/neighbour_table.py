"""The nearest pages found so far, while a search runs over blocks of pages."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freshet.core.content.related_pages import RelatedPages
from freshet.core.errors import UsageError
from freshet.core.types import Float32Array, IndexArray

NO_NEIGHBOUR = -1
# Cosines below this count as zero: such pages are not related.
LEAST_COSINE = float(np.finfo(np.float32).tiny)


class NeighbourTable(NamedTuple):
    """For each page its nearest pages and their cosines, the nearest first.

    Of pages with equal cosines the one with the smaller number is nearer. Free cells have the page
    NO_NEIGHBOUR and the least cosine, so that the last cosine of a row is the one to beat;
    ``least`` has a copy of it.
    """

    cosines: Float32Array
    pages: IndexArray
    least: Float32Array


def empty_table(row_count: int, count: int, least: float = LEAST_COSINE) -> NeighbourTable:
    """Return a table without neighbours; pages with a cosine below ``least`` are never added."""
    if count < 1:
        raise UsageError(f"the number of neighbours is {count}; it must be at least 1")
    cosines = np.full((row_count, count), least, np.float32)
    pages = np.full((row_count, count), NO_NEIGHBOUR, np.int32)
    return NeighbourTable(cosines, pages, np.full(row_count, least, np.float32))


def table_from(known: RelatedPages, row_count: int, count: int) -> NeighbourTable:
    """Return a table with the nearest pages of a search before; further rows are empty."""
    table = empty_table(row_count, count)
    nearest = known.closest(count)
    sizes = np.diff(nearest.starts)
    rows = np.repeat(np.arange(len(nearest)), sizes)
    ranks = np.arange(len(nearest.pages)) - np.repeat(nearest.starts[:-1], sizes)
    table.cosines[rows, ranks] = nearest.weights
    table.pages[rows, ranks] = nearest.pages
    table.least[:] = table.cosines[:, -1]
    return table


def to_related(table: NeighbourTable) -> RelatedPages:
    """Return the rows of a table as related pages, with their cosines as weights."""
    is_page: NDArray[np.bool_] = table.pages != NO_NEIGHBOUR
    starts = np.zeros(len(table.pages) + 1, np.int32)
    np.cumsum(np.count_nonzero(is_page, axis=1), out=starts[1:])
    weights = np.minimum(table.cosines[is_page], 1).astype(np.float64)
    return RelatedPages(starts, table.pages[is_page], weights, np.zeros(len(weights), np.int32))
