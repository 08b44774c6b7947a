"""The compiled crawl by classes: one call crawls a whole trace with one program."""

import numpy as np
from numba import njit

from freshet.backtest.class_crawl.kernels.selection import best, everything, gain
from freshet.backtest.class_crawl.kernels.visits import make_fresh, move_on
from freshet.backtest.class_crawl.tables import (
    COUNT,
    FILLED,
    SCORED,
    Aim,
    Classes,
    Code,
    Visited,
    Web,
)
from freshet.backtest.cycle_crawl import WARM_UP
from freshet.backtest.fitness import Tally
from freshet.core.types import Flags, Floats
from freshet.formula import kernels as ranking

_ONES = np.array([byte.bit_count() for byte in range(256)], np.int64)


@njit(cache=True, nogil=True)
def crawl(web: Web, code: Code, aim: Aim) -> tuple[int, Tally]:
    """Visit every page in the first cycles, then k a cycle by the scores of their classes.

    Return how many cycles were crawled, and what they found.
    """
    cycles, classes, tally = len(web.changed), _opened(web), _blank(len(web.changed))
    told = np.empty((len(code.names), len(classes.starts)))
    stale = np.zeros(web.changed.shape[1], np.uint8)
    for number in range(cycles):
        tally.before[number] = _grow_stale(stale, web.changed[number])
        if number < WARM_UP:
            visited = everything(classes)
        else:
            _score(classes, code, told, number)
            visited = best(classes, web.k, web.keys[number])
        make_fresh(classes, visited, stale)
        _note(tally, classes, visited, aim, number)
        move_on(classes, visited, code, number)
        if number == aim.stop and _is_lost(tally, aim, web.k):
            return number + 1, tally
    return cycles, tally


@njit(cache=True, nogil=True)
def _opened(web: Web) -> Classes:
    """Return one class of all pages, and room for every other there can be."""
    later = max(0, len(web.changed) - WARM_UP)
    room = web.pages + web.k
    classes = Classes(
        starts=np.zeros(room, np.int64),
        ends=np.empty(room, np.int64),
        seen=np.empty(room, np.int64),
        rows=np.empty((room, ranking.WIDTH)),
        scores=np.empty(room),
        members=np.empty((1 + WARM_UP) * web.pages + later * web.k, np.int32),
        counts=np.zeros(3, np.int64),
    )
    classes.ends[0], classes.seen[0] = web.pages, -1
    classes.rows[0, :] = 0.0
    classes.members[: web.pages] = np.arange(web.pages)
    classes.counts[COUNT], classes.counts[FILLED] = 1, web.pages
    return classes


@njit(cache=True, nogil=True)
def _blank(cycles: int) -> Tally:
    return Tally(
        found=np.zeros(cycles, np.int64),
        gain=np.zeros(cycles),
        before=np.zeros(cycles, np.int64),
        after=np.zeros(cycles, np.int64),
    )


@njit(cache=True, nogil=True)
def _grow_stale(stale: Flags, changed: Flags) -> int:
    """Let copies become stale whose page changed; return how many are stale."""
    count = 0
    for place in range(len(stale)):
        stale[place] |= changed[place]
        count += _ONES[stale[place]]
    return count


@njit(cache=True, nogil=True)
def _score(classes: Classes, code: Code, told: Floats, number: int) -> None:
    """Compute the scores of all classes, or of the new ones where the others stay as they are."""
    count, first = classes.counts[COUNT], 0 if code.ages else classes.counts[SCORED]
    ages = np.empty(count)
    for place in range(first, count):
        ages[place] = number - classes.seen[place]
    ranking.tell(code.names, (classes.rows, ages), code.by_cycle, first, told)
    ranking.evaluate(code.steps, code.numbers, told, first, classes.scores[:count])


@njit(cache=True, nogil=True)
def _note(tally: Tally, classes: Classes, visited: Visited, aim: Aim, number: int) -> None:
    """Write down what a cycle found."""
    tally.found[number] = visited.found.sum()
    tally.after[number] = tally.before[number] - tally.found[number]
    if number >= WARM_UP and len(aim.gains):
        tally.gain[number] = gain(classes.scores, visited, aim.gains)


@njit(cache=True, nogil=True)
def _is_lost(tally: Tally, aim: Aim, k: int) -> bool:
    """Whether the mean stays below the floor even if all the cycles to come are perfect."""
    reached, counted = 0.0, 0
    for number in range(WARM_UP, aim.stop + 1):
        if not len(aim.gains):
            reached += tally.found[number] / k
            counted += 1
        elif tally.before[number]:
            reached += tally.gain[number] / aim.gains[min(k, tally.before[number])]
            counted += 1
    left = len(tally.found) - 1 - aim.stop
    return (reached + left) / (counted + left) < aim.floor
