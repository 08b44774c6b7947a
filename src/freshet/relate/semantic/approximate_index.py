"""Approximate nearest pages: a vector is compared with those of the nearest clusters only."""

import numpy as np
from numpy.typing import ArrayLike

from freshet.core.content.related_pages import RelatedPages
from freshet.core.types import Float32Array, IndexArray
from freshet.relate.semantic.cluster_lists import ClusterLists, ListQueries
from freshet.relate.semantic.cpu_search import NO_PAGE, CpuSearch
from freshet.relate.semantic.exact_index import same_width
from freshet.relate.semantic.kernels.neighbour_table import merge_found, merge_reverse
from freshet.relate.semantic.list_probes import ListProbes, choose_probes
from freshet.relate.semantic.neighbour_table import (
    NeighbourTable,
    empty_table,
    table_from,
    to_related,
)
from freshet.relate.semantic.unit_vectors import unit_rows
from freshet.relate.semantic.vector_clusters import fit_centroids
from freshet.relate.semantic.vector_index import NEIGHBOURS

_CLUSTERS_PER_ROOT = 2.5
_MAX_GROWTH = 4


class ApproximateIndex:
    """A ``VectorIndex`` that misses a few neighbours and is much faster with many pages.

    It is an inverted file: the pages are in lists by cluster, about 2.5 times the root of their
    number, and a vector is compared with the pages of the nearest lists only. How many lists are
    searched is chosen when the lists are made, so that about the share ``recall`` of the nearest 30
    pages of a sample is found; ``relate.recall.neighbour_recall`` measures it. New pages are put
    into the lists; these are made again when the index has grown fourfold.

    With fewer than about 50,000 pages ``ExactIndex`` takes no longer.
    """

    def __init__(
        self, vectors: ArrayLike, *, recall: float = 0.98, workers: int | None = None, seed: int = 0
    ) -> None:
        self._recall = recall
        self._device = CpuSearch(workers)
        self._seed = seed
        self._make_lists(unit_rows(vectors))

    def _make_lists(self, vectors: Float32Array) -> None:
        is_zero = ~vectors.any(axis=1)
        directed = vectors[~is_zero] if is_zero.any() else vectors
        count = min(len(directed), max(1, round(_CLUSTERS_PER_ROOT * len(directed) ** 0.5)))
        centroids = fit_centroids(directed, count, seed=self._seed) if count else directed
        self._probes = ListProbes(1, 1)
        if count:
            self._probes = choose_probes(directed, centroids, self._recall, self._device)
        self._clustered_pages = len(vectors)
        lists = ClusterLists.empty(centroids, self._probes.page)
        self._lists = lists.extend(vectors, self._device)

    def __len__(self) -> int:
        return len(self._lists)

    @property
    def vectors(self) -> Float32Array:
        """Return a copy of the vectors of all pages, with rows of length 1."""
        vectors = np.empty_like(self._lists.vectors)
        vectors[self._lists.pages] = self._lists.vectors
        return vectors

    def add(self, vectors: ArrayLike) -> None:
        """Add new pages, a row each."""
        rows = same_width(unit_rows(vectors), self._lists.vectors.shape[1])
        if len(self) + len(rows) > _MAX_GROWTH * self._clustered_pages:
            self._make_lists(np.concatenate([self.vectors, rows]))
        else:
            self._lists = self._lists.extend(rows, self._device)

    def neighbours(
        self, count: int = NEIGHBOURS, *, known: RelatedPages | None = None
    ) -> RelatedPages:
        """Return the nearest pages of every page; ``known`` as in ``VectorIndex``."""
        table = empty_table(len(self), count)
        if known is None:
            found = empty_table(len(self), count)
            self._lists.search_all(found, self._device)
            merge_found(self._lists.pages, self._to_pages(self._lists, found), table)
            return to_related(table)
        table = table_from(known, len(self), count)
        self._search_for_new_pages(table, len(known))
        self._offer_new_pages(table, len(known))
        return to_related(table)

    def query(self, vectors: ArrayLike, count: int = NEIGHBOURS) -> RelatedPages:
        """Return the nearest pages of vectors that need not be in the index, a row each."""
        queries = same_width(unit_rows(vectors), self._lists.vectors.shape[1])
        no_positions = np.full(len(queries), NO_PAGE, np.int32)
        return to_related(self._search(queries, no_positions, count))

    def _search(
        self, vectors: Float32Array, own_positions: IndexArray, count: int
    ) -> NeighbourTable:
        """Return the nearest pages of vectors, a row each."""
        nearest = self._lists.nearest_lists(vectors, self._probes.query, self._device)
        found = empty_table(len(vectors), count)
        queries = ListQueries(vectors, nearest, own_positions)
        self._lists.search_queries(queries, found, self._device)
        return self._to_pages(self._lists, found)

    def _search_for_new_pages(self, table: NeighbourTable, first_new: int) -> None:
        """Merge the nearest pages of the pages from ``first_new`` on, and these into theirs."""
        positions: IndexArray = np.flatnonzero(self._lists.pages >= first_new).astype(np.int32)
        found = self._search(self._lists.vectors[positions], positions, table.pages.shape[1])
        merge_found(self._lists.pages[positions], found, table)
        merge_reverse(self._lists.pages[positions], found, table)

    def _offer_new_pages(self, table: NeighbourTable, first_new: int) -> None:
        """Merge the pages from ``first_new`` on into the rows of the pages before them."""
        positions = np.flatnonzero(self._lists.pages < first_new)
        no_positions = np.full(len(positions), NO_PAGE, np.int32)
        found = empty_table(len(positions), table.pages.shape[1])
        new_lists, vectors = self._lists.since(first_new), self._lists.vectors[positions]
        queries = ListQueries(vectors, self._lists.nearest[positions], no_positions)
        new_lists.search_queries(queries, found, self._device)
        merge_found(self._lists.pages[positions], self._to_pages(new_lists, found), table)

    @staticmethod
    def _to_pages(lists: ClusterLists, found: NeighbourTable) -> NeighbourTable:
        """Return a table of positions in the lists as one of pages."""
        is_found = found.pages >= 0
        found.pages[is_found] = lists.pages[found.pages[is_found]]
        return found
