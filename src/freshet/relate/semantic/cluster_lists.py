"""Vectors in lists by cluster, and the search of the lists that are nearest to a vector."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from freshet.core.types import Float32Array, IndexArray
from freshet.relate.semantic.cpu_search import CpuSearch, Span, disjoint_rounds, multiply, spans
from freshet.relate.semantic.kernels.neighbour_table import merge_rows, merge_rows_and_columns
from freshet.relate.semantic.neighbour_table import NeighbourTable, empty_table

_TILE_ROWS, _TILE_COLUMNS = 1024, 4096
# Below every cosine: the nearest cluster counts even if it lies in the opposite direction.
_ANY_COSINE = -2.0


class ListQueries(NamedTuple):
    """Vectors, the lists to search for each, and its own position or a negative number."""

    vectors: Float32Array
    lists: IndexArray
    own_positions: IndexArray


@dataclass(frozen=True, slots=True)
class ClusterLists:
    """The pages of each cluster one after another: those of list i are at ``starts[i]`` and later.

    ``nearest`` has the nearest lists of each page, its own list first. The list after the last
    centroid has the pages whose vector is zero, and is never searched.
    """

    centroids: Float32Array
    starts: IndexArray
    pages: IndexArray
    vectors: Float32Array
    nearest: IndexArray

    @classmethod
    def empty(cls, centroids: Float32Array, probes: int) -> Self:
        """Return lists without pages; ``probes`` of them will be searched for each page."""
        return cls(
            centroids,
            np.zeros(len(centroids) + 2, np.int32),
            np.empty(0, np.int32),
            np.empty((0, centroids.shape[1]), np.float32),
            np.empty((0, probes), np.int32),
        )

    def __len__(self) -> int:
        return len(self.pages)

    def extend(self, vectors: Float32Array, device: CpuSearch) -> Self:
        """Return the lists with further pages, which are numbered from the number of pages on."""
        probes = self.nearest.shape[1]
        nearest = np.concatenate([self.nearest, self.nearest_lists(vectors, probes, device)])
        order = np.argsort(nearest[:, 0], kind="stable")
        positions = np.empty(len(order), np.intp)
        positions[order] = np.arange(len(order))
        ordered = np.empty((len(order), vectors.shape[1]), np.float32)
        ordered[positions[: len(self)]] = self.vectors
        ordered[positions[len(self) :]] = vectors
        pages = np.append(self.pages, np.arange(len(self), len(order), dtype=np.int32))
        starts = self._starts(nearest[:, 0])
        return type(self)(self.centroids, starts, pages[order], ordered, nearest[order])

    def since(self, page: int) -> Self:
        """Return the lists with only the pages from a number on."""
        is_kept = self.pages >= page
        return type(self)(
            self.centroids,
            self._starts(self.nearest[is_kept, 0]),
            self.pages[is_kept],
            self.vectors[is_kept],
            self.nearest[is_kept],
        )

    def _starts(self, list_of_page: IndexArray) -> IndexArray:
        sizes = np.bincount(list_of_page, minlength=len(self.centroids) + 1)
        return np.append(0, np.cumsum(sizes)).astype(np.int32)

    def nearest_lists(self, vectors: Float32Array, count: int, device: CpuSearch) -> IndexArray:
        """Return the lists with the nearest centroids, the nearest first, a row per vector."""
        table = empty_table(len(vectors), count, _ANY_COSINE)
        device.compare_queries(vectors, self.centroids, table)
        is_zero = ~vectors.any(axis=1, keepdims=True)
        lists = np.where((table.pages < 0) | is_zero, len(self.centroids), table.pages)
        return lists.astype(np.int32)

    def search_queries(
        self, queries: ListQueries, table: NeighbourTable, device: CpuSearch
    ) -> None:
        """Merge the positions in the lists that are nearest to each query, a row for each."""

        def search(rows: Span) -> None:
            buffer = _new_buffer()
            for index, part in self._rows_by_list(queries.lists, rows, (0, len(self.centroids))):
                vectors, own_positions = queries.vectors[part], queries.own_positions[part]
                for first, products in self._products(index, vectors, buffer):
                    merge_rows(products, part, own_positions, first, table)

        size = -(-len(queries.lists) // device.workers)
        device.run_rounds(search, [spans(0, len(queries.lists), max(size, _TILE_ROWS))])

    def search_all(self, table: NeighbourTable, device: CpuSearch) -> None:
        """Merge the positions that are nearest to each position of the lists.

        First each list is compared with itself; then few pages of other lists are near enough. A
        comparison serves both pages. The lists are divided into groups, and groups that are
        compared at the same time have no page in common.
        """
        groups = self._list_groups(2 * device.workers)

        def search_groups(pair: tuple[int, int]) -> None:
            for rows_of, lists in {pair, pair[::-1]}:
                self._compare_groups(groups[rows_of], groups[lists], table)

        device.run_rounds(lambda lists: self._compare_within(lists, table), [groups])
        device.run_rounds(search_groups, disjoint_rounds(len(groups)))

    def _compare_within(self, lists: Span, table: NeighbourTable) -> None:
        """Merge the positions of each list into the rows of the same list."""
        buffer = _new_buffer()
        for index in range(*lists):
            for rows in spans(int(self.starts[index]), int(self.starts[index + 1]), _TILE_ROWS):
                positions = np.arange(*rows, dtype=np.int32)
                vectors = self.vectors[slice(*rows)]
                for first, products in self._products(index, vectors, buffer):
                    merge_rows(products, positions, positions, first, table)

    def _compare_groups(self, row_lists: Span, lists: Span, table: NeighbourTable) -> None:
        """Merge the positions of some lists into rows that search them, and these into theirs."""
        buffer = _new_buffer()
        span = int(self.starts[row_lists[0]]), int(self.starts[row_lists[1]])
        for index, rows in self._rows_by_list(self.nearest[:, 1:], span, lists):
            for first, products in self._products(index, self.vectors[rows], buffer):
                merge_rows_and_columns(products, rows, first, table)

    def _list_groups(self, count: int) -> list[Span]:
        """Divide the lists into groups of consecutive lists with about as many pages each."""
        page_counts = np.linspace(0, self.starts[-2], count + 1)
        ends = np.searchsorted(self.starts[:-1], page_counts).tolist()
        ends[0] = 0
        return [(first, end) for first, end in pairwise(ends) if first < end]

    def _rows_by_list(
        self, nearest: IndexArray, rows: Span, lists: Span
    ) -> Iterator[tuple[int, IndexArray]]:
        """Yield each list with the rows that search it, in parts that are not too long."""
        part = nearest[slice(*rows)]
        sizes = np.diff(self.starts)
        is_searched = (part >= lists[0]) & (part < lists[1]) & (sizes[part] > 0)
        offsets, ranks = np.nonzero(is_searched)
        searched_lists = part[offsets, ranks]
        order = np.argsort(searched_lists, kind="stable")
        list_rows = (offsets[order] + rows[0]).astype(np.int32)
        ends = np.cumsum(np.bincount(searched_lists, minlength=1))
        for index in np.unique(searched_lists).tolist():
            for first, end in spans(int(ends[index - 1]) if index else 0, ends[index], _TILE_ROWS):
                yield index, list_rows[first:end]

    def _products(
        self, index: int, vectors: Float32Array, buffer: Float32Array
    ) -> Iterator[tuple[int, Float32Array]]:
        """Yield the products of vectors with those of a list, and the first position of each."""
        list_span = int(self.starts[index]), int(self.starts[index + 1])
        for first, end in spans(*list_span, _TILE_COLUMNS):
            yield first, multiply(vectors, self.vectors[first:end], buffer)


def _new_buffer() -> Float32Array:
    return np.empty(_TILE_ROWS * _TILE_COLUMNS, np.float32)
