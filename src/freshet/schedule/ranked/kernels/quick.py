"""The compiled loops that find pages of one past: what is forecast of one holds for all of them."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.formula.kernels import splitmix64

_U = np.uint64


@njit(cache=True, nogil=True)
def initial_history_keys(sites: IndexArray, hosts: IndexArray) -> HashArray:
    """Return the keys of pages that were never looked at: the same where the prior is."""
    pasts = np.empty(len(sites), np.uint64)
    for row in range(len(sites)):
        pasts[row] = splitmix64(splitmix64(_U(sites[row])) ^ _U(hosts[row]))
    return pasts


@njit(cache=True, nogil=True)
def add_looks(
    pasts: HashArray, rows: IndexArray, gaps: FloatArray, changed: NDArray[np.bool_]
) -> None:
    """Add a look to the pasts of rows."""
    for look in range(len(rows)):
        said = _U(2.0 * gaps[look]) + _U(1 if changed[look] else 0)
        pasts[rows[look]] = splitmix64(pasts[rows[look]] ^ said)


@njit(cache=True, nogil=True)
def number_equal_keys(pasts: HashArray) -> tuple[IndexArray, IndexArray]:
    """Number equal pasts alike; return each row's number, and the first row of each number."""
    size = 16
    while size < 2 * len(pasts):
        size *= 2
    held = np.full(size, -1, np.int32)
    numbers, firsts, count = np.empty(len(pasts), np.int32), np.empty(len(pasts), np.int32), 0
    for row in range(len(pasts)):
        slot = np.int64(pasts[row] & _U(size - 1))
        while held[slot] >= 0 and pasts[firsts[held[slot]]] != pasts[row]:
            slot = (slot + 1) & (size - 1)
        if held[slot] < 0:
            held[slot] = count
            firsts[count] = row
            count += 1
        numbers[row] = held[slot]
    return numbers, firsts[:count]
