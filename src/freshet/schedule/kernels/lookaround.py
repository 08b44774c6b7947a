"""The compiled loops of the look-around clock: the pace of every group, and stretched ages.

A look covers the time from the one before to its own, both as places in the window of cells; it
found a change or none, on a page of some usual rate.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import SmallFloatArray

ClockArrays = tuple[FloatArray, SmallFloatArray]
LookArrays = tuple[FloatArray, FloatArray, NDArray[np.bool_], FloatArray]

WINDOW_DAYS = 60
FIT_STEPS = 3
PRIOR_STRENGTH = 0.3
MIN_MULTIPLIER, MAX_MULTIPLIER = 0.001, 50.0


@njit(cache=True, nogil=True)
def group_rows(groups: IndexArray, count: int) -> tuple[IndexArray, NDArray[np.int64]]:
    """Return the places of all entries, group by group, and where each group's begin and end."""
    starts = np.zeros(count + 1, np.int64)
    for group in groups:
        starts[group + 1] += 1
    for group in range(count):
        starts[group + 1] += starts[group]
    order, free = np.empty(len(groups), np.int32), starts[:-1].copy()
    for place in range(len(groups)):
        order[free[groups[place]]] = place
        free[groups[place]] += 1
    return order, starts


@njit(cache=True, nogil=True)
def fit_clocks(looks: LookArrays, starts: NDArray[np.int64]) -> SmallFloatArray:
    """Return for every group with looks the sums of its multipliers up to each cell.

    The looks come group by group, those of each from its start to that of the next.
    """
    sums = np.empty((np.count_nonzero(starts[1:] > starts[:-1]), WINDOW_DAYS + 1), np.float32)
    row = 0
    for group in range(len(starts) - 1):
        if starts[group + 1] > starts[group]:
            sums[row] = fit_clock(looks, starts[group], starts[group + 1])
            row += 1
    return sums


@njit(cache=True)
def fit_clock(looks: LookArrays, start: int, stop: int) -> FloatArray:
    """Return one group's sums of multipliers, fitted to its looks."""
    begins, ends, _, rates = looks
    pace, steps, parts = (
        np.arange(WINDOW_DAYS + 1.0),
        np.zeros(WINDOW_DAYS + 1),
        np.zeros(WINDOW_DAYS),
    )
    for look in range(start, stop):
        add_interval(steps, parts, (begins[look], ends[look]), rates[look])
    exposure = daily_totals(steps, parts)
    for _ in range(FIT_STEPS):
        update_clock(pace, expected_events(looks, (start, stop), pace), exposure)
    return pace


@njit(cache=True)
def expected_events(looks: LookArrays, mine: tuple[int, int], pace: FloatArray) -> FloatArray:
    """Return the changes that a group's looks put on each cell, per unit of its multiplier."""
    begins, ends, changed, rates = looks
    steps, parts = np.zeros(WINDOW_DAYS + 1), np.zeros(WINDOW_DAYS)
    for look in range(mine[0], mine[1]):
        if changed[look] and ends[look] > begins[look]:
            stretched = clock_reading(pace, ends[look]) - clock_reading(pace, begins[look])
            found = rates[look] / -math.expm1(-rates[look] * stretched)
            add_interval(steps, parts, (begins[look], ends[look]), found)
    return daily_totals(steps, parts)


@njit(cache=True)
def add_interval(
    steps: FloatArray, parts: FloatArray, covered: tuple[float, float], amount: float
) -> None:
    """Add an amount to every cell as far as it is covered.

    Whole cells go into ``steps``, which are still to be added up, and what the first and the last
    cell are covered short of that into ``parts``.
    """
    begin, end = max(covered[0], 0.0), min(covered[1], float(WINDOW_DAYS))
    if end <= begin:
        return
    first, last = int(begin), math.ceil(end) - 1
    steps[first] += amount
    steps[last + 1] -= amount
    parts[first] -= amount * (begin - first)
    parts[last] -= amount * (last + 1 - end)


@njit(cache=True)
def daily_totals(steps: FloatArray, parts: FloatArray) -> FloatArray:
    """Return what each cell holds, never less than nothing."""
    cells, level = np.empty(WINDOW_DAYS), 0.0
    for cell in range(WINDOW_DAYS):
        level += steps[cell]
        cells[cell] = max(0.0, level + parts[cell])
    return cells


@njit(cache=True)
def update_clock(pace: FloatArray, events: FloatArray, exposure: FloatArray) -> None:
    """Set the sums of the multipliers from what each cell held at the multipliers before."""
    reached = 0.0
    for cell in range(WINDOW_DAYS):
        before, reached = pace[cell + 1] - reached, pace[cell + 1]
        multiplier = (PRIOR_STRENGTH + before * events[cell]) / (PRIOR_STRENGTH + exposure[cell])
        pace[cell + 1] = pace[cell] + min(max(multiplier, MIN_MULTIPLIER), MAX_MULTIPLIER)


@njit(cache=True)
def clock_reading(pace: FloatArray | SmallFloatArray, place: float) -> float:
    """Return the stretched place of a place in the window; outside of it the pace is 1."""
    if place <= 0.0:
        return place
    cell = min(int(place), WINDOW_DAYS)
    multiplier = pace[cell + 1] - pace[cell] if cell < WINDOW_DAYS else 1.0
    return float(pace[cell] + (place - cell) * multiplier)


@njit(cache=True, nogil=True)
def effective_ages(
    ages: FloatArray, which: IndexArray, now: float, clocks: ClockArrays
) -> FloatArray:
    """Return ages in days of usual pace: those of pages that have a clock as it ran.

    ``now`` is in days, and every clock has its window's first day and its sums.
    """
    starts, sums = clocks
    stretched = ages.copy()
    for place in range(len(ages)):
        clock = which[place]
        if clock >= 0:
            end = now - starts[clock]
            pace = sums[clock]
            stretched[place] = max(
                0.0, clock_reading(pace, end) - clock_reading(pace, end - ages[place])
            )
    return stretched
