"""The compiled choice by classes: the best, and of the last score those with the lowest lots."""

import numpy as np
from numba import njit

from freshet.backtest.class_crawl.tables import CLASS_COUNT, ClassVisits, HistoryClasses, Ints
from freshet.core.tie_break import TIE_BREAK_RANGE
from freshet.core.types import FloatArray
from freshet.formula.kernels import splitmix64

_U = np.uint64
_HIGHEST_LOT, _MARGIN = 2**64 - 1, 5.0


@njit(cache=True, nogil=True)
def select_all(classes: HistoryClasses) -> ClassVisits:
    """Choose all members of all classes."""
    count = classes.counts[CLASS_COUNT]
    sizes = classes.ends[:count] - classes.starts[:count]
    return ClassVisits(np.arange(count), sizes, np.zeros(count, np.int64))


@njit(cache=True, nogil=True)
def select_best(classes: HistoryClasses, k: int, key: np.uint64) -> ClassVisits:
    """Choose the k members of the highest scores, and put those of a class in front."""
    count = classes.counts[CLASS_COUNT]
    scores, sizes = classes.scores[:count], classes.ends[:count] - classes.starts[:count]
    cut, missing = _cut_at(scores.copy(), sizes.copy(), k)
    which, taken, chosen, level = np.empty(count, np.int64), np.empty(count, np.int64), 0, 0
    for place in range(count):
        if scores[place] >= cut:
            which[chosen], taken[chosen] = place, sizes[place]
            level += sizes[place] if scores[place] == cut else 0
            chosen += 1
    if missing < level:
        places = _drawn(classes, which[:chosen], cut, missing, key)
        _take_in_front(classes, which[:chosen], taken, cut, places)
        chosen = _without_idle(which, taken, chosen)
    return ClassVisits(which[:chosen], taken[:chosen], np.zeros(chosen, np.int64))


@njit(cache=True, nogil=True)
def _cut_at(scores: FloatArray, sizes: Ints, k: int) -> tuple[float, int]:
    """Return the score at which k members are reached, and how many of that score are needed.

    Both arrays are put into another order: the part that holds the cut grows smaller and smaller.
    """
    low, high, missing = 0, len(scores), k
    while True:
        pivot = _middle(scores[low], scores[(low + high) // 2], scores[high - 1])
        above, below, higher, equal = _parted(scores, sizes, low, high, pivot)
        if missing <= higher:
            high = above
        elif missing <= higher + equal:
            return pivot, missing - higher
        else:
            missing -= higher + equal
            low = below


@njit(cache=True, nogil=True)
def _parted(
    scores: FloatArray, sizes: Ints, low: int, high: int, pivot: float
) -> tuple[int, int, int, int]:
    """Put scores above the pivot first and those below it last.

    Return where the first end and the last begin, and how many members lie above and on the pivot.
    """
    above, place, below, higher, equal = low, low, high, 0, 0
    while place < below:
        score, size = scores[place], sizes[place]
        if score > pivot:
            scores[place], sizes[place] = scores[above], sizes[above]
            scores[above], sizes[above] = score, size
            higher += size
            above += 1
            place += 1
        elif score < pivot:
            below -= 1
            scores[place], sizes[place] = scores[below], sizes[below]
            scores[below], sizes[below] = score, size
        else:
            equal += size
            place += 1
    return above, below, higher, equal


@njit(cache=True, nogil=True)
def _middle(one: float, two: float, three: float) -> float:
    return max(min(one, two), min(max(one, two), three))


@njit(cache=True, nogil=True)
def _drawn(classes: HistoryClasses, which: Ints, cut: float, k: int, key: np.uint64) -> Ints:
    """Return the places, in order, of the k members at the cut that draw the lowest lots.

    Lots are spread evenly, so that nearly always little more than k of them are looked at twice.
    """
    level = which[classes.scores[which] == cut]
    size = (classes.ends[level] - classes.starts[level]).sum()
    lots, places = np.empty(size, np.uint64), np.empty(size, np.int64)
    share, found = (k + _MARGIN * np.sqrt(k) + _MARGIN) / size, 0
    while found < k:
        bound, found = _U(_HIGHEST_LOT) if share >= 1.0 else _U(share * TIE_BREAK_RANGE), 0
        for place in level:
            for member in range(classes.starts[place], classes.ends[place]):
                lot = splitmix64(_U(classes.members[member]) + key)
                lots[found], places[found] = lot, member
                found += 1 if lot <= bound else 0
        share *= 2.0
    highest = np.partition(lots[:found], k - 1)[k - 1]
    drawn: Ints = places[:found][lots[:found] <= highest]
    return drawn


@njit(cache=True, nogil=True)
def _take_in_front(
    classes: HistoryClasses, which: Ints, taken: Ints, cut: float, places: Ints
) -> None:
    """Put the members at these places, which are in order, in front of their classes."""
    members, at = classes.members, 0
    for place in range(len(which)):
        if classes.scores[which[place]] != cut:
            continue
        first, end = classes.starts[which[place]], classes.ends[which[place]]
        taken[place] = 0
        while at < len(places) and first <= places[at] < end:
            member = places[at]
            members[first], members[member] = members[member], members[first]
            first += 1
            taken[place] += 1
            at += 1


@njit(cache=True, nogil=True)
def _without_idle(which: Ints, taken: Ints, count: int) -> int:
    """Leave out classes of which nobody is visited; return how many stay."""
    kept = 0
    for place in range(count):
        which[kept], taken[kept] = which[place], taken[place]
        kept += 1 if taken[place] else 0
    return kept


@njit(cache=True, nogil=True)
def discounted_gain(scores: FloatArray, visited: ClassVisits, gains: FloatArray) -> float:
    """Return the discounted gain of the finds, in the mean over the order of equal scores."""
    order = np.argsort(-scores[visited.class_indices])
    which, taken, found = (
        visited.class_indices[order],
        visited.visit_counts[order],
        visited.change_counts[order],
    )
    total, reached, place = 0.0, 0, 0
    while place < len(which):
        score, size, hits = scores[which[place]], 0, 0
        while place < len(which) and scores[which[place]] == score:
            size += taken[place]
            hits += found[place]
            place += 1
        total += hits * (gains[reached + size] - gains[reached]) / size
        reached += size
    return total
