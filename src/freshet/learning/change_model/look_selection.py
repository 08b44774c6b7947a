"""The looks of an imagined slower crawl."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.types import FloatArray

# A page of the slower crawl is looked at this many times less often.
LEAST_SLOWNESS, MOST_SLOWNESS = 2.0, 16.0


def thin_looks(looks: MeasuredLooks, seed: int) -> MeasuredLooks:
    """Return what a slower crawl would have seen, each page at a pace of its own.

    The looks are in time order. A look is kept by chance; the first one of a page always is. It
    found a change if it or one left out since the look kept before did, unless it found the same
    text as that one. Changed words and new links are added up.
    """
    order = np.argsort(looks.pages, kind="stable")
    looks = looks.select(order)
    _, first, members = np.unique(looks.pages, return_index=True, return_inverse=True)
    rng = np.random.default_rng(seed)
    slowness = np.exp(rng.uniform(np.log(LEAST_SLOWNESS), np.log(MOST_SLOWNESS), len(first)))
    is_kept = rng.random(len(looks)) < 1 / slowness[members]
    is_kept[first] = True
    kept = np.flatnonzero(is_kept)
    if not len(kept):
        return looks
    # The looks from one kept look of a page, exclusive, to the next one, inclusive.
    starts = np.append(0, kept[:-1] + 1)
    until = looks.select(np.arange(kept[-1] + 1))
    hashes = looks.text_hashes[kept]
    is_same_text = np.append(False, (hashes[1:] == hashes[:-1]) & (hashes[1:] != 0))
    was_changed = np.logical_or.reduceat(until.changed & until.measured, starts)
    thinned = looks.select(kept)
    return replace(
        thinned,
        changed=was_changed & thinned.measured & ~is_same_text,
        words=_sums(until.words, starts),
        dice=np.fmin.reduceat(until.dice, starts),
        new_links=_sums(until.new_links, starts),
    ).in_time_order()


def _sums(values: FloatArray, starts: NDArray[np.intp]) -> FloatArray:
    """Return the sums of the known values of each part, NaN without any."""
    sums = np.add.reduceat(np.nan_to_num(values), starts)
    counts = np.add.reduceat(np.isfinite(values).astype(np.int64), starts)
    return np.where(counts > 0, sums, np.nan)
