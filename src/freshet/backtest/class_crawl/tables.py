"""What the compiled crawl hands from step to step; tuples, since these can be compiled."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FlagArray, FloatArray

Ints = NDArray[np.int64]
PageNumbers = NDArray[np.int32]
TieBreakKeys = NDArray[np.uint64]

CLASS_COUNT, SCORED_COUNT, MEMBER_COUNT = range(3)


class CompiledTrace(NamedTuple):
    """What is crawled: the bits of a trace, its pages, visits a cycle, and keys of the lots."""

    changed: FlagArray
    pages: int
    k: int
    tie_break_keys: TieBreakKeys


class CompiledFormula(NamedTuple):
    """What ranks: a program, the numbers of its names, the sums that it needs, and their clock.

    ``depends_on_age`` says whether scores change from cycle to cycle without a look.
    """

    steps: Ints
    numbers: FloatArray
    name_indices: Ints
    needed_sums: Ints
    by_cycle: bool
    depends_on_age: bool


class FitnessTarget(NamedTuple):
    """What counts: the gains of the first places, or with none of them the finds alone.

    After the cycle ``stop_cycle`` a crawl is given up whose mean cannot reach the floor any more.
    """

    gains: FloatArray
    stop_cycle: int
    floor: float


class HistoryClasses(NamedTuple):
    """Classes as columns: their members from ``starts`` to ``ends``, last ``last_visits``, and sums.

    ``counts`` holds how many classes there are, how many of them have scores, and how far members
    are filled.
    """

    starts: Ints
    ends: Ints
    last_visits: Ints
    sums: FloatArray
    scores: FloatArray
    members: PageNumbers
    counts: Ints


class ClassVisits(NamedTuple):
    """Classes of which members are visited, how many, and how many of these were stale."""

    class_indices: Ints
    visit_counts: Ints
    change_counts: Ints
