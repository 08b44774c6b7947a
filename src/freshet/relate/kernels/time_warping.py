"""Compiled loops for dynamic time warping."""

import numpy as np
from numba import njit

from freshet.core.types import FloatArray, IndexArray

# Series are compared in groups, so that a processor computes the same cell of several at once.
GROUP = 16


@njit(cache=True, nogil=True)
def warp_with_rows(first: FloatArray, table: FloatArray, rows: IndexArray) -> FloatArray:
    """Return the distance of a series to some rows of a table, under the best warping of each.

    The cost of a cell is the absolute difference.
    """
    distances = np.empty(len(rows))
    scratch = np.empty((table.shape[1] + 1, GROUP))
    group = np.empty((table.shape[1], GROUP))
    for start in range(0, len(rows), GROUP):
        size = min(GROUP, len(rows) - start)
        for k in range(GROUP):
            series = table[rows[start + min(k, size - 1)]]
            for j in range(len(series)):
                group[j, k] = series[j]
        _warp_group(first, group, scratch)
        distances[start : start + size] = scratch[-1, :size]
    return distances


@njit(cache=True, nogil=True)
def _warp_group(first: FloatArray, group: FloatArray, scratch: FloatArray) -> None:
    """Fill the last row of ``scratch`` with the distances of a series to the columns of a group."""
    diagonal, left = np.empty(GROUP), np.empty(GROUP)
    scratch[:] = np.inf
    scratch[0] = 0.0
    for i in range(len(first)):
        value = first[i]
        diagonal[:] = scratch[0]
        left[:] = np.inf
        scratch[0] = np.inf
        for j in range(len(group)):
            for k in range(GROUP):
                above = scratch[j + 1, k]
                step = above if above < diagonal[k] else diagonal[k]
                step = left[k] if left[k] < step else step
                distance = abs(value - group[j, k]) + step
                diagonal[k] = above
                left[k] = distance
                scratch[j + 1, k] = distance
