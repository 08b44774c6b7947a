"""Irregular looks on a regular time grid: the version of a page at every hour or day.

The version at a grid time is that of the last look before it. It is unknown where that look is more
than four steps old.
"""

import numpy as np

from freshet.core.types import FloatArray, IndexArray

HOUR, DAY = 3600.0, 86_400.0
MAX_GAP_STEPS = 4
UNKNOWN_VERSION = -1
MAX_GRID_POINTS = 100_000


def default_step(times: FloatArray) -> float:
    """Return the step for looks at these times: an hour, or a day where they are rarer.

    >>> default_step(np.arange(10) * 3600.0), default_step(np.arange(10) * 86_400.0)
    (3600.0, 86400.0)
    """
    gaps = np.diff(times)
    return HOUR if len(gaps) and float(np.median(gaps)) <= MAX_GAP_STEPS * HOUR else DAY


def versions_on_grid(times: FloatArray, shown: IndexArray, step: float) -> IndexArray:
    """Return the version at the first look and at every step after it; -1: unknown.

    >>> versions_on_grid(np.array([0.0, 2.5, 9.0]), np.array([0, 1, 2], np.int32), 1.0).tolist()
    [0, 0, 0, 1, 1, 1, 1, -1, -1, 2]
    """
    if not len(times):
        return np.empty(0, np.int32)
    points = min(int((times[-1] - times[0]) // step) + 1, MAX_GRID_POINTS)
    grid_times = times[0] + step * np.arange(points)
    last_looks = np.searchsorted(times, grid_times, side="right") - 1
    is_known = grid_times - times[last_looks] <= MAX_GAP_STEPS * step
    return np.where(is_known, shown[last_looks], UNKNOWN_VERSION).astype(np.int32)


def unobserved_gaps(times: FloatArray, step: float) -> list[tuple[float, float]]:
    """Return the start and the end of each time in which the state of a page is unknown.

    >>> unobserved_gaps(np.array([0.0, 1.0, 9.0]), 1.0)
    [(5.0, 9.0)]
    """
    known_until = times[:-1] + MAX_GAP_STEPS * step
    gaps = np.flatnonzero(times[1:] > known_until)
    return list(zip(known_until[gaps].tolist(), times[1:][gaps].tolist(), strict=True))
