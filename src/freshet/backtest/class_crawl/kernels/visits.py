"""Compiled visits by classes: copies are refreshed, and members are regrouped by history."""

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
def refresh_copies(classes: HistoryClasses, visits: ClassVisits, stale: FlagArray) -> None:
    """Move the stale visited members to the front of their class, count and refresh them."""
    members = classes.members
    for row in range(len(visits.class_indices)):
        start = classes.starts[visits.class_indices[row]]
        first = start
        for member in range(start, start + visits.visit_counts[row]):
            page = members[member]
            bit = HIGHEST_BIT >> (page & 7)
            if stale[page >> 3] & bit:
                stale[page >> 3] ^= bit
                members[member] = members[first]
                members[first] = page
                first += 1
        visits.change_counts[row] = first - start


@njit(cache=True, nogil=True)
def regroup_visited(
    classes: HistoryClasses, visits: ClassVisits, formula: CompiledFormula, number: int
) -> None:
    """Move visited members to new classes, one for each distinct history."""
    starts, ends, rows = _split_visited(classes, visits, formula, number)
    numbers, firsts = _number_equal_rows(rows)
    classes.starts[visits.class_indices] += visits.visit_counts
    class_count = _drop_empty_classes(classes)
    bounds = _copy_members(classes, starts, ends, numbers, len(firsts))
    for child in range(len(firsts)):
        class_index = class_count + child
        classes.starts[class_index], classes.ends[class_index] = bounds[child], bounds[child + 1]
        classes.last_visits[class_index] = number
        classes.sums[class_index] = rows[firsts[child]]
    classes.counts[CLASS_COUNT], classes.counts[SCORED_COUNT] = (
        class_count + len(firsts),
        class_count,
    )
    classes.counts[MEMBER_COUNT] = bounds[-1]


@njit(cache=True, nogil=True)
def _split_visited(
    classes: HistoryClasses, visits: ClassVisits, formula: CompiledFormula, number: int
) -> tuple[Ints, Ints, FloatArray]:
    """Return where the changed and unchanged visited members lie, and their updated sums."""
    max_split_visited, count = 2 * len(visits.class_indices), 0
    starts, ends = np.empty(max_split_visited, np.int64), np.empty(max_split_visited, np.int64)
    rows = np.empty((max_split_visited, ranking.SUM_COUNT))
    for row in range(len(visits.class_indices)):
        class_index, changed_count = visits.class_indices[row], visits.change_counts[row]
        start, gap = classes.starts[class_index], float(number - classes.last_visits[class_index])
        for changed in (True, False):
            starts[count] = start if changed else start + changed_count
            ends[count] = start + changed_count if changed else start + visits.visit_counts[row]
            if ends[count] > starts[count]:
                rows[count] = classes.sums[class_index]
                ranking.add_look(rows[count], gap, changed, formula.needed_sums, formula.by_cycle)
                count += 1
    return starts[:count], ends[:count], rows[:count]


@njit(cache=True, nogil=True)
def _number_equal_rows(rows: FloatArray) -> tuple[Ints, Ints]:
    """Number equal rows alike; return the numbers and the first row of each number."""
    words, slot_count = rows.view(np.uint64), 16
    while slot_count < 2 * len(rows):
        slot_count *= 2
    number_of_slot = np.full(slot_count, -1, np.int64)
    numbers, firsts, count = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64), 0
    for row in range(len(rows)):
        hashed = _U(0)
        for word in words[row]:
            hashed = ranking.splitmix64(hashed ^ word)
        slot = np.int64(hashed & _U(slot_count - 1))
        while number_of_slot[slot] >= 0 and not _equal(
            words[firsts[number_of_slot[slot]]], words[row]
        ):
            slot = (slot + 1) & (slot_count - 1)
        if number_of_slot[slot] < 0:
            number_of_slot[slot] = count
            firsts[count] = row
            count += 1
        numbers[row] = number_of_slot[slot]
    return numbers, firsts[:count]


@njit(cache=True, nogil=True)
def _equal(left: TieBreakKeys, right: TieBreakKeys) -> bool:
    different = 0
    for index in range(len(left)):
        different += left[index] != right[index]
    return different == 0


@njit(cache=True, nogil=True)
def _drop_empty_classes(classes: HistoryClasses) -> int:
    """Remove classes without members; return how many stay."""
    kept_count = 0
    for class_index in range(classes.counts[CLASS_COUNT]):
        if classes.starts[class_index] >= classes.ends[class_index]:
            continue
        if kept_count < class_index:
            classes.starts[kept_count] = classes.starts[class_index]
            classes.ends[kept_count] = classes.ends[class_index]
            classes.last_visits[kept_count] = classes.last_visits[class_index]
            classes.sums[kept_count] = classes.sums[class_index]
            classes.scores[kept_count] = classes.scores[class_index]
        kept_count += 1
    return kept_count


@njit(cache=True, nogil=True)
def _copy_members(
    classes: HistoryClasses, starts: Ints, ends: Ints, numbers: Ints, count: int
) -> Ints:
    """Copy slices of members to the end, grouped by number; return the bounds of the groups."""
    members, bounds = classes.members, np.zeros(count + 1, np.int64)
    for row in range(len(starts)):
        bounds[numbers[row] + 1] += ends[row] - starts[row]
    bounds[0] = classes.counts[MEMBER_COUNT]
    for number in range(count):
        bounds[number + 1] += bounds[number]
    free = bounds[:-1].copy()
    for row in range(len(starts)):
        target, size = free[numbers[row]], ends[row] - starts[row]
        for step in range(size):
            members[target + step] = members[starts[row] + step]
        free[numbers[row]] += size
    return bounds
