"""The compiled loops of curves, over tables of words: which are shared, which come and go.

A table is open in its addresses: words and, beside each, a number that is not ``EMPTY``; its
length is a power of two, and it must have room.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import HashArray

NumberArray = NDArray[np.int64]
WordTable = tuple[HashArray, NumberArray]

EMPTY = -1
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HIGH = np.uint64(24)


def empty_word_table(words: int) -> WordTable:
    """Return an empty table that so many words fill by half at most."""
    room = 1 << (2 * words).bit_length()
    return np.zeros(room, np.uint64), np.full(room, EMPTY, np.int64)


@njit(cache=True, nogil=True)
def insert_words(words: HashArray, numbers: NumberArray, table: WordTable) -> None:
    """Put words with their numbers into a table; those that have no number are left out."""
    for at in range(len(words)):
        if numbers[at] != EMPTY:
            to = _place(words[at], table)
            table[0][to], table[1][to] = words[at], numbers[at]


@njit(cache=True, nogil=True)
def count_word_groups(ids: HashArray, table: WordTable, counts: NumberArray) -> None:
    """Count how many of the ids have each of the numbers."""
    for term in ids:
        number = table[1][_place(term, table)]
        if number != EMPTY:
            counts[number] += 1


@njit(cache=True, nogil=True)
def add_state(
    ids: HashArray,
    first_moment: int,
    last_moment: int,
    memory: int,
    table: WordTable,
    moved: NumberArray,
) -> int:
    """Take the words of a state that lasted from one moment to another; return how many are new.

    The table has for each word the last moment that showed it. A word that is new, or was away
    for longer than ``memory``, is counted into ``moved`` at its coming, and at its going before.
    """
    words, last = table
    new = 0
    for term in ids:
        at = _place(term, table)
        if last[at] == EMPTY:
            words[at] = term
            moved[first_moment] += 1
            new += 1
        elif first_moment - last[at] > memory:
            moved[first_moment] += 1
            moved[last[at] + 1] += 1
        last[at] = last_moment
    return new


@njit(cache=True, nogil=True)
def _place(term: np.uint64, table: WordTable) -> np.int64:
    """Return where a word is in a table, or where it would be."""
    words, numbers = table
    mask = len(words) - 1
    at = np.int64((term * _SPREAD) >> _HIGH) & mask
    while numbers[at] != EMPTY and words[at] != term:
        at = (at + 1) & mask
    return at
