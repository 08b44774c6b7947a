"""Column tables with two operators, sort and reduce (Adar et al. 2009, section 5.1).

``reduce_rows`` combines neighbouring rows with equal keys, so it is linear and follows a sort. All
aggregates are associative, so that rows can be reduced in parts and then together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.measure.kernels.dom_history import PositionArray, counting_sort

ValueArray = NDArray[Any]


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """Columns of equal length, by name."""

    columns: Mapping[str, ValueArray]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __getitem__(self, name: str) -> ValueArray:
        return self.columns[name]

    def take(self, rows: ValueArray) -> "ColumnTable":
        """Return some rows, by their indices or by a boolean for each row."""
        return ColumnTable({name: column[rows] for name, column in self.columns.items()})

    def select(self, *names: str) -> "ColumnTable":
        """Return a table with these columns only."""
        return ColumnTable({name: self.columns[name] for name in names})

    def with_columns(self, **columns: ValueArray) -> "ColumnTable":
        """Return the table with more columns."""
        return ColumnTable({**self.columns, **columns})


@dataclass(frozen=True, slots=True)
class ColumnAggregate:
    """An associative function that combines the values of a column."""

    ufunc: np.ufunc
    column: str


Aggregates = Mapping[str, ColumnAggregate]


def minimum_of(column: str) -> ColumnAggregate:
    """Aggregate a column to its smallest value."""
    return ColumnAggregate(np.minimum, column)


def maximum_of(column: str) -> ColumnAggregate:
    """Aggregate a column to its largest value."""
    return ColumnAggregate(np.maximum, column)


def sum_of(column: str) -> ColumnAggregate:
    """Aggregate a column to its sum."""
    return ColumnAggregate(np.add, column)


def sort_rows(table: ColumnTable, *keys: str) -> ColumnTable:
    """Return the rows sorted by the keys, the first key first; the sort is stable.

    >>> table = ColumnTable({"a": np.array([2, 1, 2]), "b": np.array([1, 5, 0])})
    >>> sort_rows(table, "a", "b")["b"].tolist()
    [5, 0, 1]
    """
    order: PositionArray | None = None
    for key in reversed(keys):
        order = _sorted_by(table[key], order)
    return table if order is None else table.take(order)


def reduce_rows(table: ColumnTable, keys: Sequence[str], aggregates: Aggregates) -> ColumnTable:
    """Combine neighbouring rows with equal keys into one row with the aggregates.

    >>> rows = ColumnTable({"path": np.array([7, 7, 9]), "version": np.array([0, 3, 1])})
    >>> reduce_rows(rows, ["path"], {"last": maximum_of("version")})["last"].tolist()
    [3, 1]
    """
    starts = group_starts(table, *keys)
    columns = {key: table[key][starts] for key in keys}
    for name, aggregate in aggregates.items():
        column = table[aggregate.column]
        columns[name] = aggregate.ufunc.reduceat(column, starts) if len(starts) else column[:0]
    return ColumnTable(columns)


def group_starts(table: ColumnTable, *keys: str) -> PositionArray:
    """Return the starts of the groups of neighbouring rows with equal keys."""
    is_start = np.zeros(len(table), np.bool_)
    is_start[:1] = True
    for key in keys:
        is_start[1:] |= table[key][1:] != table[key][:-1]
    return np.flatnonzero(is_start)


def rank_in_group(table: ColumnTable, *keys: str) -> PositionArray:
    """Return the rank of each row in its group of neighbouring rows with equal keys.

    >>> rank_in_group(ColumnTable({"path": np.array([4, 4, 4, 8])}), "path").tolist()
    [0, 1, 2, 0]
    """
    starts = group_starts(table, *keys)
    sizes = np.diff(np.append(starts, len(table)))
    return np.arange(len(table)) - np.repeat(starts, sizes)


def _sorted_by(column: ValueArray, order: PositionArray | None) -> PositionArray | None:
    """Return an order sorted by one more column; None is the original order of the rows."""
    if order is None and not (column[1:] < column[:-1]).any():
        return None
    order = np.arange(len(column)) if order is None else order
    if column.dtype == np.int32 and column.min() >= 0 and column.max() <= 4 * len(column):
        return counting_sort(column, order, int(column.max()))
    return order[np.argsort(column[order], kind="stable")]
