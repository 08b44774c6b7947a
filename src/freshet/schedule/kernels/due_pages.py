"""Compiled loops over sorted row numbers, and over the rows of hosts."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray, IndexArray

SortedRows = NDArray[np.intp]
DueTimes = NDArray[np.uint32]

# Pages with this time are due at any time.
ALWAYS_DUE, LATEST_DUE = 0, (1 << 32) - 1


@njit(cache=True)
def due_time(seconds: float) -> int:
    """Return a time in whole seconds, rounded down, within the range of the column."""
    if seconds >= LATEST_DUE or np.isnan(seconds):
        return LATEST_DUE
    return int(max(seconds, 0.0))


@njit(cache=True, nogil=True)
def due_times(times: FloatArray) -> DueTimes:
    """Return times in whole seconds."""
    rounded = np.empty(len(times), np.uint32)
    for index in range(len(times)):
        rounded[index] = due_time(times[index])
    return rounded


@njit(cache=True, nogil=True)
def merge_rows(rows: SortedRows, others: SortedRows | IndexArray) -> SortedRows:
    """Return the rows of two ascending arrays, each row once, in ascending order."""
    merged = np.empty(len(rows) + len(others), np.intp)
    count, first, second = 0, 0, 0
    while first < len(rows) or second < len(others):
        if second == len(others) or (first < len(rows) and rows[first] <= others[second]):
            row = rows[first]
            first += 1
        else:
            row = others[second]
            second += 1
        if count == 0 or merged[count - 1] != row:
            merged[count] = row
            count += 1
    return merged[:count]


@njit(cache=True, nogil=True)
def rows_without(rows: SortedRows, others: SortedRows) -> SortedRows:
    """Return the rows of an ascending array that are not in another ascending one."""
    remaining, count, position = np.empty(len(rows), np.intp), 0, 0
    for index in range(len(rows)):
        while position < len(others) and others[position] < rows[index]:
            position += 1
        if position == len(others) or others[position] != rows[index]:
            remaining[count] = rows[index]
            count += 1
    return remaining[:count]


@njit(cache=True, nogil=True)
def rows_due(rows: SortedRows, due: DueTimes, now: float) -> SortedRows:
    """Return the rows that are due."""
    selected, count, latest = np.empty(len(rows), np.intp), 0, due_time(now)
    for index in range(len(rows)):
        if due[rows[index]] <= latest:
            selected[count] = rows[index]
            count += 1
    return selected[:count]


@njit(cache=True, nogil=True)
def group_rows(host_of_row: IndexArray, host_count: int) -> tuple[IndexArray, IndexArray]:
    """Return all rows ordered by host, and where the rows of each host start."""
    starts = np.zeros(host_count + 1, np.int32)
    for row in range(len(host_of_row)):
        starts[host_of_row[row] + 1] += 1
    for host in range(host_count):
        starts[host + 1] += starts[host]
    rows, ends = np.empty(len(host_of_row), np.int32), starts[:host_count].copy()
    for row in range(len(host_of_row)):
        host = host_of_row[row]
        rows[ends[host]] = row
        ends[host] += 1
    return rows, starts
