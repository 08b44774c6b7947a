"""Compiled rules of the gap between two visits that need a predicted interval, or no model."""

import math

from numba import njit

from freshet.predict.threads.kernels.next_visit import MAX_GAP, MIN_GAP

FIXED_GAP, ROOT_OF_WAIT, FOURTH_ROOT, LAST_POST_STEPS, REMAINING_TIME = range(5)


@njit(cache=True, nogil=True)
def rule_gap(rule: int, prediction: float, elapsed: float, scale: float) -> float:
    """Return the minutes to the next visit, ``elapsed`` minutes after the last known post."""
    if rule == FIXED_GAP:
        gap = scale
    elif rule == ROOT_OF_WAIT:
        gap = scale * math.sqrt(elapsed + 1.0)
    elif rule == FOURTH_ROOT:
        gap = scale * (max(prediction, 1.0) * (elapsed + 1.0)) ** 0.25
    elif rule == LAST_POST_STEPS:
        interval = max(scale * prediction, MIN_GAP)
        gap = interval * (math.floor(elapsed / interval) + 1.0) - elapsed
        if gap < MIN_GAP:
            gap += interval
    else:
        gap = scale * max(prediction - elapsed, elapsed)
    return min(max(gap, MIN_GAP), MAX_GAP)
