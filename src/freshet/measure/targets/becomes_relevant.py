"""The target of relevance: a page enters the first results of a query (section 3.2 of the paper).

Radinsky & Bennett 2013 name the target and leave the ranking open; here it is BM25 over the pages
that are known at the step.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.measure.targets.target import UNKNOWN_LABEL, version_pairs

TOP_RESULTS = 10
BM25_SATURATION, BM25_LENGTH_WEIGHT = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class WeightedQuery:
    """A query of a query load: the hashes of its terms, and its weight, such as its frequency."""

    terms: HashArray
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class BecomesRelevant:
    """A page enters the ``top`` results of queries whose weights sum to more than ``min_weight``.

    A page without a term of the query is never among its results. Equal scores rank in the order
    of the pages.
    """

    queries: Sequence[WeightedQuery]
    top: int = TOP_RESULTS
    min_weight: float = 0.0
    name = "relevant"

    def labels(self, grid: ContentGrid, horizon: int = 1) -> IndexArray:
        """Return the labels of all pages and steps."""
        before, after = version_pairs(grid, horizon)
        weights = np.array([query.weight for query in self.queries], np.float64)
        is_result = self.results(grid)
        steps = before.shape[1]
        is_new = is_result[horizon : horizon + steps] & ~is_result[:steps]
        has_entered = (is_new @ weights > self.min_weight).T
        is_known = (before != NO_VERSION) & (after != NO_VERSION)
        return np.where(is_known, has_entered, UNKNOWN_LABEL).astype(np.int32)

    def results(self, grid: ContentGrid) -> NDArray[np.bool_]:
        """Return whether each page is a result, by step, page and query."""
        all_terms = np.concatenate([np.empty(0, np.uint64), *(q.terms for q in self.queries)])
        terms = np.unique(all_terms)
        counts, lengths = _term_counts(grid, terms), grid.terms.row_sums()
        is_in_query = np.array([np.isin(terms, q.terms) for q in self.queries], np.float64)
        is_result = np.zeros((grid.step_count, grid.page_count, len(self.queries)), np.bool_)
        for step in range(grid.step_count):
            pages = np.flatnonzero(grid.versions[:, step] != NO_VERSION)
            rows = grid.versions[pages, step]
            if len(pages) and len(terms):
                scores = bm25_scores(counts[rows], lengths[rows]) @ is_in_query.T
                is_result[step, pages] = _is_among_first(scores, self.top)
        return is_result


def bm25_scores(counts: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the BM25 score of each document (row) for each term (column) of a collection."""
    documents = np.count_nonzero(counts, axis=0)
    rarity = np.log1p((len(counts) - documents + 0.5) / (documents + 0.5))
    relative_lengths = lengths / max(float(lengths.mean()), 1.0)
    penalty = 1 - BM25_LENGTH_WEIGHT + BM25_LENGTH_WEIGHT * relative_lengths
    saturation = counts + BM25_SATURATION * penalty[:, None]
    # A document without words has no term; its penalty is positive, so the divisor is too.
    return np.asarray(rarity * counts * (BM25_SATURATION + 1) / saturation, np.float64)


def _term_counts(grid: ContentGrid, terms: HashArray) -> FloatArray:
    """Return how often each version has each term."""
    counts = np.zeros((len(grid.terms), len(terms)))
    columns = np.searchsorted(grid.vocabulary, terms)
    term_of_column = {
        int(column): index
        for index, column in enumerate(columns)
        if column < len(grid.vocabulary) and grid.vocabulary[column] == terms[index]
    }
    rows = np.repeat(np.arange(len(grid.terms)), np.diff(grid.terms.starts))
    for column, index in term_of_column.items():
        is_term = grid.terms.columns == column
        counts[rows[is_term], index] = grid.terms.values[is_term]
    return counts


def _is_among_first(scores: FloatArray, top: int) -> NDArray[np.bool_]:
    order = np.argsort(-scores, axis=0, kind="stable")[:top]
    is_first = np.zeros(scores.shape, np.bool_)
    np.put_along_axis(is_first, order, values=True, axis=0)
    return is_first & (scores > 0)
