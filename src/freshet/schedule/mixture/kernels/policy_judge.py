"""Compiled loop over looks that credits them to the policies that chose their pages."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray

# The label of a page holds who chose its pending visit, who chose its last look, and whether that
# look found a change. Choosers are counted from 1; 0 is nobody, as for a visit on request.
CHOOSER_BITS = 2
CHOOSER_MASK = (1 << CHOOSER_BITS) - 1
CHANGED_BIT = 1 << (2 * CHOOSER_BITS)
LOOKS, EXPECTED, GAIN, SQUARES, FOLLOW_UPS, FOLLOW_UP_GAIN, FOLLOW_UP_DAYS = range(7)
WAITING, WAITING_DAYS, FOUND, FOUND_DAYS = range(7, 11)
MEMORY_DAYS = 30.0
MAX_FRESH_DAYS = 30.0


def are_chosen(labels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which labels are those of pages whose pending visit a policy chose."""
    chosen: NDArray[np.bool_] = (labels & CHOOSER_MASK) > 0
    return chosen


def are_found_changes(labels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which labels are those of a change that the last look found for a policy."""
    choosers = (labels >> CHOOSER_BITS) & CHOOSER_MASK
    found_changes: NDArray[np.bool_] = (choosers > 0) & ((labels & CHANGED_BIT) != 0)
    return found_changes


@njit(cache=True, nogil=True)
def credit_looks(
    looks: tuple[NDArray[Any], ...],
    columns: tuple[NDArray[Any], ...],
    interval_steps: tuple[float, float, float, float],
    sums: FloatArray,
    options: tuple[bool, float],
) -> None:
    """Update labels and adaptive intervals look by look, and add to the sums of the choosers.

    The last two columns of ``looks`` have the days for which the copy of the look before was fresh,
    and the days to the next change that are expected after a change was found. ``options`` are
    whether gains are fresh days, and the share of the default's sums that remains after each of its
    looks.
    """
    rows, gap_days, measured, changed, fresh_days, expected_days = looks
    labels, intervals, importance = columns
    unchanged_factor, changed_factor, shortest, longest = interval_steps
    for_freshness, retention = options
    for look in range(len(rows)):
        row = rows[look]
        label = labels[row]
        chooser, last_chooser = label & CHOOSER_MASK, (label >> CHOOSER_BITS) & CHOOSER_MASK
        found_change = measured[look] and changed[look]
        labels[row] = (chooser << CHOOSER_BITS) | (CHANGED_BIT if found_change else 0)
        if not measured[look]:
            if last_chooser > 0 and label & CHANGED_BIT:
                end_waiting(sums[last_chooser - 1], gap_days[look], importance[row])
            continue
        factor = changed_factor if found_change else unchanged_factor
        intervals[row] = min(longest, max(shortest, intervals[row] * factor))
        if last_chooser > 0 and label & CHANGED_BIT:
            gain = 1.0 if found_change else 0.0
            if for_freshness:
                gain = min(fresh_days[look], MAX_FRESH_DAYS)
            add_follow_up(sums[last_chooser - 1], gap_days[look], gain, importance[row])
        if chooser > 0:
            gain = importance[row] if found_change else 0.0
            add_look(sums, chooser - 1, gain, retention)
            sums[chooser - 1, FOUND] += gain
            sums[chooser - 1, FOUND_DAYS] += gain * expected_days[look]


@njit(cache=True)
def add_look(sums: FloatArray, policy: int, gain: float, retention: float) -> None:
    """Add a look of a policy, and what the default would have gained by it."""
    if policy == 0:
        sums[0, : SQUARES + 1] *= retention
    sums[policy, EXPECTED] += (sums[0, GAIN] + 0.5) / (sums[0, LOOKS] + 1.0)
    sums[policy, LOOKS] += 1.0
    sums[policy, GAIN] += gain
    sums[policy, SQUARES] += gain * gain
    sums[policy, WAITING] += gain


@njit(cache=True)
def add_follow_up(sums: FloatArray, gap_days: float, gain: float, importance: float) -> None:
    """Add the next look after a found change. Looks count by the importance of their page."""
    end_waiting(sums, gap_days, importance)
    sums[FOLLOW_UPS] += importance
    sums[FOLLOW_UP_GAIN] += importance * gain
    sums[FOLLOW_UP_DAYS] += importance * gap_days


@njit(cache=True)
def end_waiting(sums: FloatArray, gap_days: float, importance: float) -> None:
    """Remove a found change that has waited for the next look and has faded meanwhile."""
    if np.isnan(gap_days):
        return
    faded = importance * np.exp(-gap_days / MEMORY_DAYS)
    sums[WAITING] -= faded
    sums[WAITING_DAYS] -= faded * gap_days


@njit(cache=True, nogil=True)
def forget_waiting(
    labels: NDArray[Any], importance: NDArray[Any], days_since_look: FloatArray, sums: FloatArray
) -> None:
    """Remove the found changes of forgotten pages that wait for the next look."""
    for page in range(len(labels)):
        last_chooser = (labels[page] >> CHOOSER_BITS) & CHOOSER_MASK
        if last_chooser > 0 and labels[page] & CHANGED_BIT:
            end_waiting(sums[last_chooser - 1], days_since_look[page], importance[page])
