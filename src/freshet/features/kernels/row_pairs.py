"""Compiled loops that compare pairs of sparse rows."""

import numpy as np
from numba import njit

from freshet.core.types import FloatArray, IndexArray


@njit(cache=True, nogil=True)
def dot_products(
    starts: IndexArray, columns: IndexArray, values: FloatArray, left: IndexArray, right: IndexArray
) -> FloatArray:
    """Return the dot product of the rows of each pair."""
    products = np.zeros(len(left))
    for pair in range(len(left)):
        i, i_end = starts[left[pair]], starts[left[pair] + 1]
        j, j_end = starts[right[pair]], starts[right[pair] + 1]
        product = 0.0
        while i < i_end and j < j_end:
            if columns[i] == columns[j]:
                product += values[i] * values[j]
                i += 1
                j += 1
            elif columns[i] < columns[j]:
                i += 1
            else:
                j += 1
        products[pair] = product
    return products


@njit(cache=True, nogil=True)
def count_differences(
    starts: IndexArray, columns: IndexArray, values: FloatArray, left: IndexArray, right: IndexArray
) -> FloatArray:
    """Return, per pair, how much the right row adds to the left one and how much it removes."""
    differences = np.zeros((len(left), 2))
    for pair in range(len(left)):
        i, i_end = starts[left[pair]], starts[left[pair] + 1]
        j, j_end = starts[right[pair]], starts[right[pair] + 1]
        added = removed = 0.0
        while i < i_end or j < j_end:
            has_left = i < i_end and (j == j_end or columns[i] <= columns[j])
            has_right = j < j_end and (i == i_end or columns[j] <= columns[i])
            change = 0.0
            if has_right:
                change += values[j]
                j += 1
            if has_left:
                change -= values[i]
                i += 1
            added += max(change, 0.0)
            removed += max(-change, 0.0)
        differences[pair, 0] = added
        differences[pair, 1] = removed
    return differences
