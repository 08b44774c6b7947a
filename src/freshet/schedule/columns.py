"""Growable columns of equal length, and an index from keys to rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from freshet.core.types import IndexArray
from freshet.schedule.kernels import columns as kernels

NOT_FOUND = -1
SPARE_DIVISOR = 16
BLOCK_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """The type of a column, the initial value of new rows, and the number of values per row."""

    dtype: DTypeLike
    initial_value: Any = 0
    width: int = 0

    def empty(self, rows: int) -> NDArray[Any]:
        """Return an uninitialised column of that many rows."""
        return np.empty((rows, self.width) if self.width else rows, self.dtype)


class GrowableColumns:
    """A struct of arrays: named columns whose rows are added and removed together.

    Arrays have room for a sixteenth more rows, so that adding a row takes constant time on average
    and little memory is spare. The columns are views of their used parts.
    """

    def __init__(self, specs: Mapping[str, ColumnSpec]) -> None:
        self._specs = dict(specs)
        self._arrays = {name: spec.empty(0) for name, spec in self._specs.items()}
        self._columns = dict(self._arrays)
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    @property
    def nbytes(self) -> int:
        """Return the memory of the columns in bytes, with their spare room."""
        return sum(array.nbytes for array in self._arrays.values())

    def append_rows(self, count: int) -> None:
        """Add rows with initial values."""
        if not count:
            return
        rows = self._rows + count
        capacity = rows + rows // SPARE_DIVISOR if self._rows else rows
        for name, spec in self._specs.items():
            if rows > len(self._arrays[name]):
                column = spec.empty(capacity)
                column[: self._rows] = self[name]
                self._arrays[name] = column
            self._columns[name] = self._arrays[name][:rows]
            self._columns[name][self._rows :] = spec.initial_value
        self._rows = rows

    def keep_rows(self, mask: NDArray[np.bool_]) -> None:
        """Remove the rows outside the mask; the others keep their order."""
        for name in self._specs:
            self._arrays[name] = self._columns[name] = self[name][mask]
        self._rows = int(np.count_nonzero(mask))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return a copy of every column."""
        return {name: self[name].copy() for name in self._specs}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore columns that ``state`` returned."""
        arrays = {name: np.array(state[name], spec.dtype) for name, spec in self._specs.items()}
        self._arrays, self._rows = arrays, min(map(len, arrays.values()), default=0)
        self._columns = {name: array[: self._rows] for name, array in arrays.items()}


class KeyIndex:
    """The row of every key: rows in order of arrival, looked up by binary search.

    Keys that arrive in ascending order, as a catalog assigns them, need no sort order.
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
        """Return the memory of keys and sort order in bytes."""
        return self._columns.nbytes + (0 if self._order is None else self._order.nbytes)

    def sorted_rows(self) -> IndexArray:
        """Return the rows sorted by key."""
        return np.arange(len(self), dtype=np.int32) if self._order is None else self._order

    def find(self, keys: NDArray[Any]) -> IndexArray:
        """Return the row of every key, ``NOT_FOUND`` for unknown keys."""
        wanted_keys = np.ascontiguousarray(keys, self.keys.dtype)
        return kernels.find_keys(self.keys, self._order, wanted_keys)

    def add(self, keys: NDArray[Any]) -> IndexArray:
        """Return the row of every key; new keys get the next rows in ascending order."""
        rows = self.find(keys)
        new_keys = np.unique(keys[rows == NOT_FOUND])
        if not len(new_keys):
            return rows
        self._append(new_keys)
        return self.find(keys)

    def keep_rows(self, mask: NDArray[np.bool_]) -> None:
        """Remove the rows outside the mask; the others keep their order."""
        if self._order is not None:
            new_rows = np.cumsum(mask, dtype=np.int32) - 1
            self._order = new_rows[self._order[mask[self._order]]]
        self._columns.keep_rows(mask)

    def restore(self, keys: NDArray[Any]) -> None:
        """Replace the keys by these, in this order of rows."""
        self._columns.restore({"keys": keys})
        is_ascending = bool(np.all(self.keys[1:] > self.keys[:-1]))
        self._order = None if is_ascending else np.argsort(self.keys).astype(np.int32)

    def _append(self, new_keys: NDArray[Any]) -> None:
        """Append keys, which are ascending and distinct."""
        count = len(self)
        is_ascending = self._order is None and (not count or self.keys[-1] < new_keys[0])
        if not is_ascending:
            positions = np.searchsorted(self.keys, new_keys, sorter=self._order)
            rows = np.arange(count, count + len(new_keys), dtype=np.int32)
            self._order = np.insert(self.sorted_rows(), positions, rows)
        self._columns.append_rows(len(new_keys))
        self.keys[count:] = new_keys


def row_blocks(rows: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield rows in blocks that fit a processor cache, at least one block.

    >>> [len(block) for block in row_blocks(np.arange(100_000))]
    [65536, 34464]
    """
    for start in range(0, max(1, len(rows)), BLOCK_ROWS):
        yield rows[start : start + BLOCK_ROWS]
