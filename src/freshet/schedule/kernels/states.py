"""The compiled loop that takes visits into the common columns of the page states."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import FloatArray

VISIT_DECAY = 0.9
LONGEST_STREAK = 255

_FORGETTING = np.float32(VISIT_DECAY)


@njit(cache=True, nogil=True)
def add_visits(
    visits: tuple[NDArray[Any], ...],
    looking: tuple[NDArray[Any], ...],
    failing: tuple[NDArray[Any], ...],
    waits: tuple[float, float, float],
) -> FloatArray:
    """Update the columns visit by visit; return each look's days since the one before.

    The days are NaN where there was none before, and for visits that are no look.
    """
    rows, times, looks, measured, changed = visits
    last, counted, changes = looking
    recent_looks, recent_failures, streak, not_before, pending = failing
    gaps = np.full(len(rows), np.nan)
    for visit in range(len(rows)):
        row, time = rows[visit], times[visit]
        pending[row] = False
        recent_looks[row] *= _FORGETTING
        recent_failures[row] *= _FORGETTING
        if not looks[visit]:
            recent_failures[row] += np.float32(1)
            streak[row] = min(streak[row] + 1, LONGEST_STREAK)
            not_before[row] = time + backoff_seconds(streak[row], waits)
            continue
        recent_looks[row] += np.float32(1)
        streak[row] = 0
        not_before[row] = time + waits[0] if waits[0] > 0.0 else -np.inf
        if not np.isnan(last[row]):
            gaps[visit] = max(0.0, time - last[row]) / DAY_SECONDS
            counted[row] += measured[visit]
            changes[row] += measured[visit] and changed[visit]
        last[row] = time
    return gaps


@njit(cache=True)
def backoff_seconds(streak: int, waits: tuple[float, float, float]) -> float:
    """Return how many seconds a page is left alone after that many failures in a row."""
    shortest, first, longest = waits
    return max(shortest, min(longest, first * 2.0 ** (streak - 1)))


@njit(cache=True, nogil=True)
def days_since(last: FloatArray, rows: NDArray[Any], now: float, never: float) -> FloatArray:
    """Return the days since each row's last look, at least 0, ``never`` where there was none."""
    days = np.empty(len(rows))
    for place in range(len(rows)):
        seen = last[rows[place]]
        days[place] = never if np.isnan(seen) else max(0.0, now - seen) / DAY_SECONDS
    return days
