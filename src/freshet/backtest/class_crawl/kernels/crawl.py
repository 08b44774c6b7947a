"""The compiled crawl by classes: one call crawls a whole trace with one program."""

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
from freshet.formula import kernels as ranking

_ONES = np.array([byte.bit_count() for byte in range(256)], np.int64)


@njit(cache=True, nogil=True)
def crawl_by_classes(
    web: CompiledTrace, code: CompiledFormula, aim: FitnessTarget
) -> tuple[int, CycleCounts]:
    """Visit every page in the first cycles, then k a cycle by the scores of their classes.

    Return how many cycles were crawled, and what they found.
    """
    cycles, classes, tally = len(web.changed), _opened(web), _blank(len(web.changed))
    told = np.empty((len(code.name_indices), len(classes.starts)))
    stale = np.zeros(web.changed.shape[1], np.uint8)
    for number in range(cycles):
        tally.stale_before[number] = _grow_stale(stale, web.changed[number])
        if number < WARM_UP_CYCLES:
            visited = select_all(classes)
        else:
            _score(classes, code, told, number)
            visited = select_best(classes, web.k, web.tie_break_keys[number])
        refresh_copies(classes, visited, stale)
        _note(tally, classes, visited, aim, number)
        regroup_visited(classes, visited, code, number)
        if number == aim.stop_cycle and _is_lost(tally, aim, web.k):
            return number + 1, tally
    return cycles, tally


@njit(cache=True, nogil=True)
def _opened(web: CompiledTrace) -> HistoryClasses:
    """Return one class of all pages, and room for every other there can be."""
    later = max(0, len(web.changed) - WARM_UP_CYCLES)
    room = web.pages + web.k
    classes = HistoryClasses(
        starts=np.zeros(room, np.int64),
        ends=np.empty(room, np.int64),
        last_visits=np.empty(room, np.int64),
        sums=np.empty((room, ranking.SUM_COUNT)),
        scores=np.empty(room),
        members=np.empty((1 + WARM_UP_CYCLES) * web.pages + later * web.k, np.int32),
        counts=np.zeros(3, np.int64),
    )
    classes.ends[0], classes.last_visits[0] = web.pages, -1
    classes.sums[0, :] = 0.0
    classes.members[: web.pages] = np.arange(web.pages)
    classes.counts[CLASS_COUNT], classes.counts[MEMBER_COUNT] = 1, web.pages
    return classes


@njit(cache=True, nogil=True)
def _blank(cycles: int) -> CycleCounts:
    return CycleCounts(
        changes_found=np.zeros(cycles, np.int64),
        gain=np.zeros(cycles),
        stale_before=np.zeros(cycles, np.int64),
        stale_after=np.zeros(cycles, np.int64),
    )


@njit(cache=True, nogil=True)
def _grow_stale(stale: FlagArray, changed: FlagArray) -> int:
    """Let copies become stale whose page changed; return how many are stale."""
    count = 0
    for place in range(len(stale)):
        stale[place] |= changed[place]
        count += _ONES[stale[place]]
    return count


@njit(cache=True, nogil=True)
def _score(classes: HistoryClasses, code: CompiledFormula, told: FloatArray, number: int) -> None:
    """Compute the scores of all classes, or of the new ones where the others stay as they are."""
    count, first = (
        classes.counts[CLASS_COUNT],
        0 if code.depends_on_age else classes.counts[SCORED_COUNT],
    )
    ages = np.empty(count)
    for place in range(first, count):
        ages[place] = number - classes.last_visits[place]
    ranking.write_variables(code.name_indices, (classes.sums, ages), code.by_cycle, first, told)
    ranking.evaluate_program(code.steps, code.numbers, told, first, classes.scores[:count])


@njit(cache=True, nogil=True)
def _note(
    tally: CycleCounts,
    classes: HistoryClasses,
    visited: ClassVisits,
    aim: FitnessTarget,
    number: int,
) -> None:
    """Write down what a cycle found."""
    tally.changes_found[number] = visited.change_counts.sum()
    tally.stale_after[number] = tally.stale_before[number] - tally.changes_found[number]
    if number >= WARM_UP_CYCLES and len(aim.gains):
        tally.gain[number] = discounted_gain(classes.scores, visited, aim.gains)


@njit(cache=True, nogil=True)
def _is_lost(tally: CycleCounts, aim: FitnessTarget, k: int) -> bool:
    """Whether the mean stays below the floor even if all the cycles to come are perfect."""
    reached, counted = 0.0, 0
    for number in range(WARM_UP_CYCLES, aim.stop_cycle + 1):
        if not len(aim.gains):
            reached += tally.changes_found[number] / k
            counted += 1
        elif tally.stale_before[number]:
            reached += tally.gain[number] / aim.gains[min(k, tally.stale_before[number])]
            counted += 1
    left = len(tally.changes_found) - 1 - aim.stop_cycle
    return (reached + left) / (counted + left) < aim.floor
