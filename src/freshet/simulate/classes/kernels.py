"""The compiled loops of the crawl by classes: choosing, splitting and joining members."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import Flags, Floats

Ints = NDArray[np.int64]
Members = NDArray[np.int32]

_U = np.uint64
_STEP = _U(0x9E37_79B9_7F4A_7C15)
_MIX_ONE, _MIX_TWO = _U(0xBF58_476D_1CE4_E5B9), _U(0x94D0_49BB_1331_11EB)
_HIGHEST_BIT = 128
_LOTS, _HIGHEST_LOT, _MARGIN = 2.0**64, 2**64 - 1, 5.0


@njit(cache=True, nogil=True)
def _scrambled(value: np.uint64) -> np.uint64:
    """Spread every bit of a value over all of its bits, as schedule.pick does."""
    value = value + _STEP
    value = (value ^ (value >> _U(30))) * _MIX_ONE
    value = (value ^ (value >> _U(27))) * _MIX_TWO
    return value ^ (value >> _U(31))


@njit(cache=True, nogil=True)
def lowest_lots(members: Members, starts: Ints, ends: Ints, k: int, key: np.uint64) -> np.uint64:
    """Return the k-th lowest lot that the members of some classes draw.

    Lots are spread evenly, so that nearly always only little more than k of them are looked at.
    """
    count = int((ends - starts).sum())
    share = (k + _MARGIN * np.sqrt(k) + _MARGIN) / count
    while True:
        bound = _U(_HIGHEST_LOT) if share >= 1.0 else _U(share * _LOTS)
        lots, found = np.empty(count, np.uint64), 0
        for place in range(len(starts)):
            for member in range(starts[place], ends[place]):
                lot = _scrambled(_U(members[member]) + key)
                lots[found] = lot
                found += 1 if lot <= bound else 0
        if found >= k:
            highest: np.uint64 = np.partition(lots[:found], k - 1)[k - 1]
            return highest
        share *= 2.0


@njit(cache=True, nogil=True)
def draw(members: Members, starts: Ints, ends: Ints, highest: np.uint64, key: np.uint64) -> Ints:
    """Put the members with lots up to the highest first; return how many these are by class."""
    taken = np.zeros(len(starts), np.int64)
    for place in range(len(starts)):
        first = starts[place]
        for member in range(starts[place], ends[place]):
            if _scrambled(_U(members[member]) + key) <= highest:
                members[first], members[member] = members[member], members[first]
                first += 1
        taken[place] = first - starts[place]
    return taken


@njit(cache=True, nogil=True)
def split(members: Members, starts: Ints, taken: Ints, stale: Flags) -> Ints:
    """Put the stale ones of the members taken first, make them fresh, and return their counts."""
    found = np.zeros(len(starts), np.int64)
    for place in range(len(starts)):
        first = starts[place]
        for member in range(starts[place], starts[place] + taken[place]):
            page = members[member]
            bit = _HIGHEST_BIT >> (page & 7)
            if stale[page >> 3] & bit:
                stale[page >> 3] ^= bit
                members[member] = members[first]
                members[first] = page
                first += 1
        found[place] = first - starts[place]
    return found


@njit(cache=True, nogil=True)
def alike(rows: Floats) -> tuple[Ints, Ints]:
    """Number equal rows alike; return each row's number, and the first row of each number."""
    words = rows.view(np.uint64)
    table = 16
    while table < 2 * len(rows):
        table *= 2
    held = np.full(table, -1, np.int64)
    numbers, firsts, count = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64), 0
    for row in range(len(rows)):
        hashed = _U(0)
        for word in words[row]:
            hashed = _scrambled(hashed ^ word)
        slot = np.int64(hashed & _U(table - 1))
        while held[slot] >= 0 and np.any(words[firsts[held[slot]]] != words[row]):
            slot = (slot + 1) & (table - 1)
        if held[slot] < 0:
            held[slot] = count
            firsts[count] = row
            count += 1
        numbers[row] = held[slot]
    return numbers, firsts[:count]


@njit(cache=True, nogil=True)
def join(
    members: Members, starts: Ints, ends: Ints, numbers: Ints, count: int, filled: int
) -> Ints:
    """Copy slices of members behind all others, those of one number together; return the bounds."""
    bounds = np.zeros(count + 1, np.int64)
    for place in range(len(starts)):
        bounds[numbers[place] + 1] += ends[place] - starts[place]
    bounds[0] = filled
    for number in range(count):
        bounds[number + 1] += bounds[number]
    free = bounds[:-1].copy()
    for place in range(len(starts)):
        size = ends[place] - starts[place]
        into = free[numbers[place]]
        for step in range(size):
            members[into + step] = members[starts[place] + step]
        free[numbers[place]] += size
    return bounds
