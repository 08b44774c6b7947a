"""Time series of the weights of words in pages, and their use in comparing pages over time."""

from dataclasses import dataclass

import numpy as np

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import FloatArray, IndexArray
from freshet.relate.tfidf import take_rows

# Series are equal if they agree to this many parts of their unit.
DISTINCT_PARTS = 1e9
CONSTANT_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class WordSeries:
    """The words of pages that vary, each with the index of its series in ``values``.

    Page i has the words ``columns[starts[i]:starts[i + 1]]``, ascending. Words of a page with equal
    series share one, which is common: a word with a constant count varies only with the length of
    the page.
    """

    starts: IndexArray
    columns: IndexArray
    series: IndexArray
    values: FloatArray


def filled_versions(grid: ContentGrid) -> IndexArray:
    """Return the versions with gaps filled by the version before, or the first known one.

    >>> from types import SimpleNamespace
    >>> versions = np.array([[-1, 4, -1, 5], [-1, -1, -1, -1]])
    >>> filled_versions(SimpleNamespace(versions=versions)).tolist()
    [[4, 4, 4, 5], [-1, -1, -1, -1]]
    """
    is_known = grid.versions != NO_VERSION
    steps = np.where(is_known, np.arange(grid.versions.shape[1]), 0)
    steps = np.maximum.accumulate(steps, axis=1)
    first = np.argmax(is_known, axis=1)[:, None] if steps.size else steps
    return np.take_along_axis(grid.versions, np.maximum(steps, first), axis=1).astype(np.int32)


def build_word_series(
    terms: SparseRows, versions: IndexArray, idf: FloatArray, *, standardised: bool
) -> WordSeries:
    """Return the series of tf-idf of all words that vary, for pages with the given versions.

    Standardised series have mean 0 and a sum of squares of 1, so that the product of two is their
    correlation.
    """
    sizes, columns, series, values = [0], [], [], []
    series_count = 0
    for page_versions in versions:
        words, matrix = _page_matrix(terms, page_versions, idf)
        deviations = matrix - matrix.sum(axis=1, keepdims=True) / max(matrix.shape[1], 1)
        norms = np.sqrt((deviations**2).sum(axis=1))
        varies = norms > CONSTANT_SPREAD * np.abs(matrix).max(axis=1, initial=0.0)
        matrix = deviations / np.where(varies, norms, 1.0)[:, None] if standardised else matrix
        distinct, indices = _distinct_rows(matrix[varies])
        sizes.append(len(indices))
        columns.append(words[varies])
        series.append(indices + series_count)
        values.append(distinct)
        series_count += len(distinct)
    return WordSeries(
        np.cumsum(sizes).astype(np.int32),
        np.concatenate([np.empty(0, np.int32), *columns]).astype(np.int32),
        np.concatenate([np.empty(0, np.int32), *series]).astype(np.int32),
        np.concatenate([np.empty((0, versions.shape[1])), *values]),
    )


def _page_matrix(
    terms: SparseRows, versions: IndexArray, idf: FloatArray
) -> tuple[IndexArray, FloatArray]:
    """Return the words of a page, ascending, and their tf-idf at each step."""
    distinct, version_of_step = np.unique(versions, return_inverse=True)
    rows = take_rows(terms, distinct)
    words, word_of_cell = np.unique(rows.columns, return_inverse=True)
    row_of_cell = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
    matrix = np.zeros((len(words), len(rows)))
    frequencies = rows.values / rows.row_sums()[row_of_cell]
    matrix[word_of_cell, row_of_cell] = frequencies * idf[rows.columns]
    return words, matrix[:, version_of_step]


def _distinct_rows(matrix: FloatArray) -> tuple[FloatArray, IndexArray]:
    """Return the distinct rows of a matrix, and which of them each row is."""
    multipliers = np.random.default_rng(1).integers(1 << 62, size=matrix.shape[1]) * 2 + 1
    keys = np.rint(matrix * DISTINCT_PARTS).astype(np.int64) @ multipliers
    _, first, indices = np.unique(keys, return_index=True, return_inverse=True)
    return matrix[first], indices.astype(np.int32)
