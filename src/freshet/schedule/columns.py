"""Columns of equal length that grow together, and the row of every key in them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from freshet.core.types import IndexArray

SmallFloatArray = NDArray[np.float32]

NOT_FOUND = -1
SPARE_FRACTION = 16
BLOCK_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """What one column holds: its kind, what a new row starts with, and how wide a row is."""

    dtype: DTypeLike
    initial_value: Any = 0
    width: int = 0

    def empty(self, rows: int) -> NDArray[Any]:
        """Return room for that many rows."""
        return np.empty((rows, self.width) if self.width else rows, self.dtype)


class GrowableColumns:
    """A struct of arrays: named columns whose rows are added and left out together.

    Room is kept for a sixteenth more rows than there are, so that adding one by one costs a
    constant time each and little memory.
    """

    def __init__(self, specs: Mapping[str, ColumnSpec]) -> None:
        self._kinds = dict(specs)
        self._held = {name: column.empty(0) for name, column in self._kinds.items()}
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._held[name][: self._rows]

    @property
    def nbytes(self) -> int:
        """Return the memory that the columns take, their spare room included."""
        return sum(array.nbytes for array in self._held.values())

    def append_rows(self, count: int) -> None:
        """Add rows that hold what new rows start with."""
        rows = self._rows + count
        room = rows + rows // SPARE_FRACTION if self._rows else rows
        for name, column in self._kinds.items():
            if rows > len(self._held[name]):
                self._held[name] = self._moved(name, room)
            self._held[name][self._rows : rows] = column.initial_value
        self._rows = rows

    def keep_rows(self, kept: NDArray[np.bool_]) -> None:
        """Leave out the rows that are not kept; the others keep their order."""
        for name in self._kinds:
            self._held[name] = self[name][kept]
        self._rows = int(np.count_nonzero(kept))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return a copy of every column."""
        return {name: self[name].copy() for name in self._kinds}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become the columns that ``state`` describes."""
        held = {name: np.array(state[name], kind.dtype) for name, kind in self._kinds.items()}
        self._held, self._rows = held, min(map(len, held.values()), default=0)

    def _moved(self, name: str, rows: int) -> NDArray[Any]:
        """Return a column in a place with room for that many rows."""
        column = self._kinds[name].empty(rows)
        column[: self._rows] = self[name]
        return column


class KeyIndex:
    """The row of every key: rows in the order of arrival, found by bisection.

    Keys that arrive in ascending order, as a catalog gives them out, need no order of their own.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self._columns = GrowableColumns({"keys": ColumnSpec(dtype)})
        self._order: IndexArray | None = None

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def keys(self) -> NDArray[Any]:
        """Return the keys by row."""
        return self._columns["keys"]

    @property
    def nbytes(self) -> int:
        """Return the memory that keys and order take."""
        return self._columns.nbytes + (0 if self._order is None else self._order.nbytes)

    def sorted_rows(self) -> IndexArray:
        """Return the rows in the order of their keys."""
        return np.arange(len(self), dtype=np.int32) if self._order is None else self._order

    def find(self, keys: NDArray[Any]) -> IndexArray:
        """Return the row of every key, ``NOT_FOUND`` for those that are not held."""
        if not len(self):
            return np.full(len(keys), NOT_FOUND, np.int32)
        places = np.searchsorted(self.keys, keys, sorter=self._order)
        places = np.minimum(places, len(self) - 1)
        rows = places if self._order is None else self._order[places]
        return np.where(self.keys[rows] == keys, rows, NOT_FOUND).astype(np.int32)

    def add(self, keys: NDArray[Any]) -> IndexArray:
        """Return the row of every key, giving new keys the next rows in their order."""
        rows = self.find(keys)
        missing = np.unique(keys[rows == NOT_FOUND])
        if not len(missing):
            return rows
        self._append(missing)
        return self.find(keys)

    def keep_rows(self, kept: NDArray[np.bool_]) -> None:
        """Leave out the rows that are not kept; the others keep their order."""
        if self._order is not None:
            moved = np.cumsum(kept, dtype=np.int32) - 1
            self._order = moved[self._order[kept[self._order]]]
        self._columns.keep_rows(kept)

    def restore(self, keys: NDArray[Any]) -> None:
        """Hold these keys, in this order of rows, and no others."""
        self._columns.restore({"keys": keys})
        rising = bool(np.all(self.keys[1:] > self.keys[:-1]))
        self._order = None if rising else np.argsort(self.keys).astype(np.int32)

    def _append(self, missing: NDArray[Any]) -> None:
        """Hold new keys, which ascend and are each given once."""
        held = len(self)
        fits = self._order is None and (not held or self.keys[-1] < missing[0])
        if not fits:
            places = np.searchsorted(self.keys, missing, sorter=self._order)
            rows = np.arange(held, held + len(missing), dtype=np.int32)
            self._order = np.insert(self.sorted_rows(), places, rows)
        self._columns.append_rows(len(missing))
        self.keys[held:] = missing


def row_blocks(rows: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield rows in blocks that fit a cache, at least one of them.

    >>> [len(block) for block in row_blocks(np.arange(100_000))]
    [65536, 34464]
    """
    for start in range(0, max(1, len(rows)), BLOCK_ROWS):
        yield rows[start : start + BLOCK_ROWS]
