"""Compiled sums of amounts over intervals, in bins of equal length.

An interval adds its amount to every bin in proportion to the part of the bin that it covers. The
time of an interval does not depend on its length: ``steps`` are differences between bins, one more
than there are bins, and ``corrections`` are for the bins that an interval covers in part.
"""

import math

import numpy as np
from numba import njit

from freshet.core.types import FloatArray


@njit(cache=True)
def add_interval(
    steps: FloatArray, corrections: FloatArray, interval: tuple[float, float], amount: float
) -> None:
    """Add an amount per bin over an interval, given in bins; parts outside all bins are ignored."""
    begin, end = max(interval[0], 0.0), min(interval[1], float(len(corrections)))
    if end <= begin:
        return
    first, last = int(begin), math.ceil(end) - 1
    steps[first] += amount
    steps[last + 1] -= amount
    corrections[first] -= amount * (begin - first)
    corrections[last] -= amount * (last + 1 - end)


@njit(cache=True)
def bin_totals(steps: FloatArray, corrections: FloatArray) -> FloatArray:
    """Return the amount of every bin, at least 0."""
    totals, level = np.empty(len(corrections)), 0.0
    for index in range(len(corrections)):
        level += steps[index]
        totals[index] = max(0.0, level + corrections[index])
    return totals
