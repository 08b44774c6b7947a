"""Compiled loops over DOM rows: numbering, sorting, and passing values down a tree."""

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
    """Return the slot of a value in an open-addressing table."""
    last = slots.size - 1
    slot = int((value * _PRIME) >> _U(32)) & last
    while slots[slot] != 0 and distinct[slots[slot] - 1] != value:
        slot = (slot + 1) & last
    return slot


@njit(cache=True, nogil=True)
def _grown(distinct: HashArray) -> tuple[HashArray, IndexArray]:
    """Return the values with room for as many again, and a new table."""
    larger, slots = np.empty(2 * distinct.size, np.uint64), np.zeros(4 * distinct.size, np.int32)
    larger[: distinct.size] = distinct
    for row in range(distinct.size):
        slots[_slot_of(distinct[row], slots, larger)] = row + 1
    return larger, slots


@njit(cache=True, nogil=True)
def number_values(values: HashArray, numbers: IndexArray) -> HashArray:
    """Number the distinct values in order of appearance, and return them."""
    distinct = np.empty(_FIRST_ROOM, np.uint64)
    slots, size = np.zeros(2 * _FIRST_ROOM, np.int32), 0
    for row in range(values.size):
        if size == distinct.size:
            distinct, slots = _grown(distinct)
        slot = _slot_of(values[row], slots, distinct)
        if slots[slot] == 0:
            distinct[size] = values[row]
            size += 1
            slots[slot] = size
        numbers[row] = slots[slot] - 1
    return distinct[:size].copy()


@njit(cache=True, nogil=True)
def counting_sort(keys: IndexArray, order: PositionArray, largest: int) -> PositionArray:
    """Return an order sorted by small numbers with a stable counting sort."""
    ends = np.zeros(largest + 2, np.int64)
    for key in keys:
        ends[key + 1] += 1
    for key in range(1, ends.size):
        ends[key] += ends[key - 1]
    sorted_order = np.empty(order.size, np.int64)
    for row in order:
        sorted_order[ends[keys[row]]] = row
        ends[keys[row]] += 1
    return sorted_order


@njit(cache=True, nogil=True)
def mark_descendants(parents: IndexArray, marked: BoolArray) -> None:
    """Mark all descendants of marked rows; parents come before their children."""
    for row in range(parents.size):
        if parents[row] >= 0 and marked[parents[row]]:
            marked[row] = True


@njit(cache=True, nogil=True)
def gather_block_texts(
    parents: IndexArray, is_block: BoolArray, own_text: HashArray, all_text: HashArray
) -> tuple[BoolArray, BoolArray, HashArray]:
    """Return which elements are blocks with text, which are innermost, and their text hash.

    The text of an inline element belongs to the block around it. The text of an innermost block is
    all text beneath it; that of another block is the text outside its inner blocks.
    """
    size = parents.size
    block, text = np.empty(size, np.int64), np.zeros(size, np.uint64)
    holds, has_inner_block = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    for row in range(size):
        parent = parents[row]
        block[row] = row if is_block[row] or parent < 0 else block[parent]
        if own_text[row] != 0:
            holds[block[row]] = True
            text[block[row]] = text[block[row]] * _PRIME + own_text[row]
    for row in range(size - 1, -1, -1):
        if parents[row] >= 0 and (holds[row] or has_inner_block[row]):
            has_inner_block[parents[row]] = True
    for row in range(size):
        if holds[row] and not has_inner_block[row]:
            text[row] = all_text[row]
    return holds, holds & ~has_inner_block, text
