"""Compiled loops that compare a page's series of words with those of a block of pages."""

from typing import NamedTuple

import numpy as np
from numba import njit

from freshet.core.types import FlagArray, FloatArray, IndexArray
from freshet.relate.kernels.cross_correlation import fill_lagged_products, largest_product
from freshet.relate.kernels.time_warping import warp_with_rows


class TargetSeries(NamedTuple):
    """The words of a page with their weights and series; words with equal series are adjacent."""

    columns: IndexArray
    weights: FloatArray
    series: IndexArray
    values: FloatArray


class SeriesLists(NamedTuple):
    """For each word the pages of a block that have it, ascending, and their series of it."""

    starts: IndexArray
    pages: IndexArray
    series: IndexArray
    values: FloatArray


@njit(cache=True, nogil=True)
def add_similarities(
    target: TargetSeries,
    lists: SeriesLists,
    lag_count: int,
    is_candidate: FlagArray,
    scores: FloatArray,
) -> None:
    """Add to each page's score the weighted similarities of its series with the target's.

    The similarity is the largest correlation over the lags, or that of time warping if there are
    no lags. Each pair of series is compared once.
    """
    similarities = np.empty(len(lists.values))
    compared_with = np.full(len(lists.values), -1, np.int32)
    waiting = np.empty(len(lists.values), np.int32)
    for word in range(len(target.columns)):
        series = target.series[word]
        start, end = lists.starts[target.columns[word]], lists.starts[target.columns[word] + 1]
        count = 0
        for cell in range(start, end):
            other = lists.series[cell]
            if is_candidate[lists.pages[cell]] and compared_with[other] != series:
                compared_with[other] = series
                waiting[count] = other
                count += 1
        rows = waiting[:count]
        similarities[rows] = _similarities(target.values[series], lists.values, rows, lag_count)
        for cell in range(start, end):
            if is_candidate[lists.pages[cell]]:
                scores[lists.pages[cell]] += target.weights[word] * similarities[lists.series[cell]]


@njit(cache=True, nogil=True)
def _similarities(
    series: FloatArray, table: FloatArray, rows: IndexArray, lag_count: int
) -> FloatArray:
    if lag_count == 0:
        return 1.0 / (1.0 + warp_with_rows(series, table, rows))
    similarities = np.empty(len(rows))
    products = np.empty(lag_count)
    for k in range(len(rows)):
        fill_lagged_products(series, table[rows[k]], products)
        similarities[k] = largest_product(products)[0]
    return similarities


@njit(cache=True, nogil=True)
def leading_lag(target: TargetSeries, lists: SeriesLists, lag_count: int, page: int) -> int:
    """Return the lag at which the words of a page have the most weighted correlation."""
    weights = np.zeros(lag_count)
    products = np.empty(lag_count)
    for word in range(len(target.columns)):
        start, end = lists.starts[target.columns[word]], lists.starts[target.columns[word] + 1]
        cell = start + np.searchsorted(lists.pages[start:end], page)
        if cell < end and lists.pages[cell] == page:
            series = lists.values[lists.series[cell]]
            fill_lagged_products(target.values[target.series[word]], series, products)
            correlation, lag = largest_product(products)
            weights[lag] += target.weights[word] * correlation
    return int(np.argmax(weights))
