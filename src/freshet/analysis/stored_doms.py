"""DOM rows of the stored versions of a page, of which only some are in memory."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import overload

import numpy as np

from freshet.core.tables import BoolArray
from freshet.core.types import DomRows


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
