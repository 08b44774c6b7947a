"""What the compiled crawl hands from step to step; tuples, since these can be compiled."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import Flags, Floats

Ints = NDArray[np.int64]
Members = NDArray[np.int32]
Lots = NDArray[np.uint64]

COUNT, SCORED, FILLED = range(3)


class Web(NamedTuple):
    """What is crawled: the bits of a trace, its pages, visits a cycle, and keys of the lots."""

    changed: Flags
    pages: int
    k: int
    keys: Lots


class Code(NamedTuple):
    """What ranks: a program, the numbers of its names, the sums that it needs, and their clock.

    ``ages`` says whether scores change from cycle to cycle without a look.
    """

    steps: Ints
    numbers: Floats
    names: Ints
    needs: Ints
    by_cycle: bool
    ages: bool


class Aim(NamedTuple):
    """What counts: the gains of the first places, or with none of them the finds alone.

    After the cycle ``stop`` a crawl is given up whose mean cannot reach the floor any more.
    """

    gains: Floats
    stop: int
    floor: float


class Classes(NamedTuple):
    """Classes as columns: their members from ``starts`` to ``ends``, last ``seen``, and sums.

    ``counts`` holds how many classes there are, how many of them have scores, and how far members
    are filled.
    """

    starts: Ints
    ends: Ints
    seen: Ints
    rows: Floats
    scores: Floats
    members: Members
    counts: Ints


class Visited(NamedTuple):
    """Classes of which members are visited, how many, and how many of these were stale."""

    which: Ints
    taken: Ints
    found: Ints
