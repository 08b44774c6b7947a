"""Compiled selection by classes: the best, and at the last score the lowest tie break values."""

import numpy as np
from numba import njit

from freshet.backtest.class_crawl.tables import CLASS_COUNT, ClassVisits, HistoryClasses, Ints
from freshet.core.hashing import TIE_BREAK_RANGE
from freshet.core.types import FloatArray
from freshet.formula.kernels import splitmix64

_U = np.uint64
_HIGHEST_LOT, _MARGIN = 2**64 - 1, 5.0


@njit(cache=True, nogil=True)
def select_all(classes: HistoryClasses) -> ClassVisits:
    """Select all members of all classes."""
    count = classes.counts[CLASS_COUNT]
    sizes = classes.ends[:count] - classes.starts[:count]
    return ClassVisits(np.arange(count), sizes, np.zeros(count, np.int64))


@njit(cache=True, nogil=True)
def select_best(classes: HistoryClasses, k: int, key: np.uint64) -> ClassVisits:
    """Select the k members of the highest scores, and move them to the front of their classes."""
    count = classes.counts[CLASS_COUNT]
    scores, sizes = classes.scores[:count], classes.ends[:count] - classes.starts[:count]
    cut_score, missing = _find_cut(scores.copy(), sizes.copy(), k)
    class_indices, visit_counts, selected, members_at_cut = (
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        0,
        0,
    )
    for class_index in range(count):
        if scores[class_index] >= cut_score:
            class_indices[selected], visit_counts[selected] = class_index, sizes[class_index]
            members_at_cut += sizes[class_index] if scores[class_index] == cut_score else 0
            selected += 1
    if missing < members_at_cut:
        member_indices = _lowest_tie_breaks(
            classes, class_indices[:selected], cut_score, missing, key
        )
        _move_to_front(classes, class_indices[:selected], visit_counts, cut_score, member_indices)
        selected = _drop_unvisited(class_indices, visit_counts, selected)
    return ClassVisits(
        class_indices[:selected], visit_counts[:selected], np.zeros(selected, np.int64)
    )


@njit(cache=True, nogil=True)
def _find_cut(scores: FloatArray, sizes: Ints, k: int) -> tuple[float, int]:
    """Return the score at which k members are reached, and how many of that score are needed.

    Quickselect: both arrays are reordered while the range that contains the cut shrinks.
    """
    low, high, needed = 0, len(scores), k
    while True:
        pivot = _median(scores[low], scores[(low + high) // 2], scores[high - 1])
        above, below, higher, equal = _partition(scores, sizes, low, high, pivot)
        if needed <= higher:
            high = above
        elif needed <= higher + equal:
            return pivot, needed - higher
        else:
            needed -= higher + equal
            low = below


@njit(cache=True, nogil=True)
def _partition(
    scores: FloatArray, sizes: Ints, low: int, high: int, pivot: float
) -> tuple[int, int, int, int]:
    """Partition scores into those above, equal to and below the pivot.

    Return the end of the first part, the start of the last, and the members above and on the pivot.
    """
    above, index, below, higher, equal = low, low, high, 0, 0
    while index < below:
        score, size = scores[index], sizes[index]
        if score > pivot:
            scores[index], sizes[index] = scores[above], sizes[above]
            scores[above], sizes[above] = score, size
            higher += size
            above += 1
            index += 1
        elif score < pivot:
            below -= 1
            scores[index], sizes[index] = scores[below], sizes[below]
            scores[below], sizes[below] = score, size
        else:
            equal += size
            index += 1
    return above, below, higher, equal


@njit(cache=True, nogil=True)
def _median(first: float, second: float, third: float) -> float:
    return max(min(first, second), min(max(first, second), third))


@njit(cache=True, nogil=True)
def _lowest_tie_breaks(
    classes: HistoryClasses, class_indices: Ints, cut: float, k: int, key: np.uint64
) -> Ints:
    """Return the indices, in order, of the k members at the cut with the lowest tie break values.

    The values are uniform, so a bound nearly always leaves little more than k of them to sort.
    """
    classes_at_cut = class_indices[classes.scores[class_indices] == cut]
    size = (classes.ends[classes_at_cut] - classes.starts[classes_at_cut]).sum()
    tie_breaks, member_indices = np.empty(size, np.uint64), np.empty(size, np.int64)
    bound_share, count = (k + _MARGIN * np.sqrt(k) + _MARGIN) / size, 0
    while count < k:
        bound, count = (
            _U(_HIGHEST_LOT) if bound_share >= 1.0 else _U(bound_share * TIE_BREAK_RANGE),
            0,
        )
        for class_index in classes_at_cut:
            for member in range(classes.starts[class_index], classes.ends[class_index]):
                tie_break = splitmix64(_U(classes.members[member]) + key)
                tie_breaks[count], member_indices[count] = tie_break, member
                count += 1 if tie_break <= bound else 0
        bound_share *= 2.0
    highest = np.partition(tie_breaks[:count], k - 1)[k - 1]
    selected: Ints = member_indices[:count][tie_breaks[:count] <= highest]
    return selected


@njit(cache=True, nogil=True)
def _move_to_front(
    classes: HistoryClasses,
    class_indices: Ints,
    visit_counts: Ints,
    cut_score: float,
    member_indices: Ints,
) -> None:
    """Move the members at these ascending indices to the front of their classes."""
    members, position = classes.members, 0
    for row in range(len(class_indices)):
        if classes.scores[class_indices[row]] != cut_score:
            continue
        first, end = classes.starts[class_indices[row]], classes.ends[class_indices[row]]
        visit_counts[row] = 0
        while position < len(member_indices) and first <= member_indices[position] < end:
            member = member_indices[position]
            members[first], members[member] = members[member], members[first]
            first += 1
            visit_counts[row] += 1
            position += 1


@njit(cache=True, nogil=True)
def _drop_unvisited(class_indices: Ints, visit_counts: Ints, count: int) -> int:
    """Drop classes without a visit; return how many stay."""
    count_kept = 0
    for row in range(count):
        class_indices[count_kept], visit_counts[count_kept] = class_indices[row], visit_counts[row]
        count_kept += 1 if visit_counts[row] else 0
    return count_kept


@njit(cache=True, nogil=True)
def discounted_gain(scores: FloatArray, visited: ClassVisits, gains: FloatArray) -> float:
    """Return the discounted gain, averaged over the order of equal scores."""
    order = np.argsort(-scores[visited.class_indices])
    class_indices, visit_counts, change_counts = (
        visited.class_indices[order],
        visited.visit_counts[order],
        visited.change_counts[order],
    )
    total, rank, row = 0.0, 0, 0
    while row < len(class_indices):
        score, size, group_changes = scores[class_indices[row]], 0, 0
        while row < len(class_indices) and scores[class_indices[row]] == score:
            size += visit_counts[row]
            group_changes += change_counts[row]
            row += 1
        total += group_changes * (gains[rank + size] - gains[rank]) / size
        rank += size
    return total
