"""The versions of a page over time, as columns: the input of the measures of a history."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import DomRows, FloatArray, IndexArray, TermCounts

BoolArray = NDArray[np.bool_]


class StoredDoms(Sequence[DomRows | None]):
    """DOM rows of stored versions, read again when they are needed.

    The rows used last stay in memory, up to ``max_rows`` rows, and those of one version in any
    case. ``read`` returns the rows of a version by its number.
    """

    def __init__(self, read: Callable[[int], DomRows], max_rows: int) -> None:
        self._read = read
        self._max_rows, self._rows = max_rows, 0
        self._has_dom: list[bool] = []
        self._recent: OrderedDict[int, DomRows] = OrderedDict()

    def __len__(self) -> int:
        return len(self._has_dom)

    @overload
    def __getitem__(self, version: int) -> DomRows | None: ...

    @overload
    def __getitem__(self, version: slice) -> Sequence[DomRows | None]: ...

    def __getitem__(self, version: int | slice) -> DomRows | Sequence[DomRows | None] | None:
        if isinstance(version, slice):
            return [self[number] for number in range(*version.indices(len(self)))]
        if not self._has_dom[version]:
            return None
        number = range(len(self))[version]
        if number not in self._recent:
            self._hold(number, self._read(number))
        self._recent.move_to_end(number)
        return self._recent[number]

    @property
    def has_dom(self) -> BoolArray:
        """Whether each version has DOM rows."""
        return np.array(self._has_dom, np.bool_)

    def append(self, dom: DomRows | None) -> None:
        """Add a version with its rows; None if it has none."""
        self._has_dom.append(dom is not None)
        if dom is not None:
            self._hold(len(self) - 1, dom)

    def _hold(self, version: int, dom: DomRows) -> None:
        """Hold the rows of a version, and drop those that were used longest ago."""
        self._recent[version] = dom
        self._rows += len(dom)
        while self._rows > self._max_rows and len(self._recent) > 1:
            self._rows -= len(self._recent.popitem(last=False)[1])


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
    doms: Sequence[DomRows | None] = ()

    def __len__(self) -> int:
        return len(self.times)

    @property
    def has_dom(self) -> BoolArray:
        """Whether each version has DOM rows; stored rows are not read for this."""
        if isinstance(self.doms, StoredDoms):
            return self.doms.has_dom
        return np.array([dom is not None for dom in self.doms], np.bool_)


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
        doms if isinstance(doms, StoredDoms) else tuple(doms),
    )
