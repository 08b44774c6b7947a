"""Compiled loops over hash tables of words: shared words, added and removed words.

A table uses open addressing: word ids, and for each a number that is not ``EMPTY``. Its length is a
power of two, and it must have room.
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
    """Insert words with their numbers into a table; words without a number are left out."""
    for row in range(len(words)):
        if numbers[row] != EMPTY:
            slot = _slot_of(words[row], table)
            table[0][slot], table[1][slot] = words[row], numbers[row]


@njit(cache=True, nogil=True)
def count_word_groups(ids: HashArray, table: WordTable, counts: NumberArray) -> None:
    """Count how many of the ids have each number."""
    for term in ids:
        number = table[1][_slot_of(term, table)]
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
    """Add the words of a state between two times; return how many are new.

    The table has the last time of each word. A word that is new, or was absent for longer than
    ``memory``, is counted in ``moved`` at its return, and at its removal before.
    """
    words, last_moments = table
    new_words = 0
    for word in ids:
        slot = _slot_of(word, table)
        if last_moments[slot] == EMPTY:
            words[slot] = word
            moved[first_moment] += 1
            new_words += 1
        elif first_moment - last_moments[slot] > memory:
            moved[first_moment] += 1
            moved[last_moments[slot] + 1] += 1
        last_moments[slot] = last_moment
    return new_words


@njit(cache=True, nogil=True)
def _slot_of(word: np.uint64, table: WordTable) -> np.int64:
    """Return the slot of a word in a table, or the free slot where it belongs."""
    words, numbers = table
    mask = len(words) - 1
    slot = np.int64((word * _SPREAD) >> _HIGH) & mask
    while numbers[slot] != EMPTY and words[slot] != word:
        slot = (slot + 1) & mask
    return slot
