"""A page's versions over time, as columns: what every measure of a history takes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.types import DomRows, Floats, Indices, Terms


@dataclass(frozen=True, slots=True)
class Series:
    """The looks at a page in time order, and the distinct versions that they showed.

    ``times`` are those of the looks (epoch seconds, never falling); ``shown`` says for each look
    which version it showed. ``doms`` is empty where no DOM rows were asked for, and holds None for
    versions that have none.
    """

    times: Floats
    shown: Indices
    terms: tuple[Terms, ...]
    doms: tuple[DomRows | None, ...] = ()

    def __len__(self) -> int:
        return len(self.times)


def series_of(
    times: Sequence[float],
    shown: Sequence[int],
    terms: Sequence[Terms],
    doms: Sequence[DomRows | None] = (),
) -> Series:
    """Put looks in time order, whatever order they were stored in; equal times keep theirs.

    >>> series_of([20.0, 10.0], [1, 0], []).shown.tolist()
    [0, 1]
    """
    order = np.argsort(np.asarray(times, np.float64), kind="stable")
    return Series(
        np.asarray(times, np.float64)[order],
        np.asarray(shown, np.int32)[order],
        tuple(terms),
        tuple(doms),
    )
