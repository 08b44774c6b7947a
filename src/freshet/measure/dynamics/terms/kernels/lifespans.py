"""The compiled loops over words: where each was shown, and two sorted tables of counts in one.

Term ids are hashes already, so that their low bits serve as the place in a table.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, IndexArray, TermCountArray

TotalArray = NDArray[np.int64]
SlotTable = tuple[HashArray, IndexArray]
LifespanColumns = tuple[HashArray, IndexArray, IndexArray, IndexArray, IndexArray, TotalArray]
SpanColumns = tuple[IndexArray, IndexArray, IndexArray]

FREE_SLOT = -1
NEVER_SHOWN = -2


@njit(cache=True, nogil=True)
def find_slot(slots: SlotTable, word: np.uint64) -> np.uint64:
    """Return the slot that holds a word, or the free one where it belongs."""
    keys, rows = slots
    last = np.uint64(len(keys) - 1)
    slot = word & last
    while rows[slot] != FREE_SLOT and keys[slot] != word:
        slot = (slot + np.uint64(1)) & last
    return slot


@njit(cache=True, nogil=True)
def insert_words(slots: SlotTable, ids: HashArray) -> None:
    """Put words into an empty table, each under its row."""
    keys, rows = slots
    for row in range(len(ids)):
        slot = find_slot(slots, ids[row])
        keys[slot] = ids[row]
        rows[slot] = row


@njit(cache=True, nogil=True)
def add_version(
    slots: SlotTable,
    columns: LifespanColumns,
    ids: HashArray,
    counts: TermCountArray,
    stretch: tuple[int, int],
    known: int,
) -> int:
    """Note that a version's words were there from one grid time up to another.

    Returns how many words are known then; the columns must have room for all that may be new.
    """
    keys, rows = slots
    words, first, last, present, spells, totals = columns
    begin, end = stretch
    for place in range(len(ids)):
        slot = find_slot(slots, ids[place])
        if rows[slot] == FREE_SLOT:
            keys[slot] = words[known] = ids[place]
            rows[slot] = known
            first[known] = begin
            last[known] = NEVER_SHOWN
            present[known] = spells[known] = totals[known] = 0
            known += 1
        row = rows[slot]
        spells[row] += last[row] != begin - 1
        last[row] = end - 1
        present[row] += end - begin
        totals[row] += np.int64(counts[place]) * (end - begin)
    return known


@njit(cache=True, nogil=True)
def extend_spans(
    wanted: HashArray,
    latest: IndexArray,
    spans: SpanColumns,
    ids: HashArray,
    stretch: tuple[int, int],
    used: int,
) -> int:
    """Lengthen or begin the span of every wanted word that a version holds; both sides sorted."""
    word, begins, ends = spans
    begin, end = stretch
    place = 0
    for row in range(len(wanted)):
        while place < len(ids) and ids[place] < wanted[row]:
            place += 1
        if place == len(ids):
            break
        if ids[place] != wanted[row]:
            continue
        if latest[row] == FREE_SLOT or ends[latest[row]] != begin:
            latest[row], word[used], begins[used] = used, row, begin
            used += 1
        ends[latest[row]] = end
    return used


@njit(cache=True, nogil=True)
def add_counts(
    a_ids: HashArray, a_counts: TotalArray, b_ids: HashArray, b_counts: TotalArray
) -> tuple[HashArray, TotalArray]:
    """Return the words of either side, sorted, with the sums of their counts."""
    ids = np.empty(len(a_ids) + len(b_ids), dtype=np.uint64)
    counts = np.zeros(len(a_ids) + len(b_ids), dtype=np.int64)
    i = j = cell = 0
    while i < len(a_ids) or j < len(b_ids):
        from_a = j == len(b_ids) or (i < len(a_ids) and a_ids[i] <= b_ids[j])
        from_b = i == len(a_ids) or (j < len(b_ids) and b_ids[j] <= a_ids[i])
        if from_a:
            ids[cell] = a_ids[i]
            counts[cell] += a_counts[i]
            i += 1
        if from_b:
            ids[cell] = b_ids[j]
            counts[cell] += b_counts[j]
            j += 1
        cell += 1
    return ids[:cell].copy(), counts[:cell].copy()


@njit(cache=True, nogil=True)
def look_up_counts(ids: HashArray, counts: TotalArray, words: HashArray) -> FloatArray:
    """Return the count of each word, in any order; nought for those that are not there."""
    found = np.zeros(len(words), dtype=np.float64)
    places = np.searchsorted(ids, words)
    for row in range(len(words)):
        if places[row] < len(ids) and ids[places[row]] == words[row]:
            found[row] = counts[places[row]]
    return found
