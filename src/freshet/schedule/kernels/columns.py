"""Compiled look-up of keys in sorted columns."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import IndexArray


@njit(cache=True, nogil=True)
def find_keys(
    keys: NDArray[Any], order: IndexArray | None, wanted_keys: NDArray[Any]
) -> IndexArray:
    """Return the row of every wanted key, -1 for unknown ones.

    ``order`` has the rows sorted by key; without it the keys are sorted themselves.
    """
    rows = np.full(len(wanted_keys), -1, np.int32)
    for index in range(len(wanted_keys)):
        key, low, high = wanted_keys[index], 0, len(keys)
        if order is None:
            low, high = possible_rows(keys, key)
        while low < high:
            middle = (low + high) >> 1
            if keys[middle if order is None else order[middle]] < key:
                low = middle + 1
            else:
                high = middle
        if low < len(keys):
            row = low if order is None else order[low]
            if keys[row] == key:
                rows[index] = row
    return rows


@njit(cache=True)
def possible_rows(keys: NDArray[Any], key: int) -> tuple[int, int]:
    """Return the first possible row of a key in sorted keys, and the row after the last one.

    Keys are different whole numbers, so that a key is no further from the first and last rows than
    by its difference from their keys. If no key is missing in between, one row is possible.
    """
    count = len(keys)
    if count == 0 or key < keys[0] or key > keys[-1]:
        return count, count
    steps_before = np.uint64(key) - np.uint64(keys[0])
    steps_after = np.uint64(keys[-1]) - np.uint64(key)
    high = int(steps_before) + 1 if steps_before < np.uint64(count) else count
    low = count - 1 - int(steps_after) if steps_after < np.uint64(count) else 0
    return low, high
