"""Comparison of vectors on the processor: matrix products, and compiled loops over their blocks."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from freshet.core.types import Float32Array
from freshet.relate.semantic.kernels.neighbour_table import merge_rows, merge_rows_and_columns
from freshet.relate.semantic.neighbour_table import NeighbourTable

# Products of this shape are computed fastest, and stay in the cache while they are merged.
_TILE_ROWS, _TILE_COLUMNS = 2048, 1024
_MIN_ROWS = 256
_MAX_BLOCK, _MIN_BLOCK, _BLOCKS = 4096, 512, 16
# Not a page: the rows of a block are queries.
NO_PAGE = -1
Span = tuple[int, int]


class CpuSearch:
    """A ``SearchDevice`` of threads, each with one thread of the linear algebra library."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1

    def compare_pages(self, vectors: Float32Array, table: NeighbourTable, first_new: int) -> None:
        """Merge the cosines of all pairs of pages of which at least one is new.

        A pair is compared once, for both pages. Blocks that are compared at the same time have no
        page in common, so that no two threads write the same rows of the table.
        """
        size = _block_size(len(vectors))
        old_blocks = spans(0, first_new, size)
        blocks = old_blocks + spans(first_new, len(vectors), size)

        def compare(pair: tuple[int, int]) -> None:
            if max(pair) >= len(old_blocks):
                _compare_blocks(vectors, blocks[min(pair)], blocks[max(pair)], table)

        self.run_rounds(compare, disjoint_rounds(len(blocks)))

    def compare_queries(
        self, queries: Float32Array, vectors: Float32Array, table: NeighbourTable
    ) -> None:
        """Merge the cosines of all queries with all pages."""

        def compare(span: Span) -> None:
            rows = np.arange(*span, dtype=np.int32)
            no_pages = np.full(len(rows), NO_PAGE, np.int32)
            buffer = np.empty(len(rows) * _TILE_COLUMNS, np.float32)
            for first, end in spans(0, len(vectors), _TILE_COLUMNS):
                products = multiply(queries[slice(*span)], vectors[first:end], buffer)
                merge_rows(products, rows, no_pages, first, table)

        size = max(_MIN_ROWS, -(-len(queries) // self.workers))
        self.run_rounds(compare, [spans(0, len(queries), min(size, _TILE_ROWS))])

    def run_rounds(self, work: Callable[[Span], None], rounds: Iterable[list[Span]]) -> None:
        """Do work for all items of a round with all threads, one round after another."""
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(self.workers) as executor:
            for items in rounds:
                for _ in executor.map(work, items):
                    pass


def disjoint_rounds(count: int) -> Iterator[list[tuple[int, int]]]:
    """Yield all pairs of blocks, a block with itself included, in rounds of disjoint pairs.

    It is the schedule of a tournament: one block stays, and the others rotate around it.

    >>> list(disjoint_rounds(3))
    [[(0, 0), (1, 1), (2, 2)], [(1, 2)], [(0, 2)], [(0, 1)]]
    """
    yield [(block, block) for block in range(count)]
    ring = list(range(count)) + [count] * (count % 2)
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        pairs = zip(ring[:half], reversed(ring[half:]), strict=True)
        yield [pair for pair in pairs if count not in pair]
        ring = [ring[0], ring[-1], *ring[1:-1]]


def _compare_blocks(
    vectors: Float32Array, rows: Span, columns: Span, table: NeighbourTable
) -> None:
    """Merge the cosines of two blocks of pages, which are the same or have no page in common."""
    buffer = np.empty(min(_TILE_ROWS, rows[1] - rows[0]) * _TILE_COLUMNS, np.float32)
    for first_row, end_row in spans(*rows, _TILE_ROWS):
        pages = np.arange(first_row, end_row, dtype=np.int32)
        for first, end in spans(*columns, _TILE_COLUMNS):
            products = multiply(vectors[first_row:end_row], vectors[first:end], buffer)
            if rows == columns:
                merge_rows(products, pages, pages, first, table)
            else:
                merge_rows_and_columns(products, pages, first, table)


def multiply(rows: Float32Array, columns: Float32Array, buffer: Float32Array) -> Float32Array:
    """Return the products of all rows with all columns, in memory that is used again."""
    products = buffer[: len(rows) * len(columns)].reshape(len(rows), len(columns))
    return np.dot(rows, columns.T, out=products)


def _block_size(page_count: int) -> int:
    return min(_MAX_BLOCK, max(_MIN_BLOCK, page_count // _BLOCKS))


def spans(first: int, end: int, size: int) -> list[Span]:
    """Divide a range of numbers into parts of at most ``size``."""
    return [(start, min(start + size, end)) for start in range(first, end, size)]
