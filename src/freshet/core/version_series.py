"""The versions of a page over time, as columns: the input of the measures of a history."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.types import DomRows, FloatArray, IndexArray, TermCounts


@dataclass(frozen=True, slots=True)
class VersionSeries:
    """The looks at a page in time order, and the distinct versions that they showed.

    ``times`` are the times of the looks (epoch seconds, ascending); ``version_indices`` is the
    version that each look showed. ``doms`` is empty if no DOM rows were requested, and holds None
    for versions that have none.
    """

    times: FloatArray
    version_indices: IndexArray
    terms: tuple[TermCounts, ...]
    doms: tuple[DomRows | None, ...] = ()

    def __len__(self) -> int:
        return len(self.times)


def build_series(
    times: Sequence[float],
    version_indices: Sequence[int],
    terms: Sequence[TermCounts],
    doms: Sequence[DomRows | None] = (),
) -> VersionSeries:
    """Sort looks by time, whatever order they were stored in; the sort is stable.

    >>> build_series([20.0, 10.0], [1, 0], []).version_indices.tolist()
    [0, 1]
    """
    order = np.argsort(np.asarray(times, np.float64), kind="stable")
    return VersionSeries(
        np.asarray(times, np.float64)[order],
        np.asarray(version_indices, np.int32)[order],
        tuple(terms),
        tuple(doms),
    )
