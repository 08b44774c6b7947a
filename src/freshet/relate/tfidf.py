"""Weights of words in pages: tf-idf with term frequencies normalised by the length of the page."""

import numpy as np

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import FloatArray, IndexArray


def inverse_document_frequencies(grid: ContentGrid) -> FloatArray:
    """Return the smoothed idf of each word over the last known versions of the pages.

    It is log((1 + pages) / (1 + pages with the word)) + 1, so that it is never zero.
    """
    last_rows = take_rows(grid.terms, grid.last_versions())
    page_counts = np.bincount(last_rows.columns, minlength=grid.terms.column_count)
    known_count = np.count_nonzero(grid.last_versions() != NO_VERSION)
    idf: FloatArray = np.log((1 + known_count) / (1 + page_counts)) + 1
    return idf


def last_term_weights(grid: ContentGrid, idf: FloatArray) -> SparseRows:
    """Return the tf-idf of the words of each page's last known version; no words if unknown."""
    rows = take_rows(grid.terms, grid.last_versions())
    lengths = np.repeat(rows.row_sums(), np.diff(rows.starts))
    return SparseRows(
        rows.starts, rows.columns, rows.values / lengths * idf[rows.columns], rows.column_count
    )


def normalise_rows(rows: SparseRows) -> SparseRows:
    """Return the rows scaled to an L2 norm of 1; empty rows stay empty."""
    squares = SparseRows(rows.starts, rows.columns, rows.values**2, rows.column_count)
    norms = np.repeat(np.sqrt(squares.row_sums()), np.diff(rows.starts))
    return SparseRows(rows.starts, rows.columns, rows.values / norms, rows.column_count)


def heaviest_words(rows: SparseRows, count: int) -> SparseRows:
    """Return at most ``count`` words of each row, those with the largest values.

    Equal values are decided by the column.
    """
    sizes = np.diff(rows.starts)
    row_of_cell = np.repeat(np.arange(len(rows)), sizes)
    order = np.lexsort((rows.columns, -rows.values, row_of_cell))
    ranks = np.arange(len(order)) - np.repeat(rows.starts[:-1], sizes)
    kept = np.sort(order[ranks < count])
    starts = np.zeros(len(rows) + 1, np.int32)
    np.cumsum(np.minimum(sizes, count), out=starts[1:])
    return SparseRows(starts, rows.columns[kept], rows.values[kept], rows.column_count)


def take_rows(rows: SparseRows, indices: IndexArray) -> SparseRows:
    """Return some rows in the given order; a negative index gives an empty row."""
    first = np.where(indices < 0, 0, rows.starts[indices]).astype(np.int64)
    sizes = np.where(indices < 0, 0, rows.starts[indices + 1] - first)
    starts = np.zeros(len(indices) + 1, np.int32)
    np.cumsum(sizes, out=starts[1:])
    cells = np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)
    return SparseRows(starts, rows.columns[cells], rows.values[cells], rows.column_count)
