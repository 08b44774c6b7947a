"""Cross-correlation that is updated as values arrive and keeps no old snapshots.

Radinsky and Bennett (2013), section 9.2, name this without giving it. For each pair of series and
each lag it keeps the sum of products, and for each series its last values and sums; means and
standard deviations are applied when the correlations are asked for.
"""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from freshet.core.content.related_pages import RelatedPages, collect_related
from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import FloatArray, IndexArray
from freshet.relate.kernels.online_correlation import update_products
from freshet.relate.tfidf import heaviest_words

CONSTANT_VARIANCE = 1e-20
PairArray = NDArray[np.int64]


class LaggedCorrelations:
    """Correlations of pairs of series over lags, over everything that has arrived.

    ``pairs`` has a row (target, leader) for each pair; the leader is ahead by less than
    ``lag_count`` steps. With ``forgetting`` below 1, a step counts that much less for each step
    since. All sums are of values less the first value of their series, which keeps their digits.
    """

    def __init__(
        self, series_count: int, pairs: IndexArray, lag_count: int, *, forgetting: float = 1.0
    ) -> None:
        self.forgetting = forgetting
        self.step_count = 0
        self._pairs = pairs.reshape(-1, 2).astype(np.int32)
        self._first = np.zeros(series_count)
        self._scale = np.zeros(series_count)
        self._recent = np.zeros((series_count, lag_count))
        self._step_weights = np.zeros(lag_count)
        self._sums = np.zeros((series_count, lag_count))
        self._delayed_sums = np.zeros((series_count, lag_count))
        self._squares = np.zeros(series_count)
        self._products = np.zeros((len(self._pairs), lag_count))

    def update(self, values: FloatArray) -> Self:
        """Take the values of all series at the next step."""
        if self.step_count == 0:
            self._first = values.astype(np.float64)
        self._scale = np.maximum(self._scale, np.abs(values))
        shifted = values - self._first
        self._recent = np.roll(self._recent, 1, axis=1)
        self._recent[:, :1] = shifted[:, None]
        # Lags beyond the steps so far have no pair of values yet.
        is_reached = np.arange(len(self._step_weights)) <= self.step_count
        self._step_weights = self.forgetting * self._step_weights + is_reached
        self._sums = self.forgetting * self._sums + np.outer(shifted, is_reached)
        self._delayed_sums = self.forgetting * self._delayed_sums + self._recent
        self._squares = self.forgetting * self._squares + shifted**2
        update_products(self._products, self._pairs, shifted, self._recent, self.forgetting)
        self.step_count += 1
        return self

    def correlations(self) -> FloatArray:
        """Return the correlation of each pair at each lag; 0 where a series is constant.

        The sum over the steps at which both values exist is divided by the weight of all steps, as
        in the correlation of the whole series.
        """
        if self.step_count == 0:
            return np.zeros_like(self._products)
        weight = self._step_weights[0]
        means = self._sums[:, 0] / weight
        variances = self._squares / weight - means**2
        varies = variances > CONSTANT_VARIANCE * self._scale**2
        deviations = np.where(varies, np.sqrt(np.where(varies, variances, 1.0)), np.inf)
        target, leader = self._pairs[:, 0], self._pairs[:, 1]
        target_means, leader_means = means[target][:, None], means[leader][:, None]
        sums = (
            self._products
            - leader_means * self._sums[target]
            - target_means * self._delayed_sums[leader]
            + target_means * leader_means * self._step_weights
        )
        divisors = weight * deviations[target] * deviations[leader]
        correlations: FloatArray = sums / divisors[:, None]
        return correlations

    def largest(self) -> tuple[FloatArray, IndexArray]:
        """Return the largest correlation of each pair over the lags reached, and its lag."""
        correlations = self.correlations()[:, : max(self.step_count, 1)]
        return correlations.max(axis=1), correlations.argmax(axis=1).astype(np.int32)


