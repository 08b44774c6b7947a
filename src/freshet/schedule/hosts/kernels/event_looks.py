"""Compiled loops that select and store the looks to which shared events are fitted."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import Float32Array, FloatArray, IndexArray

LookColumns = tuple[IndexArray, Float32Array, Float32Array, NDArray[np.bool_], Float32Array]


@njit(cache=True, nogil=True)
def useful_looks(
    looks: tuple[IndexArray, FloatArray, NDArray[np.bool_], NDArray[np.bool_]],
    host_columns: tuple[IndexArray, IndexArray],
    limits: tuple[int, float],
) -> NDArray[np.intp]:
    """Return the measured looks after a gap that is short, or at pages of large hosts.

    The looks have a host, a gap in days, and whether they are measured and found a change. Changes
    after a short gap are counted in the second column of the hosts; the first has their pages.
    ``limits`` are the least pages of a large host and the longest short gap.
    """
    hosts, gaps, measured, changed = looks
    (pages, short_changes), (least_pages, short_gap) = host_columns, limits
    useful, count = np.empty(len(hosts), np.intp), 0
    for look in range(len(hosts)):
        if not (measured[look] and gaps[look] > 0.0):
            continue
        is_short = gaps[look] <= short_gap
        if is_short and changed[look]:
            short_changes[hosts[look]] += 1
        if is_short or pages[hosts[look]] >= least_pages:
            useful[count] = look
            count += 1
    return useful[:count]


@njit(cache=True, nogil=True)
def store_looks(
    looks: tuple[IndexArray, IndexArray, FloatArray, FloatArray, NDArray[np.bool_], FloatArray],
    selection: tuple[NDArray[np.intp], int],
    columns: LookColumns,
    previous: IndexArray,
    host_columns: tuple[IndexArray, IndexArray, IndexArray],
    has_new_change: NDArray[np.bool_],
) -> None:
    """Write selected looks from a position on, and put them at the head of their hosts' lists.

    The looks have a host, a row, a time in seconds, a gap in days, whether they found a change, and
    a hazard. The columns of hosts are the newest look, the stored and the new looks.
    """
    hosts, rows, times, gaps, changed, hazards = looks
    (selected, first), (newest, stored, new_looks) = selection, host_columns
    for index in range(len(selected)):
        look, position = selected[index], first + index
        host = hosts[look]
        columns[0][position] = rows[look]
        columns[1][position] = times[look] / DAY_SECONDS
        columns[2][position] = gaps[look]
        columns[3][position] = changed[look]
        columns[4][position] = hazards[look]
        previous[position], newest[host] = newest[host], position
        stored[host] += 1
        new_looks[host] += 1
        has_new_change[host] |= changed[look]
