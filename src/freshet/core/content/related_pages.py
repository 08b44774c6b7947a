"""Which pages are related to which, with weights: what every measure of relatedness returns."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray, IndexArray


@dataclass(frozen=True, slots=True)
class RelatedPages:
    """A sparse matrix of weights: row i has the pages related to page i, the closest first.

    ``lags`` is by how many steps a related page is ahead; 0 if the measure knows no lag.
    """

    starts: IndexArray
    pages: IndexArray
    weights: FloatArray
    lags: IndexArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, page: int) -> tuple[IndexArray, FloatArray, IndexArray]:
        """Return the pages related to a page, their weights, and their lags."""
        place = slice(self.starts[page], self.starts[page + 1])
        return self.pages[place], self.weights[place], self.lags[place]

    def closest(self, count: int) -> "RelatedPages":
        """Return at most ``count`` related pages of each page."""
        sizes = np.minimum(np.diff(self.starts), count)
        ranks = np.arange(len(self.pages)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        is_kept = ranks < count
        return RelatedPages(
            _starts(sizes), self.pages[is_kept], self.weights[is_kept], self.lags[is_kept]
        )


def collect_related(
    rows: Iterable[tuple[IndexArray, FloatArray, IndexArray]], *, is_sorted: bool = False
) -> RelatedPages:
    """Build the matrix from its rows: related pages, weights and lags.

    The rows are sorted by weight, then page, unless they are sorted already.

    >>> row = np.array([4, 7], np.int32), np.array([0.1, 0.9]), np.zeros(2, np.int32)
    >>> collect_related([row]).of(0)[0].tolist()
    [7, 4]
    """
    sizes, pages, weights, lags = [], [], [], []
    for row_pages, row_weights, row_lags in rows:
        order = np.lexsort((row_pages, -row_weights))
        if is_sorted:
            order = np.arange(len(row_pages))
        sizes.append(len(order))
        pages.append(row_pages[order])
        weights.append(row_weights[order])
        lags.append(row_lags[order])
    return RelatedPages(
        _starts(np.array(sizes, np.int32)),
        np.concatenate([np.empty(0, np.int32), *pages]),
        np.concatenate([np.empty(0, np.float64), *weights]),
        np.concatenate([np.empty(0, np.int32), *lags]),
    )


def _starts(sizes: IndexArray) -> IndexArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
