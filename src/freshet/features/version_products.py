"""Dot products of the term distributions of versions, computed once for each pair of versions."""

from collections import OrderedDict

import numpy as np

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.types import FloatArray, IndexArray
from freshet.features.kernels.row_pairs import dot_products

CACHED_PAGES = 500


class VersionProducts:
    """Dot products between the versions of a grid's pages, as shares of all words of a version.

    ``versions[page, step]`` is the latest version known at a step. The matrices of the pages that
    were used last are kept, ``cached_pages`` of them.
    """

    def __init__(self, grid: ContentGrid, *, cached_pages: int = CACHED_PAGES) -> None:
        self.versions = latest_versions(grid)
        self._terms = grid.terms
        lengths = grid.terms.row_sums()
        self._scales = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
        self._matrices: OrderedDict[int, FloatArray] = OrderedDict()
        self._cached_pages = cached_pages

    def pairs(self, left: IndexArray, right: IndexArray) -> FloatArray:
        """Return the dot product of two versions each; 0 if one of them is not known."""
        products = np.zeros(left.shape)
        is_known = (left != NO_VERSION) & (right != NO_VERSION)
        row_count = len(self._terms) + 1
        keys = left[is_known].astype(np.int64) * row_count + right[is_known]
        distinct, indices = np.unique(keys, return_inverse=True)
        rows, other_rows = (part.astype(np.int32) for part in np.divmod(distinct, row_count))
        terms = self._terms
        values = dot_products(terms.starts, terms.columns, terms.values, rows, other_rows)
        values *= self._scales[rows] * self._scales[other_rows]
        products[is_known] = values[indices]
        return products

    def gram(self, page: int) -> FloatArray:
        """Return the dot products of a page's versions at any two steps."""
        if page in self._matrices:
            self._matrices.move_to_end(page)
            return self._matrices[page]
        matrix = self._compute_gram(self.versions[page])
        self._matrices[page] = matrix
        if len(self._matrices) > self._cached_pages:
            self._matrices.popitem(last=False)
        return matrix

    def _compute_gram(self, versions: IndexArray) -> FloatArray:
        distinct, indices = np.unique(versions, return_inverse=True)
        upper = np.triu_indices(len(distinct))
        matrix = np.zeros((len(distinct), len(distinct)))
        matrix[upper] = self.pairs(distinct[upper[0]], distinct[upper[1]])
        matrix = np.maximum(matrix, matrix.T)
        return matrix[np.ix_(indices, indices)]


def latest_versions(grid: ContentGrid) -> IndexArray:
    """Return the latest version that was known at each step, or NO_VERSION before the first."""
    steps = np.where(grid.versions != NO_VERSION, np.arange(grid.step_count), 0)
    latest = np.maximum.accumulate(steps, axis=1)
    return np.take_along_axis(grid.versions, latest.astype(np.intp), axis=1)
