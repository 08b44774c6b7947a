"""Compiled loops over the rows of many versions: numbering, ordering, and passing down a tree."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import HashArray, IndexArray

BoolArray = NDArray[np.bool_]
PositionArray = NDArray[np.int64]

_U = np.uint64
_PRIME = _U(0x9E3779B97F4A7C15)
_FIRST_ROOM = 1 << 10
NO_PARENT = -1


@njit(cache=True, nogil=True)
def _slot_of(value: np.uint64, slots: IndexArray, distinct: HashArray) -> int:
    """Return where a value lies in an open-addressing table, or where it would."""
    last = slots.size - 1
    slot = int((value * _PRIME) >> _U(32)) & last
    while slots[slot] != 0 and distinct[slots[slot] - 1] != value:
        slot = (slot + 1) & last
    return slot


@njit(cache=True, nogil=True)
def _grown(distinct: HashArray) -> tuple[HashArray, IndexArray]:
    """Return the values with room for as many again, and their table."""
    larger, slots = np.empty(2 * distinct.size, np.uint64), np.zeros(4 * distinct.size, np.int32)
    larger[: distinct.size] = distinct
    for place in range(distinct.size):
        slots[_slot_of(distinct[place], slots, larger)] = place + 1
    return larger, slots


@njit(cache=True, nogil=True)
def number_values(values: HashArray, numbers: IndexArray) -> HashArray:
    """Number the distinct values in the order in which they come, and return them in it."""
    distinct = np.empty(_FIRST_ROOM, np.uint64)
    slots, size = np.zeros(2 * _FIRST_ROOM, np.int32), 0
    for at in range(values.size):
        if size == distinct.size:
            distinct, slots = _grown(distinct)
        slot = _slot_of(values[at], slots, distinct)
        if slots[slot] == 0:
            distinct[size] = values[at]
            size += 1
            slots[slot] = size
        numbers[at] = slots[slot] - 1
    return distinct[:size].copy()


@njit(cache=True, nogil=True)
def counting_sort(keys: IndexArray, order: PositionArray, largest: int) -> PositionArray:
    """Return an order sorted by small numbers, equal ones left as they were (a counting sort)."""
    ends = np.zeros(largest + 2, np.int64)
    for key in keys:
        ends[key + 1] += 1
    for key in range(1, ends.size):
        ends[key] += ends[key - 1]
    sorted_order = np.empty(order.size, np.int64)
    for at in order:
        sorted_order[ends[keys[at]]] = at
        ends[keys[at]] += 1
    return sorted_order


@njit(cache=True, nogil=True)
def mark_descendants(parents: IndexArray, marked: BoolArray) -> None:
    """Mark all that lies beneath a mark; parents come before their children."""
    for at in range(parents.size):
        if parents[at] >= 0 and marked[parents[at]]:
            marked[at] = True


@njit(cache=True, nogil=True)
def gather_block_texts(
    parents: IndexArray, is_block: BoolArray, own_text: HashArray, all_text: HashArray
) -> tuple[BoolArray, BoolArray, HashArray]:
    """Return which elements are blocks that hold text, which of them are innermost, and the text.

    The text of an inline element is that of the block around it. An innermost block's text is all
    beneath it; that of any other is what no block inside it holds.
    """
    size = parents.size
    block, text = np.empty(size, np.int64), np.zeros(size, np.uint64)
    holds, outer = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    for at in range(size):
        above = parents[at]
        block[at] = at if is_block[at] or above < 0 else block[above]
        if own_text[at] != 0:
            holds[block[at]] = True
            text[block[at]] = text[block[at]] * _PRIME + own_text[at]
    for at in range(size - 1, -1, -1):
        if parents[at] >= 0 and (holds[at] or outer[at]):
            outer[parents[at]] = True
    for at in range(size):
        if holds[at] and not outer[at]:
            text[at] = all_text[at]
    return holds, holds & ~outer, text
