"""Exact nearest pages: all vectors are compared, block by block."""

import numpy as np
from numpy.typing import ArrayLike

from freshet.core.content.related_pages import RelatedPages
from freshet.core.errors import UsageError
from freshet.core.types import Float32Array
from freshet.relate.semantic.neighbour_table import empty_table, table_from, to_related
from freshet.relate.semantic.unit_vectors import unit_rows
from freshet.relate.semantic.vector_index import NEIGHBOURS, open_search_device


class ExactIndex:
    """A ``VectorIndex`` that compares every vector with every other.

    The table of all cosines is never in memory: a block of it is computed as a matrix product, and
    the nearest pages so far are updated. Vectors of float32 with rows of length 1 are not copied.
    The device ``cuda`` computes the same on a GPU.

    >>> index = ExactIndex([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> index.neighbours(1).pages.tolist()
    [1, 2, 1]
    """

    def __init__(
        self, vectors: ArrayLike, *, device: str = "cpu", workers: int | None = None
    ) -> None:
        self._vectors = unit_rows(vectors)
        self._device = open_search_device(device, workers=workers)

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def vectors(self) -> Float32Array:
        """Return the vectors of all pages, with rows of length 1."""
        return self._vectors

    def add(self, vectors: ArrayLike) -> None:
        """Add new pages, a row each."""
        rows = same_width(unit_rows(vectors), self._vectors.shape[1])
        self._vectors = np.concatenate([self._vectors, rows])

    def neighbours(
        self, count: int = NEIGHBOURS, *, known: RelatedPages | None = None
    ) -> RelatedPages:
        """Return the nearest pages of every page; ``known`` as in ``VectorIndex``."""
        if known is None:
            table, first_new = empty_table(len(self), count), 0
        else:
            table, first_new = table_from(known, len(self), count), len(known)
        self._device.compare_pages(self._vectors, table, first_new)
        return to_related(table)

    def query(self, vectors: ArrayLike, count: int = NEIGHBOURS) -> RelatedPages:
        """Return the nearest pages of vectors that need not be in the index, a row each."""
        queries = same_width(unit_rows(vectors), self._vectors.shape[1])
        table = empty_table(len(queries), count)
        self._device.compare_queries(queries, self._vectors, table)
        return to_related(table)


def same_width(vectors: Float32Array, width: int) -> Float32Array:
    """Return the vectors if they have as many dimensions as the others; raise UsageError if not."""
    if vectors.shape[1] != width:
        raise UsageError(f"vectors of {vectors.shape[1]} dimensions; the index has {width}")
    return vectors
