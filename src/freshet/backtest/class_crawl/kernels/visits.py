"""The compiled visit by classes: its members become fresh, and those of one past one class."""

import numpy as np
from numba import njit

from freshet.backtest.class_crawl.tables import (
    COUNT,
    FILLED,
    SCORED,
    Classes,
    Code,
    Ints,
    Lots,
    Visited,
)
from freshet.backtest.kernels.copies import HIGHEST_BIT
from freshet.core.types import Flags, Floats
from freshet.formula import kernels as ranking

_U = np.uint64


@njit(cache=True, nogil=True)
def make_fresh(classes: Classes, visited: Visited, stale: Flags) -> None:
    """Put the stale ones of the visited members in front, count them, and make them fresh."""
    members = classes.members
    for place in range(len(visited.which)):
        start = classes.starts[visited.which[place]]
        first = start
        for member in range(start, start + visited.taken[place]):
            page = members[member]
            bit = HIGHEST_BIT >> (page & 7)
            if stale[page >> 3] & bit:
                stale[page >> 3] ^= bit
                members[member] = members[first]
                members[first] = page
                first += 1
        visited.found[place] = first - start


@njit(cache=True, nogil=True)
def move_on(classes: Classes, visited: Visited, code: Code, number: int) -> None:
    """Take visited members out of their classes, and put those of one past into a new one."""
    starts, ends, rows = _children(classes, visited, code, number)
    numbers, firsts = _alike(rows)
    classes.starts[visited.which] += visited.taken
    kept = _without_empty(classes)
    bounds = _joined(classes, starts, ends, numbers, len(firsts))
    for child in range(len(firsts)):
        into = kept + child
        classes.starts[into], classes.ends[into] = bounds[child], bounds[child + 1]
        classes.seen[into] = number
        classes.rows[into] = rows[firsts[child]]
    classes.counts[COUNT], classes.counts[SCORED] = kept + len(firsts), kept
    classes.counts[FILLED] = bounds[-1]


@njit(cache=True, nogil=True)
def _children(
    classes: Classes, visited: Visited, code: Code, number: int
) -> tuple[Ints, Ints, Floats]:
    """Return where the visited members lie that changed and that did not, and their sums."""
    most, count = 2 * len(visited.which), 0
    starts, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    rows = np.empty((most, ranking.WIDTH))
    for place in range(len(visited.which)):
        parent, found = visited.which[place], visited.found[place]
        start, gap = classes.starts[parent], float(number - classes.seen[parent])
        for changed in (True, False):
            starts[count] = start if changed else start + found
            ends[count] = start + found if changed else start + visited.taken[place]
            if ends[count] > starts[count]:
                rows[count] = classes.rows[parent]
                ranking.look(rows[count], gap, changed, code.needs, code.by_cycle)
                count += 1
    return starts[:count], ends[:count], rows[:count]


@njit(cache=True, nogil=True)
def _alike(rows: Floats) -> tuple[Ints, Ints]:
    """Number equal rows alike; return each row's number, and the first row of each number."""
    words, table = rows.view(np.uint64), 16
    while table < 2 * len(rows):
        table *= 2
    held = np.full(table, -1, np.int64)
    numbers, firsts, count = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64), 0
    for row in range(len(rows)):
        hashed = _U(0)
        for word in words[row]:
            hashed = ranking.scrambled(hashed ^ word)
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
def _equal(one: Lots, other: Lots) -> bool:
    different = 0
    for place in range(len(one)):
        different += one[place] != other[place]
    return different == 0


@njit(cache=True, nogil=True)
def _without_empty(classes: Classes) -> int:
    """Close the gaps of classes that lost all members; return how many classes stay."""
    kept = 0
    for place in range(classes.counts[COUNT]):
        if classes.starts[place] >= classes.ends[place]:
            continue
        if kept < place:
            classes.starts[kept] = classes.starts[place]
            classes.ends[kept] = classes.ends[place]
            classes.seen[kept] = classes.seen[place]
            classes.rows[kept] = classes.rows[place]
            classes.scores[kept] = classes.scores[place]
        kept += 1
    return kept


@njit(cache=True, nogil=True)
def _joined(classes: Classes, starts: Ints, ends: Ints, numbers: Ints, count: int) -> Ints:
    """Copy slices of members behind all others, those of one number together; return the bounds."""
    members, bounds = classes.members, np.zeros(count + 1, np.int64)
    for place in range(len(starts)):
        bounds[numbers[place] + 1] += ends[place] - starts[place]
    bounds[0] = classes.counts[FILLED]
    for number in range(count):
        bounds[number + 1] += bounds[number]
    free = bounds[:-1].copy()
    for place in range(len(starts)):
        into, size = free[numbers[place]], ends[place] - starts[place]
        for step in range(size):
            members[into + step] = members[starts[place] + step]
        free[numbers[place]] += size
    return bounds
