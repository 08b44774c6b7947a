"""Tables of the compiled crawl; NamedTuples, because numba can compile them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FlagArray, FloatArray

Ints = NDArray[np.int64]
PageNumbers = NDArray[np.int32]
TieBreakKeys = NDArray[np.uint64]

CLASS_COUNT, SCORED_COUNT, MEMBER_COUNT = range(3)


class CompiledTrace(NamedTuple):
    """The crawled trace: its bits, number of pages, visits a cycle, and tie break keys."""

    changed: FlagArray
    pages: int
    k: int
    tie_break_keys: TieBreakKeys


class CompiledFormula(NamedTuple):
    """The formula: a program, the indices of its variables, the sums it needs, and their clock.

    ``depends_on_age`` says whether scores change from cycle to cycle without a look.
    """

    steps: Ints
    numbers: FloatArray
    name_indices: Ints
    needed_sums: Ints
    by_cycle: bool
    depends_on_age: bool


class FitnessTarget(NamedTuple):
    """The fitness target: cumulative gains by rank, none if NDCG does not count, and weights.

    ``weights`` are those of NDCG, ChangeRate and freshness in the fitness. After the cycle
    ``stop_cycle`` a crawl is stopped if its fitness cannot reach the floor any more.
    """

    gains: FloatArray
    stop_cycle: int
    floor: float
    weights: FloatArray


class HistoryClasses(NamedTuple):
    """Classes as columns: members from ``starts`` to ``ends``, cycle of the last visit, and sums.

    ``counts`` holds the numbers of classes, of classes with scores, and of members stored.
    """

    starts: Ints
    ends: Ints
    last_visits: Ints
    sums: FloatArray
    scores: FloatArray
    members: PageNumbers
    counts: Ints


class ClassVisits(NamedTuple):
    """Classes with visits, the number of visited members, and how many of these were stale."""

    class_indices: Ints
    visit_counts: Ints
    change_counts: Ints
