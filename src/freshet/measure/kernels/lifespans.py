"""Compiled loops over words: when each was present, and merging sorted tables of counts.

Word ids are hashes, so that their low bits are the slot in a table.
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
    """Return the slot of a word, or the free slot where it belongs."""
    keys, rows = slots
    last = np.uint64(len(keys) - 1)
    slot = word & last
    while rows[slot] != FREE_SLOT and keys[slot] != word:
        slot = (slot + np.uint64(1)) & last
    return slot


@njit(cache=True, nogil=True)
def insert_words(slots: SlotTable, ids: HashArray) -> None:
    """Insert words into an empty table, each with its row."""
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
    used: int,
) -> int:
    """Record that a version's words were present between two grid points.

    Returns the number of words so far; the columns must have room for all new words.
    """
    keys, rows = slots
    words, first, last, present, spells, totals = columns
    begin, end = stretch
    for index in range(len(ids)):
        slot = find_slot(slots, ids[index])
        if rows[slot] == FREE_SLOT:
            keys[slot] = words[used] = ids[index]
            rows[slot] = used
            first[used] = begin
            last[used] = NEVER_SHOWN
            present[used] = spells[used] = totals[used] = 0
            used += 1
        row = rows[slot]
        spells[row] += last[row] != begin - 1
        last[row] = end - 1
        present[row] += end - begin
        totals[row] += np.int64(counts[index]) * (end - begin)
    return used


@njit(cache=True, nogil=True)
def extend_spans(
    wanted: HashArray,
    latest: IndexArray,
    spans: SpanColumns,
    ids: HashArray,
    stretch: tuple[int, int],
    used: int,
) -> int:
    """Extend or start the span of each wanted word that a version has; both are sorted."""
    word, begins, ends = spans
    begin, end = stretch
    index = 0
    for row in range(len(wanted)):
        while index < len(ids) and ids[index] < wanted[row]:
            index += 1
        if index == len(ids):
            break
        if ids[index] != wanted[row]:
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
    """Return the words of both sides, sorted, with the sums of their counts."""
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
    """Return the count of each word, in any order; 0 for unknown words."""
    word_counts = np.zeros(len(words), dtype=np.float64)
    positions = np.searchsorted(ids, words)
    for row in range(len(words)):
        if positions[row] < len(ids) and ids[positions[row]] == words[row]:
            word_counts[row] = counts[positions[row]]
    return word_counts
