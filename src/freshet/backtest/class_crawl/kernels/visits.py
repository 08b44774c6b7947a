"""The compiled visit by classes: its members become fresh, and those of one past one class."""

import numpy as np
from numba import njit

from freshet.backtest.class_crawl.tables import (
    CLASS_COUNT,
    MEMBER_COUNT,
    SCORED_COUNT,
    ClassVisits,
    CompiledFormula,
    HistoryClasses,
    Ints,
    TieBreakKeys,
)
from freshet.backtest.kernels.copies import HIGHEST_BIT
from freshet.core.types import FlagArray, FloatArray
from freshet.formula import kernels as ranking

_U = np.uint64


@njit(cache=True, nogil=True)
def refresh_copies(classes: HistoryClasses, visited: ClassVisits, stale: FlagArray) -> None:
    """Put the stale ones of the visited members in front, count them, and make them fresh."""
    members = classes.members
    for place in range(len(visited.class_indices)):
        start = classes.starts[visited.class_indices[place]]
        first = start
        for member in range(start, start + visited.visit_counts[place]):
            page = members[member]
            bit = HIGHEST_BIT >> (page & 7)
            if stale[page >> 3] & bit:
                stale[page >> 3] ^= bit
                members[member] = members[first]
                members[first] = page
                first += 1
        visited.change_counts[place] = first - start


@njit(cache=True, nogil=True)
def regroup_visited(
    classes: HistoryClasses, visited: ClassVisits, code: CompiledFormula, number: int
) -> None:
    """Take visited members out of their classes, and put those of one past into a new one."""
    starts, ends, rows = _children(classes, visited, code, number)
    numbers, firsts = _alike(rows)
    classes.starts[visited.class_indices] += visited.visit_counts
    kept = _without_empty(classes)
    bounds = _joined(classes, starts, ends, numbers, len(firsts))
    for child in range(len(firsts)):
        into = kept + child
        classes.starts[into], classes.ends[into] = bounds[child], bounds[child + 1]
        classes.last_visits[into] = number
        classes.sums[into] = rows[firsts[child]]
    classes.counts[CLASS_COUNT], classes.counts[SCORED_COUNT] = kept + len(firsts), kept
    classes.counts[MEMBER_COUNT] = bounds[-1]


@njit(cache=True, nogil=True)
def _children(
    classes: HistoryClasses, visited: ClassVisits, code: CompiledFormula, number: int
) -> tuple[Ints, Ints, FloatArray]:
    """Return where the visited members lie that changed and that did not, and their sums."""
    most, count = 2 * len(visited.class_indices), 0
    starts, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    rows = np.empty((most, ranking.SUM_COUNT))
    for place in range(len(visited.class_indices)):
        parent, found = visited.class_indices[place], visited.change_counts[place]
        start, gap = classes.starts[parent], float(number - classes.last_visits[parent])
        for changed in (True, False):
            starts[count] = start if changed else start + found
            ends[count] = start + found if changed else start + visited.visit_counts[place]
            if ends[count] > starts[count]:
                rows[count] = classes.sums[parent]
                ranking.add_look(rows[count], gap, changed, code.needed_sums, code.by_cycle)
                count += 1
    return starts[:count], ends[:count], rows[:count]


@njit(cache=True, nogil=True)
def _alike(rows: FloatArray) -> tuple[Ints, Ints]:
    """Number equal rows alike; return each row's number, and the first row of each number."""
    words, table = rows.view(np.uint64), 16
    while table < 2 * len(rows):
        table *= 2
    held = np.full(table, -1, np.int64)
    numbers, firsts, count = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64), 0
    for row in range(len(rows)):
        hashed = _U(0)
        for word in words[row]:
            hashed = ranking.splitmix64(hashed ^ word)
        slot = np.int64(hashed & _U(table - 1))
        while held[slot] >= 0 and not _equal(words[firsts[held[slot]]], words[row]):
            slot = (slot + 1) & (table - 1)
        if held[slot] < 0:
            held[slot] = count
            firsts[count] = row
            count += 1
        numbers[row] = held[slot]
    return numbers, firsts[:count]


@njit(cache=True, nogil=True)
def _equal(one: TieBreakKeys, other: TieBreakKeys) -> bool:
    different = 0
    for place in range(len(one)):
        different += one[place] != other[place]
    return different == 0


@njit(cache=True, nogil=True)
def _without_empty(classes: HistoryClasses) -> int:
    """Close the gaps of classes that lost all members; return how many classes stay."""
    kept = 0
    for place in range(classes.counts[CLASS_COUNT]):
        if classes.starts[place] >= classes.ends[place]:
            continue
        if kept < place:
            classes.starts[kept] = classes.starts[place]
            classes.ends[kept] = classes.ends[place]
            classes.last_visits[kept] = classes.last_visits[place]
            classes.sums[kept] = classes.sums[place]
            classes.scores[kept] = classes.scores[place]
        kept += 1
    return kept


@njit(cache=True, nogil=True)
def _joined(classes: HistoryClasses, starts: Ints, ends: Ints, numbers: Ints, count: int) -> Ints:
    """Copy slices of members behind all others, those of one number together; return the bounds."""
    members, bounds = classes.members, np.zeros(count + 1, np.int64)
    for place in range(len(starts)):
        bounds[numbers[place] + 1] += ends[place] - starts[place]
    bounds[0] = classes.counts[MEMBER_COUNT]
    for number in range(count):
        bounds[number + 1] += bounds[number]
    free = bounds[:-1].copy()
    for place in range(len(starts)):
        into, size = free[numbers[place]], ends[place] - starts[place]
        for step in range(size):
            members[into + step] = members[starts[place] + step]
        free[numbers[place]] += size
    return bounds
