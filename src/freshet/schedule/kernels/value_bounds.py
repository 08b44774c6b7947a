"""Compiled loops for upper bounds of the values of looks at many pages of one host.

What a look gains in a cell of the grid depends on the page's age alone, because the pages of a host
share its events and hours. So the gains are computed once for a number of ages, and each page needs
only its posterior. Most pages of a host with an event are known to be no candidates in this way.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import Float32Array, FloatArray
from freshet.schedule.cadence import CELL_COUNT, POISSON_CELLS
from freshet.schedule.kernels.change_processes import (
    ERLANG_SHAPE,
    REGULAR_LIFETIME,
    fast_exp,
    regular_survival,
)
from freshet.schedule.kernels.due_pages import ALWAYS_DUE, DueTimes, due_time
from freshet.schedule.kernels.posterior import RowNumbers
from freshet.schedule.kernels.visit_values import SERIES_LIMIT, WAITING_WEIGHT, small_exp

# Ages in days are divided into classes by the leading bits of a number in single precision.
CLASSES_PER_OCTAVE, LOWEST_EXPONENT, HIGHEST_EXPONENT = 32, -6, 9
MANTISSA_BITS, EXPONENT_BIAS = 23, 127
CLASS_SHIFT = MANTISSA_BITS - 5
FIRST_CLASS = (EXPONENT_BIAS + LOWEST_EXPONENT) << 5
CLASS_COUNT = (HIGHEST_EXPONENT - LOWEST_EXPONENT) * CLASSES_PER_OCTAVE + 1
# The margin for rounding errors, as a share of the bound and of the highest value of the host.
RELATIVE_MARGIN, ABSOLUTE_MARGIN = 1.0004, 1e-6
# The cells are read in two parts of a length that fills the registers of processors. Cells of the
# second part that are in the first one have the weight 0.
PART = 16
SECOND_START = CELL_COUNT - PART
PageColumns = tuple[Float32Array, Float32Array, Float32Array, Float32Array, Float32Array]
LEAST_BOUND, MINUTE_IN_DAYS = 1e-30, 1 / 1440
LEVEL_STEPS = 1024
WAITING, UNSEEN = -1.0, -2.0
ONE, ZERO, HALF = np.float32(1.0), np.float32(0.0), np.float32(0.5)
LOG2_E, LEAST_EXPONENT = np.float32(1.0 / math.log(2.0)), np.float32(-120.0)
# The powers of two between -0.5 and 0.5 as a polynomial.
CUBIC_0, CUBIC_1 = np.float32(0.99992807), np.float32(0.69326099)
CUBIC_2, CUBIC_3 = np.float32(0.24261112), np.float32(0.05517166)


def class_ages() -> FloatArray:
    """Return the highest age of every class in days; older pages are in one more class."""
    octaves = np.exp2(np.arange(LOWEST_EXPONENT, HIGHEST_EXPONENT, dtype=np.float64))
    steps = 1.0 + np.arange(1, CLASSES_PER_OCTAVE + 1) / CLASSES_PER_OCTAVE
    return (octaves[:, np.newaxis] * steps).ravel()


@njit(cache=True, nogil=True)
def gain_table(
    exposure: tuple[FloatArray, FloatArray],
    rates: FloatArray,
    event_rate: float,
    for_freshness: bool,
) -> Float32Array:
    """Return what a look gains in every cell, a row per class of ages, at most.

    ``exposure`` has the age by the host's hours and the hazard of shared events at the highest age
    of each class. A gain that is lower than that of a younger page is raised to it.
    """
    ages, hazards = exposure
    table = np.zeros((len(ages), CELL_COUNT), np.float32)
    for cell in range(CELL_COUNT):
        lifetime, highest = 1.0 / (rates[cell] + event_rate), 0.0
        for row in range(len(ages)):
            if for_freshness:
                gain = lifetime * lifetimes_gained(cell, rates[cell] * ages[row], hazards[row])
            else:
                gain = chance_gained(cell, rates[cell] * ages[row], hazards[row])
            highest = max(highest, gain)
            table[row, cell] = highest
    return table


@njit(cache=True)
def lifetimes_gained(cell: int, changes: float, hazard: float) -> float:
    """Return the fresh time that a look gains in one cell, in mean times to the next change."""
    if not changes < np.inf:
        return 1.0 if cell < POISSON_CELLS else REGULAR_LIFETIME
    if cell < POISSON_CELLS:
        changes += hazard
        if changes < SERIES_LIMIT:
            return changes * changes / 2.0
        return 1.0 - (1.0 + changes) * fast_exp(-changes)
    x, survival = ERLANG_SHAPE * changes, regular_survival(changes)
    later_gaps = 21 + x * (15 + x * (5 + x * (1 + x * (1 / 8 + x / 120))))
    integral = (21.0 - fast_exp(-x) * later_gaps) / 36.0
    lost = REGULAR_LIFETIME - (integral - changes * survival) + hazard * survival
    return REGULAR_LIFETIME - fast_exp(-hazard) * lost


@njit(cache=True)
def chance_gained(cell: int, changes: float, hazard: float) -> float:
    """Return the chance of a change in one cell less what waiting would add."""
    if not changes < np.inf:
        return 1.0
    if cell < POISSON_CELLS:
        unchanged = fast_exp(-changes) * (1.0 + WAITING_WEIGHT * changes)
    else:
        x = ERLANG_SHAPE * changes
        longer_gap = 1 + x * (1 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x / 120))))
        longer_gap *= fast_exp(-x)
        unchanged = regular_survival(changes) + WAITING_WEIGHT * changes * longer_gap
    return 1.0 - unchanged * fast_exp(-hazard)


@njit(cache=True, fastmath=True, inline="always")
def rough_exp(x: np.float32) -> np.float32:
    """Return e to the power of x ≤ 0 with a relative error below 1.1e-4.

    The power of two is added to the exponent bits of a polynomial for the remainder.
    """
    exponent = max(x * LOG2_E, LEAST_EXPONENT)
    power = np.int32(exponent - HALF)
    remainder = exponent - np.float32(power)
    series = CUBIC_3 * remainder + CUBIC_2
    series = series * remainder + CUBIC_1
    series = series * remainder + CUBIC_0
    return np.int32(np.float32(series).view(np.int32) + (power << MANTISSA_BITS)).view(np.float32)


@njit(cache=True, inline="always")
def age_class(age: np.float32) -> int:
    """Return the class of an age in days."""
    number = (age.view(np.int32) >> CLASS_SHIFT) - FIRST_CLASS
    return min(max(int(number), 0), CLASS_COUNT - 1)


@njit(cache=True, fastmath=False)
def age_of_page(last_look: float, not_before: float, pending: bool, now: float) -> float:
    """Return the days since the last look, UNSEEN without one, or WAITING for a page that waits.

    Fast arithmetic, which a caller would pass on, cannot tell whether a time is missing.
    """
    if pending or not (not_before <= now or last_look > now):
        return WAITING
    return UNSEEN if np.isnan(last_look) else max(0.0, now - last_look) / DAY_SECONDS


@njit(cache=True, nogil=True, fastmath=True)
def value_bounds(
    pages: PageColumns,
    visits: tuple[FloatArray, FloatArray, NDArray[np.bool_]],
    rows: tuple[RowNumbers, FloatArray],
    model: tuple[FloatArray, Float32Array, float, float],
    results: tuple[Float32Array, FloatArray],
) -> None:
    """Set an upper bound of each page's value of a look, and the days since its last look.

    The bound is WAITING for pages that cannot be visited now, and UNSEEN for pages without a look.
    ``pages`` has the columns of likelihood, importance, value factor, recent looks and recent
    failures, ``visits`` those of the last look, the time before which a page is not visited, and
    whether a visit is pending. ``rows`` has the rows, and their ages by the host's hours, none if
    these are the calendar's. ``model`` has the prior of the host, the table of ``gain_table``, the
    logarithm of the daily retention, and the time now.
    """
    likelihood, importance, value_factor, recent_looks, recent_failures = pages
    (last_look, not_before, pending), (page_rows, host_ages) = visits, rows
    (prior, gains, log_retention, now), (bounds, ages) = model, results
    prior_weights, last_weights = np.zeros(PART, np.float32), np.zeros(PART, np.float32)
    prior_weights[:] = prior[:PART]
    last_weights[PART - SECOND_START :] = prior[PART:]
    margin = ABSOLUTE_MARGIN * gains.max()
    for index in range(len(page_rows)):
        row = page_rows[index]
        age = age_of_page(last_look[row], not_before[row], pending[row], now)
        ages[index] = max(0.0, age)
        if age < 0.0:
            bounds[index] = np.float32(age)
            continue
        host_age = host_ages[index] if len(host_ages) else age
        retention = small_exp(np.float32(log_retention) * min(ONE, np.float32(host_age)))
        gain_row = age_class(np.float32(age))
        total, gain = ZERO, ZERO
        for cell in range(PART):
            weight = prior_weights[cell] * rough_exp(retention * likelihood[row, cell])
            total += weight
            gain += weight * gains[gain_row, cell]
        for cell in range(PART):
            logarithm = likelihood[row, SECOND_START + cell]
            weight = last_weights[cell] * rough_exp(retention * logarithm)
            total += weight
            gain += weight * gains[gain_row, SECOND_START + cell]
        looks = float(recent_looks[row])
        look_chance = (looks + 1.0) / (looks + recent_failures[row] + 1.0)
        weight = importance[row] * value_factor[row] * look_chance
        bounds[index] = (RELATIVE_MARGIN * gain / total + margin) * weight


@njit(cache=True, nogil=True)
def finish_bounds(bounds: Float32Array) -> int:
    """Set the bounds of pages without a look to infinity.

    Returns the position of the highest other bound from 0 on, -1 if there is none.
    """
    position, highest = -1, np.float32(-1.0)
    for index in range(len(bounds)):
        if bounds[index] == UNSEEN:
            bounds[index] = np.inf
        elif bounds[index] > highest:
            position, highest = index, bounds[index]
    return position


@njit(cache=True, nogil=True)
def level_reached(bounds: Float32Array, lowest: float, highest: float, count: int) -> float:
    """Return a level that at least a number of bounds reach, and few more, if so many reach one.

    Bounds are counted in steps between a lowest level, which is the result if fewer reach it, and
    the highest finite bound.
    """
    counts = np.zeros(LEVEL_STEPS + 1, np.int64)
    width = (highest - lowest) / LEVEL_STEPS
    if not width > 0.0:
        return lowest
    for index in range(len(bounds)):
        if bounds[index] >= lowest:
            step = (min(float(bounds[index]), highest) - lowest) / width
            counts[min(int(step), LEVEL_STEPS)] += 1
    reached = 0
    for step in range(LEVEL_STEPS, 0, -1):
        reached += counts[step]
        if reached >= count:
            return lowest + step * width
    return lowest


@njit(cache=True, nogil=True)
def set_due_times(
    bounds: Float32Array,
    pages: tuple[RowNumbers, FloatArray, DueTimes],
    growth_days: FloatArray,
    options: tuple[float, float, float, float],
    soon_end: int,
) -> NDArray[np.intp]:
    """Set when pages whose bound is below a limit may reach a level; others are due already.

    ``pages`` has rows, ages in days, and the column of due times. ``growth_days`` are the days in
    which the exposure doubles at the highest age of each class. ``options`` are limit and level,
    the time in seconds, and the power of the exposure with which values grow at most. Returns the
    rows whose time was after ``soon_end`` and no longer is.
    """
    rows, ages, due = pages
    limit, level, now, growth_exponent = options
    soon_rows, count = np.empty(len(rows), np.intp), 0
    for index in range(len(bounds)):
        time = ALWAYS_DUE
        if 0.0 <= bounds[index] < limit:
            age_row = age_class(np.float32(ages[index]))
            ratio = level / max(float(bounds[index]), LEAST_BOUND)
            factor = math.sqrt(ratio) if growth_exponent == 2.0 else ratio ** (1 / growth_exponent)
            days = growth_days[age_row - 1] * (factor - 1.0) if age_row > 0 else MINUTE_IN_DAYS
            time = due_time(now + DAY_SECONDS * days)
        row = rows[index]
        if time <= soon_end < due[row]:
            soon_rows[count] = row
            count += 1
        due[row] = time
    return soon_rows[:count].copy()
