"""Temporal content similarity: pages whose words rise and fall together, or one after the other.

Radinsky and Bennett (2013), section 6.3. The series of a word is its tf-idf over the steps, with
term frequencies normalised by the length of the page. A word that is constant in one of two pages
counts as 0; words in only one of the pages do not count.
"""

from dataclasses import dataclass, field

import numpy as np

from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.related_pages import RelatedPages, collect_related
from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import FlagArray, FloatArray, IndexArray
from freshet.relate.content_neighbours import ContentNeighbours, top_scores
from freshet.relate.kernels.word_series import (
    SeriesLists,
    TargetSeries,
    add_similarities,
    leading_lag,
)
from freshet.relate.tfidf import heaviest_words, inverse_document_frequencies, last_term_weights
from freshet.relate.word_series import WordSeries, build_word_series, filled_versions

RelatedRow = tuple[IndexArray, FloatArray, IndexArray]
NO_ROW: RelatedRow = np.empty(0, np.int32), np.empty(0), np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class CrossCorrelation:
    """Relates pages by the largest cross-correlation of their words' series over all lags.

    The lag is by how many steps the related page is ahead, 0 to ``lags`` - 1 (default: the number
    of steps). The divisor of the correlation is the product of the standard deviations; the paper
    says variances, with which its formula gives no correlation. The weight of a page is the mean
    over the target's ``words`` heaviest words, weighted by their tf-idf. Only ``candidates`` pages
    with the most similar words are compared, or by default all that share a word.
    """

    words: int = 50
    lags: int | None = None
    candidates: int | None = None

    def related(self, grid: ContentGrid, count: int) -> RelatedPages:
        """Return the pages with the highest correlations, with their lags."""
        lag_count = min(self.lags or grid.step_count, grid.step_count)
        comparison = _BlockComparison(grid, self.words, max(lag_count, 1), standardised=True)
        return comparison.related(count, self.candidates)


@dataclass(frozen=True, slots=True)
class TimeWarping:
    """Relates pages by dynamic time warping of their words' series: 1 / (1 + distance).

    ``standardised`` series have mean 0 and a sum of squares of 1, so that frequent and rare words
    are alike. The other parameters are those of ``CrossCorrelation``; there are no lags. Warping is
    dearer than correlation, so by default only 500 ``candidates`` are compared.
    """

    words: int = 50
    candidates: int | None = 500
    standardised: bool = False

    def related(self, grid: ContentGrid, count: int) -> RelatedPages:
        """Return the pages with the smallest distances."""
        comparison = _BlockComparison(grid, self.words, 0, standardised=self.standardised)
        return comparison.related(count, self.candidates)


@dataclass(slots=True)
class _BlockComparison:
    """Compares all pages block by block, so that few series are in memory at a time."""

    grid: ContentGrid
    words: int
    lag_count: int
    standardised: bool
    target_block: int = 4096
    expert_block: int = 512
    idf: FloatArray = field(init=False)
    versions: IndexArray = field(init=False)
    top_words: SparseRows = field(init=False)

    def __post_init__(self) -> None:
        self.idf = inverse_document_frequencies(self.grid)
        self.versions = filled_versions(self.grid)
        self.top_words = heaviest_words(last_term_weights(self.grid, self.idf), self.words)

    def related(self, count: int, candidate_count: int | None) -> RelatedPages:
        candidates = None
        if candidate_count is not None:
            candidates = ContentNeighbours().related(self.grid, candidate_count)
        pages = np.arange(self.grid.page_count, dtype=np.int32)
        rows: list[RelatedRow] = []
        for start in range(0, len(pages), self.target_block):
            block = pages[start : start + self.target_block]
            rows += self._relate_targets(block, candidates, count)
        return collect_related(rows)

    def _relate_targets(
        self, targets: IndexArray, candidates: RelatedPages | None, count: int
    ) -> list[RelatedRow]:
        series = [self._target_series(page) for page in targets.tolist()]
        rows = [NO_ROW] * len(targets)
        for first in range(0, self.grid.page_count, self.expert_block):
            size = min(self.expert_block, self.grid.page_count - first)
            lists = self._series_lists(first, size)
            for index, target in enumerate(series):
                page = int(targets[index])
                flags = _candidate_flags(page, candidates, first, size)
                pages, weights, lags = self._relate_to_block(target, lists, flags, count)
                block_row = pages + np.int32(first), weights, lags
                rows[index] = _merge_rows(rows[index], block_row, count)
        return rows

    def _target_series(self, page: int) -> TargetSeries:
        """Return the heaviest words of a page that vary, with weights that add up to 1 at most."""
        series = self._build(slice(page, page + 1))
        columns, weights = self.top_words.row(page)
        _, in_top, in_series = np.intersect1d(columns, series.columns, return_indices=True)
        order = np.argsort(series.series[in_series], kind="stable")
        in_top, in_series = in_top[order], in_series[order]
        distinct, indices = np.unique(series.series[in_series], return_inverse=True)
        return TargetSeries(
            columns[in_top],
            weights[in_top] / max(weights.sum(), np.finfo(float).tiny),
            indices.astype(np.int32),
            series.values[distinct],
        )

    def _series_lists(self, first: int, size: int) -> SeriesLists:
        series = self._build(slice(first, first + size))
        order = np.argsort(series.columns, kind="stable")
        pages = np.repeat(np.arange(size, dtype=np.int32), np.diff(series.starts))
        starts = np.zeros(self.grid.terms.column_count + 1, np.int32)
        np.cumsum(np.bincount(series.columns, minlength=len(starts) - 1), out=starts[1:])
        return SeriesLists(starts, pages[order], series.series[order], series.values)

    def _build(self, pages: slice) -> WordSeries:
        return build_word_series(
            self.grid.terms, self.versions[pages], self.idf, standardised=self.standardised
        )

    def _relate_to_block(
        self, target: TargetSeries, lists: SeriesLists, flags: FlagArray, count: int
    ) -> RelatedRow:
        scores = np.zeros(len(flags))
        add_similarities(target, lists, self.lag_count, flags, scores)
        pages, weights, lags = top_scores(scores, count)
        if self.lag_count:
            lags = np.array(
                [leading_lag(target, lists, self.lag_count, page) for page in pages.tolist()],
                np.int32,
            )
        return pages, weights, lags


def _candidate_flags(
    page: int, candidates: RelatedPages | None, first: int, size: int
) -> FlagArray:
    """Return which pages of a block are compared with a page."""
    flags = np.ones(size, np.uint8)
    if candidates is not None:
        flags[:] = 0
        others = candidates.of(page)[0] - first
        flags[others[(others >= 0) & (others < size)]] = 1
    if first <= page < first + size:
        flags[page - first] = 0
    return flags


def _merge_rows(row: RelatedRow, other: RelatedRow, count: int) -> RelatedRow:
    pages = np.concatenate([row[0], other[0]])
    weights = np.concatenate([row[1], other[1]])
    lags = np.concatenate([row[2], other[2]])
    best = np.lexsort((pages, -weights))[:count]
    return pages[best], weights[best], lags[best]
