"""The best of many by their scores, exactly k of them, with ties in a seeded order."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import PageIds
from freshet.core.tie_break import scrambled
from freshet.core.types import Floats, Ids

Places = NDArray[np.intp]
Draw = Callable[[PageIds], Ids]


def lottery(seed: int, moment: float = 0.0) -> Draw:
    """Return what draws a lot for every page: the same at the same moment, in whatever order."""
    key = lot_key(seed, moment)
    return lambda ids: scrambled(ids.view(np.uint64) + key)


def lot_key(seed: int, moment: float = 0.0) -> np.uint64:
    """Return what the lots of a moment are drawn with: it is added to a page's id and mixed in."""
    key = scrambled(np.array([seed], np.int64).view(np.uint64))
    key = scrambled(key + np.array([moment], np.float64).view(np.uint64))
    return np.uint64(key[0])


def lot_keys(seed: int, moments: Iterable[float]) -> Ids:
    """Return what the lots of each moment are drawn with.

    >>> lot_keys(1, [0.0, 5.0])[1] == lot_key(1, 5.0)
    np.True_
    """
    return np.array([lot_key(seed, each) for each in moments], np.uint64)


def best(scores: Floats, k: int, lots: Callable[[Places], Ids]) -> Places:
    """Return the places of the k highest scores, best first; equal ones by the lots they draw."""
    if k <= 0:
        return np.empty(0, np.intp)
    places = _reaching(scores, k, lots) if k < len(scores) else np.arange(len(scores))
    return places[np.lexsort((lots(places), -scores[places]))]


def _reaching(scores: Floats, k: int, lots: Callable[[Places], Ids]) -> Places:
    """Return the places of the k highest scores, in no order, where there are more than k."""
    cut = np.partition(scores, len(scores) - k)[len(scores) - k]
    reaching = np.flatnonzero(scores >= cut)
    higher = scores[reaching] > cut
    above, level = reaching[higher], reaching[~higher]
    missing = k - len(above)
    if missing < len(level):
        level = level[np.argpartition(lots(level), missing)[:missing]]
    return np.concatenate((above, level))
