"""Compiled loops over the best page of every host."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.schedule.kernels.posterior import RowNumbers


@njit(cache=True, nogil=True)
def keep_best_rows(
    rows: RowNumbers,
    values: FloatArray,
    host_of_row: IndexArray,
    table_of_host: IndexArray,
    best: tuple[IndexArray, FloatArray, Float32Array],
) -> bool:
    """Update the row of the highest finite value of every host with a table of shared events.

    Of rows with equal values it is the first one, in whatever order they come. The bounds of a host
    whose best page is another one or is scored again are set to infinity.
    Returns whether a host that had no best page has one now.
    """
    best_rows, best_values, bounds = best
    has_new_host = False
    for index in range(len(rows)):
        host = host_of_row[rows[index]]
        if table_of_host[host] < 0 or not values[index] < np.inf:
            continue
        row, best_row, value = rows[index], best_rows[host], values[index]
        if best_values[host] < value or (best_values[host] == value and row < best_row):
            has_new_host |= best_row < 0
            best_rows[host], best_values[host] = row, value
        if best_rows[host] == row:
            bounds[host] = np.inf
    return has_new_host


@njit(cache=True, nogil=True)
def rows_within_bounds(
    best: tuple[IndexArray, IndexArray, Float32Array],
    gains: tuple[float, float],
    levels: tuple[float, float],
) -> NDArray[np.intp]:
    """Return the best rows of the hosts that may reach a level.

    ``best`` has the hosts that may have a best row, and for all hosts the best row, if any, and its
    bounds: the pages that gain times the chance of an event, the page's importance, and its own
    value. ``gains`` are what a page gains from an event: a constant, and a multiple of its
    importance. ``levels`` are the level and a second bound of the own values of all pages.
    """
    (hosts, best_rows, bounds), (level, highest_value) = best, levels
    rows, count = np.empty(len(hosts), np.intp), 0
    for host in hosts:
        gain = max(0.0, gains[0] + gains[1] * bounds[host, 1]) if gains[1] > 0.0 else gains[0]
        least = level - min(highest_value, bounds[host, 2])
        if best_rows[host] >= 0 and not bounds[host, 0] * gain < least:
            rows[count] = best_rows[host]
            count += 1
    return rows[:count].copy()
