"""Compiled loops for the chance that a page has changed and the value of a look at it.

They run over millions of pages, so that the loops over the cells of the grid have a form that
compilers vectorise: no calls that cannot be inlined, no branches, polynomials written out.
"""

import math

import numpy as np
from numba import njit

from freshet.core.types import Float32Array, FloatArray
from freshet.schedule.cadence import CELL_COUNT, POISSON_CELLS
from freshet.schedule.kernels.change_processes import (
    ERLANG_SHAPE,
    REGULAR_LIFETIME,
    fast_exp,
    regular_survival,
)
from freshet.schedule.kernels.posterior import Exposure, PriorRows, RowNumbers, retained

SERIES_LIMIT = 1e-3
# How much of what waiting would add counts against a visit now; 1 is best if rates never change.
WAITING_WEIGHT = 0.7

LOWEST_SMALL_EXPONENT, HALF = np.float32(-87.0), np.float32(0.5)
LOG_OF_TWO, LOG2_E = np.float32(math.log(2.0)), np.float32(1.0 / math.log(2.0))
EXPONENT_BITS, EXPONENT_BIAS = np.int32(23), np.int32(127)
ONE = np.float32(1.0)
COEFFICIENTS = tuple(np.float32(1 / math.factorial(power)) for power in range(8))


@njit(cache=True, fastmath=True)
def small_exp(x: np.float32) -> np.float32:
    """Return e to the power of x ≤ 0 in single precision, in a form that compilers vectorise."""
    x = max(x, LOWEST_SMALL_EXPONENT)
    power = np.int32(x * LOG2_E - HALF)
    remainder = x - np.float32(power) * LOG_OF_TWO
    series = COEFFICIENTS[7] * remainder + COEFFICIENTS[6]
    series = series * remainder + COEFFICIENTS[5]
    series = series * remainder + COEFFICIENTS[4]
    series = series * remainder + COEFFICIENTS[3]
    series = series * remainder + COEFFICIENTS[2]
    series = series * remainder + ONE
    series = series * remainder + ONE
    return series * np.int32((power + EXPONENT_BIAS) << EXPONENT_BITS).view(np.float32)


@njit(cache=True, nogil=True, fastmath=True)
def change_chances_and_values(
    likelihood: Float32Array,
    rows: RowNumbers,
    exposure: Exposure,
    prior: PriorRows,
    rates: FloatArray,
    options: tuple[float, bool, float],
) -> tuple[FloatArray, FloatArray]:
    """Return each page's chance of having changed, and the value of a look.

    ``exposure`` has the age in days, the hazard of shared events since the last look, and their
    mean rate. ``options`` are the logarithm of the daily retention, whether the objective is
    freshness, and the least days between two looks (0 in continuous time).
    """
    (ages, hazards, event_rates), (table, prior_rows) = exposure, prior
    log_retention, for_freshness, step = options
    chances, values = np.empty(len(rows)), np.empty(len(rows))
    weights, lifetimes, event_rate = np.empty(CELL_COUNT), np.empty(CELL_COUNT), -1.0
    for index in range(len(rows)):
        log_likelihood, prior_weights = likelihood[rows[index]], table[prior_rows[index]]
        retention, total = np.float32(retained(log_retention, ages[index])), 0.0
        for cell in range(CELL_COUNT):
            weights[cell] = prior_weights[cell] * small_exp(retention * log_likelihood[cell])
        for cell in range(CELL_COUNT):
            total += weights[cell]
        if for_freshness:
            if event_rates[index] != event_rate:
                event_rate = event_rates[index]
                lifetimes[:] = 1.0 / (rates + event_rate)
            unchanged, value = fresh_days(weights, rates, lifetimes, ages[index], hazards[index])
        else:
            survival, growth = survival_and_growth(weights, rates, ages[index])
            if step > 0.0:
                later = later_survival(weights, rates, ages[index] + step)
                growth = ages[index] / step * (survival - later)
            no_event = fast_exp(-hazards[index])
            unchanged = survival * no_event
            value = total - (survival + WAITING_WEIGHT * growth) * no_event
        chances[index] = max(0.0, 1.0 - unchanged / total)
        values[index] = max(0.0, value / total)
    return chances, values


