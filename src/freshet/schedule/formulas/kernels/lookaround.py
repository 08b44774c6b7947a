"""Compiled loops of the look-around clocks: fitting a clock per group, and effective ages.

A look covers the time since the previous look, given in days from the start of the window. It found
a change or none, on a page with some mean rate.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.schedule.kernels.interval_sums import add_interval, bin_totals

ClockArrays = tuple[FloatArray, Float32Array]
LookArrays = tuple[FloatArray, FloatArray, NDArray[np.bool_], FloatArray]

WINDOW_DAYS = 60
FIT_STEPS = 3
PRIOR_STRENGTH = 0.3
MIN_MULTIPLIER, MAX_MULTIPLIER = 0.001, 50.0


@njit(cache=True, nogil=True)
def group_rows(groups: IndexArray, group_count: int) -> tuple[IndexArray, NDArray[np.int64]]:
    """Return the positions of all entries sorted by group, and the start of every group."""
    starts = np.zeros(group_count + 1, np.int64)
    for group in groups:
        starts[group + 1] += 1
    for group in range(group_count):
        starts[group + 1] += starts[group]
    order, next_position = np.empty(len(groups), np.int32), starts[:-1].copy()
    for position in range(len(groups)):
        order[next_position[groups[position]]] = position
        next_position[groups[position]] += 1
    return order, starts


@njit(cache=True, nogil=True)
def fit_clocks(looks: LookArrays, starts: NDArray[np.int64]) -> Float32Array:
    """Return a clock for every group that has looks: its readings at the boundaries of days.

    The looks are sorted by group, and ``starts`` has the start of every group.
    """
    readings = np.empty((np.count_nonzero(starts[1:] > starts[:-1]), WINDOW_DAYS + 1), np.float32)
    row = 0
    for group in range(len(starts) - 1):
        if starts[group + 1] > starts[group]:
            readings[row] = fit_clock(looks, starts[group], starts[group + 1])
            row += 1
    return readings


@njit(cache=True)
def fit_clock(looks: LookArrays, start: int, stop: int) -> FloatArray:
    """Return the readings of one group's clock, fitted to its looks."""
    begins, ends, _, rates = looks
    readings = np.arange(WINDOW_DAYS + 1.0)
    steps, corrections = np.zeros(WINDOW_DAYS + 1), np.zeros(WINDOW_DAYS)
    for look in range(start, stop):
        add_interval(steps, corrections, (begins[look], ends[look]), rates[look])
    exposure = bin_totals(steps, corrections)
    for _ in range(FIT_STEPS):
        update_clock(readings, expected_events(looks, (start, stop), readings), exposure)
    return readings


@njit(cache=True)
def expected_events(looks: LookArrays, bounds: tuple[int, int], readings: FloatArray) -> FloatArray:
    """Return the expected changes of a group's looks on each day, divided by its multiplier."""
    begins, ends, changed, rates = looks
    steps, corrections = np.zeros(WINDOW_DAYS + 1), np.zeros(WINDOW_DAYS)
    for look in range(bounds[0], bounds[1]):
        if changed[look] and ends[look] > begins[look]:
            elapsed = clock_reading(readings, ends[look]) - clock_reading(readings, begins[look])
            events = rates[look] / -math.expm1(-rates[look] * elapsed)
            add_interval(steps, corrections, (begins[look], ends[look]), events)
    return bin_totals(steps, corrections)


@njit(cache=True)
def update_clock(readings: FloatArray, events: FloatArray, exposure: FloatArray) -> None:
    """Update the readings from the events and the exposure under the current multipliers."""
    reading_before = 0.0
    for day in range(WINDOW_DAYS):
        multiplier_before, reading_before = readings[day + 1] - reading_before, readings[day + 1]
        multiplier = (PRIOR_STRENGTH + multiplier_before * events[day]) / (
            PRIOR_STRENGTH + exposure[day]
        )
        readings[day + 1] = readings[day] + min(max(multiplier, MIN_MULTIPLIER), MAX_MULTIPLIER)


@njit(cache=True)
def clock_reading(readings: FloatArray | Float32Array, time: float) -> float:
    """Return the clock's reading at a day of the window; outside of it the clock runs normally."""
    if time <= 0.0:
        return time
    day = min(int(time), WINDOW_DAYS)
    multiplier = readings[day + 1] - readings[day] if day < WINDOW_DAYS else 1.0
    return float(readings[day] + (time - day) * multiplier)


@njit(cache=True, nogil=True)
def effective_ages(
    ages: FloatArray, clock_rows: IndexArray, now: float, clocks: ClockArrays
) -> FloatArray:
    """Return ages in days by each page's clock; pages without a clock keep their ages.

    ``now`` is in days; ``clocks`` has the first day of every clock's window and its readings.
    """
    starts, clock_readings = clocks
    effective = ages.copy()
    for index in range(len(ages)):
        clock = clock_rows[index]
        if clock >= 0:
            end = now - starts[clock]
            readings = clock_readings[clock]
            effective[index] = max(
                0.0, clock_reading(readings, end) - clock_reading(readings, end - ages[index])
            )
    return effective
