"""Compiled loops over the copies of a simulated crawl, in cycles and in continuous time."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.tables import BoolArray
from freshet.core.types import FlagArray, FloatArray

HIGHEST_BIT = 128


@njit(cache=True, nogil=True)
def apply_changes(
    bits: FlagArray, number: int, stale: BoolArray, missed: tuple[NDArray[Any], ...]
) -> tuple[int, int]:
    """Apply the changes of a cycle; return the number of changes and of copies that became stale.

    ``missed`` holds three arrays with an entry per page: the cycle of the first change that the
    copy misses, the number of changes it misses, and the sum of their cycles.
    """
    since, counts, sums = missed
    changes = new_stale = 0
    for byte_index in range(len(bits)):
        byte = bits[byte_index]
        if not byte:
            continue
        for page in range(8 * byte_index, min(8 * byte_index + 8, len(stale))):
            if not byte & (HIGHEST_BIT >> (page & 7)):
                continue
            if not stale[page]:
                stale[page] = True
                since[page] = number
                new_stale += 1
            changes += 1
            counts[page] += 1
            sums[page] += number
    return changes, new_stale


@njit(cache=True, nogil=True)
def sum_stale_copies(
    stale: BoolArray, since: NDArray[Any], weights: FloatArray
) -> tuple[int, int, float]:
    """Return the number of stale copies and the sums of their ``stale_since`` and weights."""
    count, cycles, weight = 0, 0, 0.0
    for page in range(len(stale)):
        if stale[page]:
            count += 1
            cycles += since[page]
            weight += weights[page]
    return count, cycles, weight


@njit(cache=True, nogil=True)
def find_next_changes(
    times: FloatArray, starts: NDArray[Any], page_indices: NDArray[Any], moment: float
) -> tuple[NDArray[Any], FloatArray]:
    """Return the index and time of each page's first change after a moment; infinity if none."""
    time_indices, change_times = (
        np.empty(len(page_indices), np.int64),
        np.full(len(page_indices), np.inf),
    )
    for row in range(len(page_indices)):
        low, end = starts[page_indices[row]], starts[page_indices[row] + 1]
        high = end
        while low < high:
            middle = (low + high) // 2
            if times[middle] > moment:
                high = middle
            else:
                low = middle + 1
        time_indices[row] = low
        if low < end:
            change_times[row] = times[low]
    return time_indices, change_times
