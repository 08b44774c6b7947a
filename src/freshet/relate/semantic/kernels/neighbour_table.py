"""Compiled loops that put the cosines of a block into the rows of the nearest pages so far."""

import numpy as np
from numba import njit

from freshet.core.types import Float32Array, IndexArray
from freshet.relate.semantic.neighbour_table import NeighbourTable

_CHUNK = 64


@njit(cache=True, nogil=True)
def insert_neighbour(cosines: Float32Array, pages: IndexArray, cosine: float, page: int) -> None:
    """Insert a page into one row of a table, if it is nearer than the last page and not there."""
    rank = len(cosines) - 1
    if cosine < cosines[rank] or (cosine == cosines[rank] and page >= pages[rank]):
        return
    if _contains(pages, page):
        return
    while rank > 0 and (
        cosines[rank - 1] < cosine or (cosines[rank - 1] == cosine and pages[rank - 1] > page)
    ):
        cosines[rank] = cosines[rank - 1]
        pages[rank] = pages[rank - 1]
        rank -= 1
    cosines[rank] = cosine
    pages[rank] = page


@njit(cache=True, nogil=True)
def _contains(pages: IndexArray, page: int) -> bool:
    is_there = False
    for rank in range(len(pages)):
        is_there |= pages[rank] == page
    return is_there


@njit(cache=True, nogil=True)
def _reaches(values: Float32Array, bound: float) -> bool:
    """Return whether any value reaches a bound; the processor compares many at once."""
    is_reached = False
    for k in range(len(values)):
        is_reached |= values[k] >= bound
    return is_reached


@njit(cache=True, nogil=True)
def _reaches_either(values: Float32Array, bound: float, bounds: Float32Array) -> bool:
    """Return whether any value reaches the common bound or its own."""
    count = np.int32(0)
    for k in range(len(values)):
        is_reached = (values[k] >= bound) | (values[k] >= bounds[k])
        count += np.int32(1) if is_reached else np.int32(0)
    return bool(count > 0)


@njit(cache=True, nogil=True)
def _merge_row(
    values: Float32Array,
    first_page: int,
    own_column: int,
    cosines: Float32Array,
    pages: IndexArray,
    bound: float,
) -> float:
    """Merge one row of a block into a row of the table; return the cosine to beat.

    Columns are compared in chunks, and few chunks have a page that is near enough.
    """
    for first in range(0, len(values), _CHUNK):
        chunk = values[first : first + _CHUNK]
        if not _reaches(chunk, bound):
            continue
        for k in range(len(chunk)):
            if chunk[k] >= bound and first + k != own_column:
                insert_neighbour(cosines, pages, chunk[k], first_page + first + k)
                bound = cosines[-1]
    return bound


@njit(cache=True, nogil=True)
def merge_rows(
    products: Float32Array,
    rows: IndexArray,
    own_pages: IndexArray,
    first_page: int,
    table: NeighbourTable,
) -> None:
    """Merge a block of cosines into rows of a table.

    The columns of the block are the pages from ``first_page`` on. ``own_pages`` are the pages of
    the rows, which are not their own neighbours; it is negative for rows that are no pages.
    """
    cosines, pages, least = table
    for k in range(len(rows)):
        row = rows[k]
        least[row] = _merge_row(
            products[k], first_page, own_pages[k] - first_page, cosines[row], pages[row], least[row]
        )


@njit(cache=True, nogil=True)
def _merge_row_twice(
    values: Float32Array, page: int, first_column: int, table: NeighbourTable
) -> None:
    """Merge the cosines of one page with others into its row of the table, and into theirs."""
    cosines, pages, least = table
    bound = least[page]
    for first in range(0, len(values), _CHUNK):
        chunk = values[first : first + _CHUNK]
        first_other = first_column + first
        bounds = least[first_other : first_other + len(chunk)]
        if not _reaches_either(chunk, bound, bounds):
            continue
        for k in range(len(chunk)):
            other = first_other + k
            if chunk[k] >= bound:
                insert_neighbour(cosines[page], pages[page], chunk[k], other)
                bound = cosines[page, -1]
            if chunk[k] >= bounds[k]:
                insert_neighbour(cosines[other], pages[other], chunk[k], page)
                bounds[k] = cosines[other, -1]
    least[page] = bound


@njit(cache=True, nogil=True)
def merge_rows_and_columns(
    products: Float32Array, rows: IndexArray, first_column: int, table: NeighbourTable
) -> None:
    """Merge a block twice into the table of all pages: for its rows, and for its columns.

    No page is both a row and a column of the block.
    """
    for k in range(len(rows)):
        _merge_row_twice(products[k], rows[k], first_column, table)


@njit(cache=True, nogil=True)
def merge_found(rows: IndexArray, found: NeighbourTable, table: NeighbourTable) -> None:
    """Merge the pages of one table into the given rows of another."""
    for k in range(len(rows)):
        row = rows[k]
        for rank in range(found.pages.shape[1]):
            if found.pages[k, rank] < 0 or found.cosines[k, rank] < table.least[row]:
                break
            insert_neighbour(
                table.cosines[row], table.pages[row], found.cosines[k, rank], found.pages[k, rank]
            )
            table.least[row] = table.cosines[row, -1]


@njit(cache=True, nogil=True)
def merge_reverse(own_pages: IndexArray, found: NeighbourTable, table: NeighbourTable) -> None:
    """Merge each page into the rows of the pages that were found for it.

    ``own_pages`` are the pages of the rows of ``found``; ``table`` is that of all pages.
    """
    for row in range(len(own_pages)):
        for rank in range(found.pages.shape[1]):
            other = found.pages[row, rank]
            if other < 0:
                break
            insert_neighbour(
                table.cosines[other], table.pages[other], found.cosines[row, rank], own_pages[row]
            )
            table.least[other] = table.cosines[other, -1]
