"""Moments of recorded changes: when within its day a change happened.

A change lies between the look that found it and the page's previous look. Its recorded moment is
that of the look that found it, if the previous look was at most 12 hours before or on the same day.
Looks that are further apart, such as one a day, do not tell the time of day.
"""

import numpy as np

from freshet.core.tables import DAY_SECONDS, BoolArray
from freshet.core.types import FloatArray, IndexArray

MAX_GAP_SECONDS = DAY_SECONDS / 2
MAX_PAUSE_SECONDS = 600.0


def recorded_moments(
    times: FloatArray, previous_times: FloatArray, changed: BoolArray
) -> FloatArray:
    """Return the moment of the change that each look found, NaN if it is not known.

    >>> hours = np.array([6.0, 30.0, 47.0]) * 3600
    >>> changed = np.array([True, True, True])
    >>> (recorded_moments(hours, np.array([np.nan, *hours[:2]]), changed) / 3600).tolist()
    [nan, nan, 47.0]
    """
    is_same_day = times // DAY_SECONDS == previous_times // DAY_SECONDS
    is_known = changed & (is_same_day | (times - previous_times <= MAX_GAP_SECONDS))
    return np.where(is_known, times, np.nan)


def previous_looks(pages: IndexArray, times: FloatArray) -> FloatArray:
    """Return the time of the same page's latest look before each look, NaN if there is none.

    >>> previous_looks(np.array([1, 0, 1, 1]), np.array([5.0, 7.0, 9.0, 9.0])).tolist()
    [nan, nan, 5.0, 5.0]
    """
    if not len(pages):
        return np.empty(0)
    order = np.lexsort((times, pages))
    page, time = pages[order], times[order]
    is_first = np.append(True, (page[1:] != page[:-1]) | (time[1:] != time[:-1]))
    first_looks = np.flatnonzero(is_first)
    looks_before = np.where(
        np.append(False, page[first_looks[1:]] == page[first_looks[:-1]]),
        time[np.append(0, first_looks[:-1])],
        np.nan,
    )
    previous = np.empty(len(pages))
    previous[order] = looks_before[np.cumsum(is_first) - 1]
    return previous


def previous_runs(run_times: FloatArray, times: FloatArray) -> FloatArray:
    """Return the end of the run before each time, NaN if there is none.

    ``run_times`` are the times of commits, ascending. Commits less than ten minutes apart belong to
    one run of a scraper.

    >>> previous_runs(np.array([0.0, 60.0, 9000.0, 9030.0]), np.array([60.0, 9030.0])).tolist()
    [nan, 60.0]
    """
    if not len(run_times):
        return np.full(len(times), np.nan)
    starts = np.flatnonzero(np.append(True, np.diff(run_times) > MAX_PAUSE_SECONDS))
    ends_before = np.append(np.nan, run_times[starts[1:] - 1])
    run_of_time = np.searchsorted(run_times[starts], times, side="right") - 1
    return ends_before[run_of_time]
