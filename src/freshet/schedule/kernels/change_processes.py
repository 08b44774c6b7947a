"""Survival of pages that change at random or regularly, for a number of expected changes.

A regular page changes after gaps of an Erlang distribution, and is first looked at in the middle of
a gap. Its survival is that of the time to the next change.
"""

import math

import numpy as np
from numba import njit

from freshet.schedule.cadence import POISSON_CELLS

ERLANG_SHAPE = 6
# The mean time from a look to the next change of a regular page, in mean gaps.
REGULAR_LIFETIME = (1.0 + 1.0 / ERLANG_SHAPE) / 2.0

LOWEST_EXPONENT = -700.0
LOG_OF_TWO = math.log(2.0)
LOG2_E = 1.0 / LOG_OF_TWO
EXPONENT_BITS, EXPONENT_BIAS = 52, 1023
MANTISSA_MASK = (1 << EXPONENT_BITS) - 1
SQRT_HALF_BITS = int(np.float64(math.sqrt(0.5)).view(np.int64))
COEFFICIENTS = tuple(1 / math.factorial(power) for power in range(11))


@njit(cache=True, fastmath=True)
def fast_exp(x: float) -> float:
    """Return e to the power of x ≤ 0 with an error below 3e-13, in a form that compilers vectorise.

    The argument is split into a power of two and a remainder, for which a polynomial is used.
    """
    x = max(x, LOWEST_EXPONENT)
    power = np.int64(x * LOG2_E - 0.5)
    remainder = x - power * LOG_OF_TWO
    series = COEFFICIENTS[10]
    series = series * remainder + COEFFICIENTS[9]
    series = series * remainder + COEFFICIENTS[8]
    series = series * remainder + COEFFICIENTS[7]
    series = series * remainder + COEFFICIENTS[6]
    series = series * remainder + COEFFICIENTS[5]
    series = series * remainder + COEFFICIENTS[4]
    series = series * remainder + COEFFICIENTS[3]
    series = series * remainder + COEFFICIENTS[2]
    series = series * remainder + COEFFICIENTS[1]
    series = series * remainder + COEFFICIENTS[0]
    return series * np.int64((power + EXPONENT_BIAS) << EXPONENT_BITS).view(np.float64)


@njit(cache=True)
def fast_log(x: float) -> float:
    """Return the logarithm of a normal number > 0 with an error below 1e-10, vectorisable.

    The number is split into a power of two and a factor near 1, for which a series is used.
    """
    bits = np.float64(x).view(np.int64) - SQRT_HALF_BITS
    power = bits >> EXPONENT_BITS
    factor = np.int64((bits & MANTISSA_MASK) + SQRT_HALF_BITS).view(np.float64)
    ratio = (factor - 1.0) / (factor + 1.0)
    square = ratio * ratio
    series = 1 / 11 + square / 13
    series = 1 / 9 + square * series
    series = 1 / 7 + square * series
    series = 1 / 5 + square * series
    series = 1 / 3 + square * series
    return power * LOG_OF_TWO + 2.0 * ratio * (1.0 + square * series)


@njit(cache=True, fastmath=True)
def regular_survival(changes: float) -> float:
    """Return the survival of a regular page after a number of expected changes."""
    phases = ERLANG_SHAPE * changes
    term, survival = fast_exp(-phases), 0.0
    for phase in range(ERLANG_SHAPE):
        survival += (ERLANG_SHAPE - phase) * term
        term *= phases / (phase + 1)
    return survival / ERLANG_SHAPE


@njit(cache=True, fastmath=True)
def cell_survival(cell: int, changes: float) -> float:
    """Return the chance of no change in a cell of the grid after a number of expected changes."""
    return fast_exp(-changes) if cell < POISSON_CELLS else regular_survival(changes)
