"""Compiled loops over the common columns of the page states."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import FloatArray

VISIT_DECAY = 0.9
MAX_STREAK = 255

_DECAY = np.float32(VISIT_DECAY)


@njit(cache=True, nogil=True)
def add_visits(
    visits: tuple[NDArray[Any], ...],
    look_columns: tuple[NDArray[Any], ...],
    failure_columns: tuple[NDArray[Any], ...],
    delays: tuple[float, float, float],
) -> FloatArray:
    """Update the columns visit by visit; return the days since the previous look for every look.

    The days are NaN if there was no previous look, and for visits that are not looks.
    """
    rows, times, looks, measured, changed = visits
    last_look, measured_looks, changes = look_columns
    recent_looks, recent_failures, failure_streak, not_before, pending = failure_columns
    gap_days = np.full(len(rows), np.nan)
    for visit in range(len(rows)):
        row, time = rows[visit], times[visit]
        pending[row] = False
        recent_looks[row] *= _DECAY
        recent_failures[row] *= _DECAY
        if not looks[visit]:
            recent_failures[row] += np.float32(1)
            failure_streak[row] = min(failure_streak[row] + 1, MAX_STREAK)
            not_before[row] = time + backoff_seconds(failure_streak[row], delays)
            continue
        recent_looks[row] += np.float32(1)
        failure_streak[row] = 0
        not_before[row] = time + delays[0] if delays[0] > 0.0 else -np.inf
        if not np.isnan(last_look[row]):
            gap_days[visit] = max(0.0, time - last_look[row]) / DAY_SECONDS
            measured_looks[row] += measured[visit]
            changes[row] += measured[visit] and changed[visit]
        last_look[row] = time
    return gap_days


@njit(cache=True)
def backoff_seconds(streak: int, delays: tuple[float, float, float]) -> float:
    """Return the delay before the next visit after that many failures in a row."""
    shortest, first, longest = delays
    return max(shortest, min(longest, first * 2.0 ** (streak - 1)))


@njit(cache=True, nogil=True)
def days_since(last_look: FloatArray, rows: NDArray[Any], now: float, never: float) -> FloatArray:
    """Return the days since each row's last look, at least 0, or ``never`` if it had none."""
    days = np.empty(len(rows))
    for index in range(len(rows)):
        look_time = last_look[rows[index]]
        days[index] = never if np.isnan(look_time) else max(0.0, now - look_time) / DAY_SECONDS
    return days


@njit(cache=True, nogil=True)
def free_rows(
    candidates: NDArray[Any] | None,
    columns: tuple[FloatArray, FloatArray, NDArray[np.bool_]],
    now: float,
) -> NDArray[np.intp]:
    """Return the rows, or the candidates among them, that are not pending and need not wait.

    ``columns`` are the time before which a page is not visited, the time of the last look, and
    whether a visit is pending. A look after now shows that the clock was set back; such pages need
    not wait.
    """
    not_before, last_look, pending = columns
    size = len(pending) if candidates is None else len(candidates)
    rows, count = np.empty(size, np.intp), 0
    for index in range(size):
        row = index if candidates is None else candidates[index]
        if not pending[row] and (not_before[row] <= now or last_look[row] > now):
            rows[count] = row
            count += 1
    return rows[:count].copy() if 2 * count < size else rows[:count]