class OnlineCrossCorrelation:
    """Relates pages by the cross-correlation of their words, updated as snapshots arrive.

    The candidates of each page are given, and the ``words`` heaviest words of each page are chosen
    once, from the term weights (tf-idf) of a snapshot. It then equals ``CrossCorrelation`` over the
    same candidates, words and lags. It keeps ``lag_count`` numbers for each word and candidate of
    a page, whatever the number of snapshots.
    """

    def __init__(
        self,
        candidates: RelatedPages,
        weights: SparseRows,
        *,
        words: int = 50,
        lag_count: int = 50,
        forgetting: float = 1.0,
    ) -> None:
        self._page_count, self._column_count = len(candidates), weights.column_count
        top_words = heaviest_words(weights, words)
        self._word_pages = _row_of_cells(top_words)
        word_cells = self._cells_of(self._word_pages, top_words.columns)
        self._targets, self._experts, columns = _pair_words(candidates, top_words)
        target_cells = self._cells_of(self._targets, columns)
        expert_cells = self._cells_of(self._experts, columns)
        self._cells = np.unique(np.concatenate([word_cells, expert_cells]))
        self._word_series = np.searchsorted(self._cells, word_cells)
        self._target_series = np.searchsorted(self._cells, target_cells)
        pairs = np.column_stack([self._target_series, np.searchsorted(self._cells, expert_cells)])
        self._values = np.zeros(len(self._cells))
        self._correlations = LaggedCorrelations(
            len(self._cells), pairs.astype(np.int32), lag_count, forgetting=forgetting
        )

    def update(self, weights: SparseRows) -> Self:
        """Take the term weights of the next snapshot of all pages."""
        cells = np.append(self._cells_of(_row_of_cells(weights), weights.columns), -1)
        indices = np.searchsorted(cells[:-1], self._cells)
        values = np.append(weights.values, 0.0)[indices]
        self._values = np.where(cells[indices] == self._cells, values, 0.0)
        self._correlations.update(self._values)
        return self

    def related(self, count: int) -> RelatedPages:
        """Return the pages with the highest correlations so far, with their lags."""
        correlations, lags = self._correlations.largest()
        totals = np.bincount(
            self._word_pages, self._values[self._word_series], minlength=self._page_count
        )
        totals = np.maximum(totals, np.finfo(np.float64).tiny)
        shares = self._values[self._target_series] / totals[self._targets] * correlations
        keys, pairs = np.unique(
            self._targets * self._page_count + self._experts, return_inverse=True
        )
        scores = np.bincount(pairs, shares, minlength=len(keys)).astype(np.float64)
        pair_lags = _heaviest_lags(pairs, lags, shares)
        ends = np.searchsorted(keys, np.arange(self._page_count + 1) * self._page_count)
        rows = (np.arange(ends[page], ends[page + 1]) for page in range(self._page_count))
        positive = (row[scores[row] > 0] for row in rows)
        experts = (keys % max(self._page_count, 1)).astype(np.int32)
        related = ((experts[row], scores[row], pair_lags[row]) for row in positive)
        return collect_related(related).closest(count)

    def _cells_of(self, pages: PairArray, columns: IndexArray) -> PairArray:
        """Return a number for each word of a page, ascending with page and word."""
        return pages * self._column_count + columns


def _row_of_cells(rows: SparseRows) -> PairArray:
    return np.repeat(np.arange(len(rows), dtype=np.int64), np.diff(rows.starts))


def _pair_words(
    candidates: RelatedPages, top_words: SparseRows
) -> tuple[PairArray, PairArray, IndexArray]:
    """Return target, expert and word of every word of a target and every candidate of it."""
    word_counts, expert_counts = np.diff(top_words.starts), np.diff(candidates.starts)
    pages = np.arange(len(candidates), dtype=np.int64)
    targets = np.repeat(pages, expert_counts)
    repeats = word_counts[targets]
    experts = np.repeat(candidates.pages.astype(np.int64), repeats)
    targets = np.repeat(targets, repeats)
    first_cells = np.repeat(np.cumsum(repeats) - repeats, repeats)
    cells = np.arange(len(targets)) - first_cells + top_words.starts[targets]
    return targets, experts, top_words.columns[cells]


def _heaviest_lags(pairs: PairArray, lags: IndexArray, shares: FloatArray) -> IndexArray:
    """Return the lag of each pair of pages with the largest share of the score."""
    lag_count = int(lags.max(initial=0)) + 1
    keys, cells = np.unique(pairs * lag_count + lags, return_inverse=True)
    weights = np.bincount(cells, shares, minlength=len(keys))
    order = np.lexsort((keys % lag_count, -weights, keys // lag_count))
    _, first = np.unique(keys[order] // lag_count, return_index=True)
    heaviest: PairArray = keys[order[first]] % lag_count
    return heaviest.astype(np.int32)
