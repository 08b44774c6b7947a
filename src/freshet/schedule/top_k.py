"""Selection of the k highest scores, with ties broken in a seeded pseudo-random order."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from freshet.core.hashing import splitmix64
from freshet.core.tables import PageIdArray
from freshet.core.types import FloatArray, HashArray

RowPositions = NDArray[np.intp]
TieBreaker = Callable[[PageIdArray], HashArray]


def tie_breaker(seed: int, moment: float = 0.0) -> TieBreaker:
    """Return a function from page ids to tie breaks, which depend on seed and moment alone."""
    key = tie_break_key(seed, moment)
    return lambda ids: splitmix64(ids.view(np.uint64) + key)


def tie_break_key(seed: int, moment: float = 0.0) -> np.uint64:
    """Return the key of a moment, which is added to a page's id before hashing."""
    key = splitmix64(np.array([seed], np.int64).view(np.uint64))
    key = splitmix64(key + np.array([moment], np.float64).view(np.uint64))
    return np.uint64(key[0])


def tie_break_keys(seed: int, moments: Iterable[float]) -> HashArray:
    """Return the key of every moment.

    >>> tie_break_keys(1, [0.0, 5.0])[1] == tie_break_key(1, 5.0)
    np.True_
    """
    return np.array([tie_break_key(seed, moment) for moment in moments], np.uint64)


def top_k(
    scores: FloatArray, k: int, tie_breaks: Callable[[RowPositions], HashArray]
) -> RowPositions:
    """Return the positions of the k highest scores, best first; ties go by the lowest tie break."""
    if k <= 0:
        return np.empty(0, np.intp)
    positions = np.arange(len(scores))
    if k < len(scores):
        positions = unordered_top_k(scores, k, tie_breaks)
    return positions[np.lexsort((tie_breaks(positions), -scores[positions]))]


def kth_highest(scores: FloatArray | NDArray[np.float32], k: int) -> float:
    """Return the k-th highest score, minus infinity if there are fewer.

    >>> kth_highest(np.array([3.0, 1.0, 2.0]), 2), kth_highest(np.array([3.0]), 2)
    (2.0, -inf)
    """
    if not 0 < k <= len(scores):
        return -np.inf
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def unordered_top_k(
    scores: FloatArray, k: int, tie_breaks: Callable[[RowPositions], HashArray]
) -> RowPositions:
    """Return the positions of the k highest of more than k scores, in no order."""
    lowest = kth_highest(scores, k)
    candidates = np.flatnonzero(scores >= lowest)
    is_higher = scores[candidates] > lowest
    higher, tied = candidates[is_higher], candidates[~is_higher]
    missing = k - len(higher)
    if missing < len(tied):
        tied = tied[np.argpartition(tie_breaks(tied), missing)[:missing]]
    return np.concatenate((higher, tied))
