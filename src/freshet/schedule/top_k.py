"""The best of many by their scores, exactly k of them, with ties in a seeded order."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import PageIdArray
from freshet.core.tie_break import splitmix64
from freshet.core.types import FloatArray, HashArray

RowPositions = NDArray[np.intp]
TieBreaker = Callable[[PageIdArray], HashArray]


def tie_breaker(seed: int, moment: float = 0.0) -> TieBreaker:
    """Return what draws a lot for every page: the same at the same moment, in whatever order."""
    key = tie_break_key(seed, moment)
    return lambda ids: splitmix64(ids.view(np.uint64) + key)


def tie_break_key(seed: int, moment: float = 0.0) -> np.uint64:
    """Return what the lots of a moment are drawn with: it is added to a page's id and mixed in."""
    key = splitmix64(np.array([seed], np.int64).view(np.uint64))
    key = splitmix64(key + np.array([moment], np.float64).view(np.uint64))
    return np.uint64(key[0])


def tie_break_keys(seed: int, moments: Iterable[float]) -> HashArray:
    """Return what the lots of each moment are drawn with.

    >>> tie_break_keys(1, [0.0, 5.0])[1] == tie_break_key(1, 5.0)
    np.True_
    """
    return np.array([tie_break_key(seed, each) for each in moments], np.uint64)


def top_k(
    scores: FloatArray, k: int, tie_breaks: Callable[[RowPositions], HashArray]
) -> RowPositions:
    """Return the places of the k highest scores, best first; equal ones by the lots they draw."""
    if k <= 0:
        return np.empty(0, np.intp)
    places = _reaching(scores, k, tie_breaks) if k < len(scores) else np.arange(len(scores))
    return places[np.lexsort((tie_breaks(places), -scores[places]))]


def _reaching(
    scores: FloatArray, k: int, lots: Callable[[RowPositions], HashArray]
) -> RowPositions:
    """Return the places of the k highest scores, in no order, where there are more than k."""
    cut = np.partition(scores, len(scores) - k)[len(scores) - k]
    reaching = np.flatnonzero(scores >= cut)
    higher = scores[reaching] > cut
    above, level = reaching[higher], reaching[~higher]
    missing = k - len(above)
    if missing < len(level):
        level = level[np.argpartition(lots(level), missing)[:missing]]
    return np.concatenate((above, level))
