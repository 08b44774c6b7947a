"""Compiled loops that find pages with equal histories, and therefore equal forecasts."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.formula.kernels import splitmix64

_U = np.uint64


@njit(cache=True, nogil=True)
def initial_history_keys(sites: IndexArray, hosts: IndexArray) -> HashArray:
    """Return the history keys of pages without looks: equal for pages of the same site and host."""
    keys = np.empty(len(sites), np.uint64)
    for row in range(len(sites)):
        keys[row] = splitmix64(splitmix64(_U(sites[row])) ^ _U(hosts[row]))
    return keys


@njit(cache=True, nogil=True)
def add_looks(
    keys: HashArray, rows: IndexArray, gap_days: FloatArray, changed: NDArray[np.bool_]
) -> None:
    """Update the history keys of rows by a look each."""
    for look in range(len(rows)):
        result = _U(2.0 * gap_days[look]) + _U(1 if changed[look] else 0)
        keys[rows[look]] = splitmix64(keys[rows[look]] ^ result)


@njit(cache=True, nogil=True)
def number_equal_keys(keys: HashArray) -> tuple[IndexArray, IndexArray]:
    """Number the distinct keys; return each row's number, and the first row of each number."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    slots = np.full(size, -1, np.int32)
    numbers, first_rows, count = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32), 0
    for row in range(len(keys)):
        slot = np.int64(keys[row] & _U(size - 1))
        while slots[slot] >= 0 and keys[first_rows[slots[slot]]] != keys[row]:
            slot = (slot + 1) & (size - 1)
        if slots[slot] < 0:
            slots[slot] = count
            first_rows[count] = row
            count += 1
        numbers[row] = slots[slot]
    return numbers, first_rows[:count]
