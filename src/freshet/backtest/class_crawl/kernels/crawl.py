"""Compiled crawl by classes: one call crawls a whole trace with one formula."""

import numpy as np
from numba import njit

from freshet.backtest.class_crawl.kernels.selection import discounted_gain, select_all, select_best
from freshet.backtest.class_crawl.kernels.visits import refresh_copies, regroup_visited
from freshet.backtest.class_crawl.tables import (
    CLASS_COUNT,
    MEMBER_COUNT,
    SCORED_COUNT,
    ClassVisits,
    CompiledFormula,
    CompiledTrace,
    FitnessTarget,
    HistoryClasses,
)
from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.fitness import CycleCounts
from freshet.core.types import FlagArray, FloatArray
from freshet.formula import kernels as formula_kernels

_BIT_COUNTS = np.array([byte.bit_count() for byte in range(256)], np.int64)


@njit(cache=True, nogil=True)
def crawl_by_classes(
    trace: CompiledTrace, formula: CompiledFormula, target: FitnessTarget
) -> tuple[int, CycleCounts]:
    """Visit every page in the first cycles, then k pages a cycle by the scores of their classes.

    Return the number of cycles crawled, and their counts.
    """
    cycles, classes, counts = (
        len(trace.changed),
        _initial_classes(trace),
        _empty_counts(len(trace.changed)),
    )
    variable_values = np.empty((len(formula.name_indices), len(classes.starts)))
    stale = np.zeros(trace.changed.shape[1], np.uint8)
    for number in range(cycles):
        counts.stale_before[number] = _mark_stale(stale, trace.changed[number])
        if number < WARM_UP_CYCLES:
            visits = select_all(classes)
        else:
            _score(classes, formula, variable_values, number)
            visits = select_best(classes, trace.k, trace.tie_break_keys[number])
        refresh_copies(classes, visits, stale)
        _record(counts, classes, visits, target, number)
        regroup_visited(classes, visits, formula, number)
        if number == target.stop_cycle and _is_below_floor(counts, target, trace):
            return number + 1, counts
    return cycles, counts


@njit(cache=True, nogil=True)
def _initial_classes(trace: CompiledTrace) -> HistoryClasses:
    """Return one class of all pages, with room for every class that can arise."""
    later_cycles = max(0, len(trace.changed) - WARM_UP_CYCLES)
    room = trace.pages + trace.k
    classes = HistoryClasses(
        starts=np.zeros(room, np.int64),
        ends=np.empty(room, np.int64),
        last_visits=np.empty(room, np.int64),
        sums=np.empty((room, formula_kernels.SUM_COUNT)),
        scores=np.empty(room),
        members=np.empty((1 + WARM_UP_CYCLES) * trace.pages + later_cycles * trace.k, np.int32),
        counts=np.zeros(3, np.int64),
    )
    classes.ends[0], classes.last_visits[0] = trace.pages, -1
    classes.sums[0, :] = 0.0
    classes.members[: trace.pages] = np.arange(trace.pages)
    classes.counts[CLASS_COUNT], classes.counts[MEMBER_COUNT] = 1, trace.pages
    return classes


@njit(cache=True, nogil=True)
def _empty_counts(cycles: int) -> CycleCounts:
    return CycleCounts(
        changes_found=np.zeros(cycles, np.int64),
        gain=np.zeros(cycles),
        stale_before=np.zeros(cycles, np.int64),
        stale_after=np.zeros(cycles, np.int64),
    )


@njit(cache=True, nogil=True)
def _mark_stale(stale: FlagArray, changed: FlagArray) -> int:
    """Mark the copies of changed pages as stale; return the number of stale copies."""
    count = 0
    for byte_index in range(len(stale)):
        stale[byte_index] |= changed[byte_index]
        count += _BIT_COUNTS[stale[byte_index]]
    return count


@njit(cache=True, nogil=True)
def _score(
    classes: HistoryClasses, formula: CompiledFormula, variable_values: FloatArray, number: int
) -> None:
    """Compute the scores of all classes, or only of the new ones if scores do not depend on age."""
    count = classes.counts[CLASS_COUNT]
    first = 0 if formula.depends_on_age else classes.counts[SCORED_COUNT]
    ages = np.empty(count)
    for class_index in range(first, count):
        ages[class_index] = number - classes.last_visits[class_index]
    formula_kernels.write_variables(
        formula.name_indices, (classes.sums, ages), formula.by_cycle, first, variable_values
    )
    formula_kernels.evaluate_program(
        formula.steps, formula.numbers, variable_values, first, classes.scores[:count]
    )


@njit(cache=True, nogil=True)
def _record(
    counts: CycleCounts,
    classes: HistoryClasses,
    visits: ClassVisits,
    target: FitnessTarget,
    number: int,
) -> None:
    """Record the counts of a cycle."""
    counts.changes_found[number] = visits.change_counts.sum()
    counts.stale_after[number] = counts.stale_before[number] - counts.changes_found[number]
    if number >= WARM_UP_CYCLES and len(target.gains):
        counts.gain[number] = discounted_gain(classes.scores, visits, target.gains)


@njit(cache=True, nogil=True)
def _is_below_floor(counts: CycleCounts, target: FitnessTarget, trace: CompiledTrace) -> bool:
    """Return whether the fitness stays below the floor even if all remaining cycles are perfect."""
    gains, changes, fresh, ranked_count, cycle_count = 0.0, 0.0, 0.0, 0, 0
    for number in range(WARM_UP_CYCLES, target.stop_cycle + 1):
        cycle_count += 1
        changes += counts.changes_found[number] / trace.k
        fresh += 1.0 - counts.stale_after[number] / trace.pages
        if len(target.gains) and counts.stale_before[number]:
            gains += counts.gain[number] / target.gains[min(trace.k, counts.stale_before[number])]
            ranked_count += 1
    left = len(counts.changes_found) - 1 - target.stop_cycle
    bound = 0.0
    for weight, total, count in (
        (target.weights[0], gains, ranked_count),
        (target.weights[1], changes, cycle_count),
        (target.weights[2], fresh, cycle_count),
    ):
        if weight > 0.0:
            bound += weight * ((total + left) / (count + left))
    return bound < target.floor
