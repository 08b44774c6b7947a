"""Compiled word counting: fold code points, hash words, count hashes."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FlagArray, HashArray, TermCountArray
from freshet.view.case_folding import EXPANDS, JOINS, LOW_BITS, Codes
from freshet.view.character_classes import APOSTROPHE, MARK, OTHER, SELECTOR, UNSPACED, WORD
from freshet.view.kernels.markup import mix_bits

SEED = 0x9E37_79B9_7F4A_7C15
FNV_PRIME = 0x0000_0100_0000_01B3

_SEED, _PRIME = np.uint64(SEED), np.uint64(FNV_PRIME)


@njit(cache=True)
def folded_length(codes: Codes, table: Codes, starts: Codes) -> int:
    """Return the length of the folded text, or -1 if a character may join with another."""
    length, limit = len(codes), len(table)
    for code in codes:
        entry = table[code] if code < limit else 0
        if entry & JOINS:
            return -1
        if entry & EXPANDS:
            row = entry & LOW_BITS
            length += starts[row + 1] - starts[row] - 1
    return length


@njit(cache=True)
def fold_codes(codes: Codes, folding: tuple[Codes, Codes, Codes], length: int) -> Codes:
    """Fold every code point by itself into a text of the given length."""
    table, starts, expansions = folding
    folded = np.empty(length, np.uint32)
    position, limit = 0, len(table)
    for code in codes:
        entry = table[code] if code < limit else code
        if code < limit and entry & EXPANDS:
            row = entry & LOW_BITS
            for index in range(starts[row], starts[row + 1]):
                folded[position] = expansions[index]
                position += 1
        else:
            folded[position] = entry
            position += 1
    return folded


@njit(cache=True, nogil=True)
def word_ids(codes: NDArray[np.unsignedinteger], classes: FlagArray) -> HashArray:
    """Return the term id of every word in order."""
    ids = np.empty(len(codes), np.uint64)
    word_count, position = 0, 0
    while position < len(codes):
        kind = classes[codes[position]]
        if kind in (OTHER, APOSTROPHE, SELECTOR):
            position += 1
            continue
        word_hash = _absorb(_SEED, codes[position])
        position += 1
        while position < len(codes) and _goes_on(codes, classes, position, kind != UNSPACED):
            word_hash = _absorb(word_hash, codes[position])
            position += 1
        ids[word_count] = mix_bits(word_hash)
        word_count += 1
    return ids[:word_count].copy()


@njit(cache=True)
def count_ids(ids: HashArray) -> tuple[HashArray, TermCountArray]:
    """Count equal ids in an open-addressing table; return nothing if ids were made to collide."""
    size = 16
    while size < 2 * len(ids):
        size *= 2
    keys, counts = np.empty(size, np.uint64), np.zeros(size, np.uint32)
    used = np.empty(len(ids), np.int64)
    distinct, remaining_steps = 0, 32 * size
    for term in ids:
        slot = np.int64(term & np.uint64(size - 1))
        while counts[slot] != 0 and keys[slot] != term and remaining_steps > 0:
            slot = (slot + 1) & (size - 1)
            remaining_steps -= 1
        if remaining_steps == 0:
            return keys[:0], counts[:0]
        if counts[slot] == 0:
            keys[slot] = term
            used[distinct] = slot
            distinct += 1
        counts[slot] += 1
    return keys[used[:distinct]], counts[used[:distinct]]


@njit(cache=True)
def _goes_on(
    codes: NDArray[np.unsignedinteger], classes: FlagArray, position: int, grows: bool
) -> bool:
    """Return whether the character at a position belongs to the word before it."""
    kind = classes[codes[position]]
    if kind == WORD:
        return grows
    if kind in (MARK, SELECTOR):
        return True
    if kind != APOSTROPHE or not grows or position + 1 == len(codes):
        return False
    following = classes[codes[position + 1]]
    return bool(following in (WORD, MARK))


@njit(cache=True)
def _absorb(word_hash: np.uint64, code: int) -> np.uint64:
    """Mix the UTF-8 bytes of a code point into a word's hash (FNV-1a)."""
    wide = np.uint64(code)
    if wide < 0x80:
        return (word_hash ^ wide) * _PRIME
    if wide < 0x800:
        word_hash = (word_hash ^ (np.uint64(0xC0) | wide >> np.uint64(6))) * _PRIME
    else:
        if wide < 0x10000:
            word_hash = (word_hash ^ (np.uint64(0xE0) | wide >> np.uint64(12))) * _PRIME
        else:
            word_hash = (word_hash ^ (np.uint64(0xF0) | wide >> np.uint64(18))) * _PRIME
            word_hash = (word_hash ^ _tail(wide >> np.uint64(12))) * _PRIME
        word_hash = (word_hash ^ _tail(wide >> np.uint64(6))) * _PRIME
    return (word_hash ^ _tail(wide)) * _PRIME


@njit(cache=True)
def _tail(bits: np.uint64) -> np.uint64:
    """Return a continuation byte of UTF-8."""
    return np.uint64(0x80) | bits & np.uint64(0x3F)
