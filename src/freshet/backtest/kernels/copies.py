"""The compiled loops of simulated crawls, in cycles and in continuous time."""

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
    """Let pages change whose bit is set; return how many did and how many copies that made stale.

    ``missed`` are, page by page, the cycle of the first change that its copy misses, how many
    changes it misses, and the sum of their cycles.
    """
    since, counts, sums = missed
    changes = more = 0
    for place in range(len(bits)):
        byte = bits[place]
        if not byte:
            continue
        for page in range(8 * place, min(8 * place + 8, len(stale))):
            if not byte & (HIGHEST_BIT >> (page & 7)):
                continue
            if not stale[page]:
                stale[page] = True
                since[page] = number
                more += 1
            changes += 1
            counts[page] += 1
            sums[page] += number
    return changes, more


@njit(cache=True, nogil=True)
def sum_stale_copies(
    stale: BoolArray, since: NDArray[Any], weights: FloatArray
) -> tuple[int, int, float]:
    """Return over the stale copies: how many, the sum of their cycles and that of weights."""
    count, cycles, weight = 0, 0, 0.0
    for page in range(len(stale)):
        if stale[page]:
            count += 1
            cycles += since[page]
            weight += weights[page]
    return count, cycles, weight


@njit(cache=True, nogil=True)
def find_next_changes(
    times: FloatArray, starts: NDArray[Any], places: NDArray[Any], moment: float
) -> tuple[NDArray[Any], FloatArray]:
    """Return each page's first time after a moment: where it stands, and infinity for none."""
    found, when = np.empty(len(places), np.int64), np.full(len(places), np.inf)
    for number in range(len(places)):
        low, end = starts[places[number]], starts[places[number] + 1]
        high = end
        while low < high:
            middle = (low + high) // 2
            if times[middle] > moment:
                high = middle
            else:
                low = middle + 1
        found[number] = low
        if low < end:
            when[number] = times[low]
    return found, when
