"""The compiled loops of the look-around clock: the pace of every group, and stretched ages.

A look covers the time from the one before to its own, both as places in the window of cells; it
found a change or none, on a page of some usual rate.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import Floats, Indices
from freshet.schedule.columns import Small

Clocks = tuple[Floats, Small]
Covered = tuple[Floats, Floats, NDArray[np.bool_], Floats]

CELLS = 60
STEPS = 3
FIRM = 0.3
SLOWEST, FASTEST = 0.001, 50.0


@njit(cache=True, nogil=True)
def in_groups(groups: Indices, count: int) -> tuple[Indices, NDArray[np.int64]]:
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
def paces(looks: Covered, starts: NDArray[np.int64]) -> Small:
    """Return for every group with looks the sums of its multipliers up to each cell.

    The looks come group by group, those of each from its start to that of the next.
    """
    sums = np.empty((np.count_nonzero(starts[1:] > starts[:-1]), CELLS + 1), np.float32)
    row = 0
    for group in range(len(starts) - 1):
        if starts[group + 1] > starts[group]:
            sums[row] = fitted(looks, starts[group], starts[group + 1])
            row += 1
    return sums


@njit(cache=True)
def fitted(looks: Covered, start: int, stop: int) -> Floats:
    """Return one group's sums of multipliers, fitted to its looks."""
    begins, ends, _, rates = looks
    pace, steps, parts = np.arange(CELLS + 1.0), np.zeros(CELLS + 1), np.zeros(CELLS)
    for look in range(start, stop):
        spread(steps, parts, (begins[look], ends[look]), rates[look])
    exposure = added_up(steps, parts)
    for _ in range(STEPS):
        advance(pace, expected_events(looks, (start, stop), pace), exposure)
    return pace


@njit(cache=True)
def expected_events(looks: Covered, mine: tuple[int, int], pace: Floats) -> Floats:
    """Return the changes that a group's looks put on each cell, per unit of its multiplier."""
    begins, ends, changed, rates = looks
    steps, parts = np.zeros(CELLS + 1), np.zeros(CELLS)
    for look in range(mine[0], mine[1]):
        if changed[look] and ends[look] > begins[look]:
            stretched = reach(pace, ends[look]) - reach(pace, begins[look])
            found = rates[look] / -math.expm1(-rates[look] * stretched)
            spread(steps, parts, (begins[look], ends[look]), found)
    return added_up(steps, parts)


@njit(cache=True)
def spread(steps: Floats, parts: Floats, covered: tuple[float, float], amount: float) -> None:
    """Add an amount to every cell as far as it is covered.

    Whole cells go into ``steps``, which are still to be added up, and what the first and the last
    cell are covered short of that into ``parts``.
    """
    begin, end = max(covered[0], 0.0), min(covered[1], float(CELLS))
    if end <= begin:
        return
    first, last = int(begin), math.ceil(end) - 1
    steps[first] += amount
    steps[last + 1] -= amount
    parts[first] -= amount * (begin - first)
    parts[last] -= amount * (last + 1 - end)


@njit(cache=True)
def added_up(steps: Floats, parts: Floats) -> Floats:
    """Return what each cell holds, never less than nothing."""
    cells, level = np.empty(CELLS), 0.0
    for cell in range(CELLS):
        level += steps[cell]
        cells[cell] = max(0.0, level + parts[cell])
    return cells


@njit(cache=True)
def advance(pace: Floats, events: Floats, exposure: Floats) -> None:
    """Set the sums of the multipliers from what each cell held at the multipliers before."""
    reached = 0.0
    for cell in range(CELLS):
        before, reached = pace[cell + 1] - reached, pace[cell + 1]
        multiplier = (FIRM + before * events[cell]) / (FIRM + exposure[cell])
        pace[cell + 1] = pace[cell] + min(max(multiplier, SLOWEST), FASTEST)


@njit(cache=True)
def reach(pace: Floats | Small, place: float) -> float:
    """Return the stretched place of a place in the window; outside of it the pace is 1."""
    if place <= 0.0:
        return place
    cell = min(int(place), CELLS)
    multiplier = pace[cell + 1] - pace[cell] if cell < CELLS else 1.0
    return float(pace[cell] + (place - cell) * multiplier)


@njit(cache=True, nogil=True)
def stretched_ages(ages: Floats, which: Indices, now: float, clocks: Clocks) -> Floats:
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
            stretched[place] = max(0.0, reach(pace, end) - reach(pace, end - ages[place]))
    return stretched
