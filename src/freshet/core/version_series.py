"""The versions of a page over time, as columns: the input of the measures of a history."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from freshet.core.tables import BoolArray
from freshet.core.types import DomRows, FloatArray, IndexArray, TermCounts


@dataclass(frozen=True, slots=True)
class VersionSeries:
    """The looks at a page in time order, and the distinct versions that they showed.

    ``times`` are the times of the looks (epoch seconds, ascending); ``version_indices`` is the
    version that each look showed. ``doms`` is empty if no DOM rows were requested, and holds None
    for versions that have none; ``has_dom`` says which have some, so that stored rows need not be
    read for this.
    """

    times: FloatArray
    version_indices: IndexArray
    terms: tuple[TermCounts, ...]
    doms: Sequence[DomRows | None] = ()
    has_dom: BoolArray = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __len__(self) -> int:
        return len(self.times)


def build_series(
    times: Sequence[float],
    version_indices: Sequence[int],
    terms: Sequence[TermCounts],
    doms: Sequence[DomRows | None] = (),
    *,
    has_dom: BoolArray | None = None,
) -> VersionSeries:
    """Sort looks by time, whatever order they were stored in; the sort is stable.

    Without ``has_dom``, all ``doms`` are read to see which versions have some.

    >>> build_series([20.0, 10.0], [1, 0], []).version_indices.tolist()
    [0, 1]
    """
    if has_dom is None:
        has_dom = np.array([dom is not None for dom in doms], np.bool_)
    order = np.argsort(np.asarray(times, np.float64), kind="stable")
    return VersionSeries(
        np.asarray(times, np.float64)[order],
        np.asarray(version_indices, np.int32)[order],
        tuple(terms),
        doms,
        has_dom,
    )