@njit(cache=True, nogil=True)
def weigh_values(
    rows: RowNumbers,
    chances: FloatArray,
    values: FloatArray,
    visits: tuple[Float32Array, Float32Array, Float32Array],
    last_look: FloatArray,
) -> None:
    """Multiply values by the importance of each page and the chance that a visit is a look.

    ``visits`` has the columns of importance, recent looks and recent failures. A page without a
    look gets the chance NaN and the value infinity.
    """
    importance, recent_looks, recent_failures = visits
    for index in range(len(rows)):
        row = rows[index]
        if np.isnan(last_look[row]):
            chances[index], values[index] = np.nan, np.inf
        else:
            looks = float(recent_looks[row])
            look_chance = (looks + 1.0) / (looks + recent_failures[row] + 1.0)
            values[index] *= importance[row] * look_chance


@njit(cache=True, fastmath=True)
def fresh_days(
    weights: FloatArray, rates: FloatArray, lifetimes: FloatArray, age: float, hazard: float
) -> tuple[float, float]:
    """Return the weighted survival, and the weighted fresh days that a look gains over a later one.

    Where few changes are expected, the gain is a difference of almost equal numbers, so its series
    is used. ``lifetimes`` are the mean days to the next change of each cell, own or shared.
    """
    survival, gain, no_event = 0.0, 0.0, fast_exp(-hazard)
    for cell in range(POISSON_CELLS):
        changes = rates[cell] * age + hazard
        unchanged = fast_exp(-changes)
        series = changes * changes * (0.5 - changes * (1 / 3 - changes / 8))
        difference = 1.0 - (1.0 + changes) * unchanged
        lifetimes_gained = series if changes < SERIES_LIMIT else difference
        survival += weights[cell] * unchanged
        gain += weights[cell] * lifetimes[cell] * lifetimes_gained
    regular = 0.0
    for cell in range(POISSON_CELLS, CELL_COUNT):
        changes = rates[cell] * age
        x = ERLANG_SHAPE * changes
        decay = fast_exp(-x)
        # Polynomials of the survival of a regular page and of its integral.
        unchanged = decay * (1 + x * (5 / 6 + x * (1 / 3 + x * (1 / 12 + x * (1 / 72 + x / 720)))))
        later_gaps = 21 + x * (15 + x * (5 + x * (1 + x * (1 / 8 + x / 120))))
        integral = (21.0 - decay * later_gaps) / 36.0
        lost = REGULAR_LIFETIME - (integral - changes * unchanged) + hazard * unchanged
        regular += weights[cell] * unchanged
        gain += weights[cell] * lifetimes[cell] * (REGULAR_LIFETIME - no_event * lost)
    return survival + regular * no_event, gain


@njit(cache=True, fastmath=True)
def survival_and_growth(weights: FloatArray, rates: FloatArray, age: float) -> tuple[float, float]:
    """Return the weighted survival without shared events, and its decrease per day times the age.

    Visits at a regular age find most changes if every page is visited when its chance of a change
    less the growth of the chance times the age reaches the same level.
    """
    survival, growth = 0.0, 0.0
    for cell in range(POISSON_CELLS):
        changes = rates[cell] * age
        unchanged = weights[cell] * fast_exp(-changes)
        survival += unchanged
        growth += changes * unchanged
    for cell in range(POISSON_CELLS, CELL_COUNT):
        changes = rates[cell] * age
        x = ERLANG_SHAPE * changes
        decay = weights[cell] * fast_exp(-x)
        survival += decay * (1 + x * (5 / 6 + x * (1 / 3 + x * (1 / 12 + x * (1 / 72 + x / 720)))))
        longer_gap = 1 + x * (1 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x / 120))))
        growth += changes * decay * longer_gap
    return survival, growth


@njit(cache=True, fastmath=True)
def later_survival(weights: FloatArray, rates: FloatArray, age: float) -> float:
    """Return the weighted survival without shared events at a later age."""
    survival = 0.0
    for cell in range(POISSON_CELLS):
        survival += weights[cell] * fast_exp(-rates[cell] * age)
    for cell in range(POISSON_CELLS, CELL_COUNT):
        survival += weights[cell] * regular_survival(rates[cell] * age)
    return survival
