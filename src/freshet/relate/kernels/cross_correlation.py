"""Compiled loops for the cross-correlation of standardised series over all lags."""

import numpy as np
from numba import njit

from freshet.core.types import FloatArray, IndexArray


@njit(cache=True, nogil=True)
def fill_lagged_products(target: FloatArray, leader: FloatArray, products: FloatArray) -> None:
    """Fill in, for each lag, the sum of target[i] * leader[i - lag]."""
    products[:] = 0.0
    for i in range(len(leader)):
        value = leader[i]
        for lag in range(min(len(products), len(target) - i)):
            products[lag] += value * target[i + lag]


@njit(cache=True, nogil=True)
def largest_product(products: FloatArray) -> tuple[float, int]:
    """Return the largest product and its lag, the smallest lag if several are equal."""
    best = 0
    for lag in range(1, len(products)):
        if products[lag] > products[best]:
            best = lag
    return products[best], best


@njit(cache=True, nogil=True)
def correlate_pairs(
    targets: FloatArray, leaders: FloatArray, lag_count: int
) -> tuple[FloatArray, IndexArray]:
    """Return the largest correlation and its lag for each row of two tables of series."""
    correlations = np.empty(len(targets))
    lags = np.empty(len(targets), np.int32)
    products = np.empty(lag_count)
    for row in range(len(targets)):
        fill_lagged_products(targets[row], leaders[row], products)
        correlations[row], lags[row] = largest_product(products)
    return correlations, lags
