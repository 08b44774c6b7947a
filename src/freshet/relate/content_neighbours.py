"""Pages with similar words: nearest neighbours by the cosine of tf-idf."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.related_pages import RelatedPages, collect_related
from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import FloatArray, IndexArray
from freshet.relate.kernels.content_neighbours import add_products, row_products
from freshet.relate.tfidf import (
    heaviest_words,
    inverse_document_frequencies,
    last_term_weights,
    normalise_rows,
)


@dataclass(frozen=True, slots=True)
class ContentNeighbours:
    """Relates pages by the cosine of the tf-idf of their last known versions.

    Radinsky and Bennett (2013), section 6.2. Up to ``exact_limit`` pages are compared with all
    others. Larger collections are searched approximately: only the ``words`` heaviest words of a
    page are looked up, each in the ``pages_per_word`` pages in which it is heaviest; the cosines of
    the ``candidates`` best pages found in this way are then computed exactly.
    """

    exact_limit: int = 20_000
    words: int = 32
    pages_per_word: int = 500
    candidates: int = 100

    def related(self, grid: ContentGrid, count: int) -> RelatedPages:
        """Return the pages with the most similar words."""
        weights = last_term_weights(grid, inverse_document_frequencies(grid))
        rows = normalise_rows(weights)
        if grid.page_count <= self.exact_limit:
            return collect_related(_search(rows, rows, _transpose(rows), count))
        queries = heaviest_words(rows, self.words)
        postings = heaviest_words(_transpose(rows), self.pages_per_word)
        candidates = _search(rows, queries, postings, max(count, self.candidates))
        return collect_related(_rerank(rows, candidates, count))


def _search(
    rows: SparseRows, queries: SparseRows, postings: SparseRows, count: int
) -> Iterator[tuple[IndexArray, FloatArray, IndexArray]]:
    """Yield the pages with the largest products with each query, and the products."""
    scores = np.zeros(len(rows))
    for page in range(len(rows)):
        columns, values = queries.row(page)
        add_products(columns, values, postings.starts, postings.columns, postings.values, scores)
        scores[page] = 0.0
        yield top_scores(scores, count)
        scores[:] = 0.0


def _rerank(
    rows: SparseRows,
    candidates_of: Iterator[tuple[IndexArray, FloatArray, IndexArray]],
    count: int,
) -> Iterator[tuple[IndexArray, FloatArray, IndexArray]]:
    """Yield the best of the pages found for each page, by their exact products."""
    scratch = np.zeros(rows.column_count)
    for page, (candidates, _, _) in enumerate(candidates_of):
        products = row_products(page, candidates, rows.starts, rows.columns, rows.values, scratch)
        best = np.lexsort((candidates, -products))[:count]
        yield candidates[best], products[best], np.zeros(len(best), np.int32)


def top_scores(scores: FloatArray, count: int) -> tuple[IndexArray, FloatArray, IndexArray]:
    """Return the pages with the largest positive scores, the scores, and lags of 0."""
    pages = np.flatnonzero(scores > 0).astype(np.int32)
    if len(pages) > count > 0:
        least = -np.partition(-scores[pages], count - 1)[count - 1]
        pages = pages[scores[pages] >= least]
    pages = pages[np.lexsort((pages, -scores[pages]))[:count]]
    return pages, scores[pages], np.zeros(len(pages), np.int32)


def _transpose(rows: SparseRows) -> SparseRows:
    """Return the rows of the transposed matrix: for each word, the pages and their values."""
    order = np.argsort(rows.columns, kind="stable")
    row_of_cell = np.repeat(np.arange(len(rows), dtype=np.int32), np.diff(rows.starts))
    starts = np.zeros(rows.column_count + 1, np.int32)
    np.cumsum(np.bincount(rows.columns, minlength=rows.column_count), out=starts[1:])
    return SparseRows(starts, row_of_cell[order], rows.values[order], len(rows))
