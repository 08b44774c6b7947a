"""Columns by name and the two operators on them, sort and reduce (Adar et al. 2009, section 5.1).

``reduce_rows`` gathers rows that stand together with equal keys, so that it is linear and comes after a
sort. All its pieces are associative, so that rows reduced in parts and then reduced again give what
the whole gives; pages are the parts that an engine maps over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.measure.dynamics.structure.kernels.dom_history import PositionArray, counting_sort

ValueArray = NDArray[Any]


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """Columns of one length, by name."""

    columns: Mapping[str, ValueArray]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __getitem__(self, name: str) -> ValueArray:
        return self.columns[name]

    def take(self, which: ValueArray) -> "ColumnTable":
        """Return some of the rows: by their places, or by a truth for each."""
        return ColumnTable({name: column[which] for name, column in self.columns.items()})

    def select(self, *names: str) -> "ColumnTable":
        """Return the table with these columns alone: what is sorted is carried along."""
        return ColumnTable({name: self.columns[name] for name in names})

    def with_columns(self, **columns: ValueArray) -> "ColumnTable":
        """Return the table with further columns."""
        return ColumnTable({**self.columns, **columns})


@dataclass(frozen=True, slots=True)
class ColumnAggregate:
    """What is kept of a column where rows are gathered; ``ufunc`` is associative."""

    ufunc: np.ufunc
    column: str


Aggregates = Mapping[str, ColumnAggregate]


def minimum_of(column: str) -> ColumnAggregate:
    """Keep the smallest value."""
    return ColumnAggregate(np.minimum, column)


def maximum_of(column: str) -> ColumnAggregate:
    """Keep the largest value."""
    return ColumnAggregate(np.maximum, column)


def sum_of(column: str) -> ColumnAggregate:
    """Keep the sum."""
    return ColumnAggregate(np.add, column)


def sort_rows(table: ColumnTable, *keys: str) -> ColumnTable:
    """Return the rows sorted by the keys, the first one first; equal rows stay in their order.

    >>> sort_rows(ColumnTable({"a": np.array([2, 1, 2]), "b": np.array([1, 5, 0])}), "a", "b")["b"].tolist()
    [5, 0, 1]
    """
    order: PositionArray | None = None
    for key in reversed(keys):
        order = _sorted_by(table[key], order)
    return table if order is None else table.take(order)


def reduce_rows(table: ColumnTable, keys: Sequence[str], pieces: Aggregates) -> ColumnTable:
    """Gather neighbouring rows with equal keys into one, and keep the pieces of each group.

    >>> rows = ColumnTable({"path": np.array([7, 7, 9]), "version": np.array([0, 3, 1])})
    >>> reduce_rows(rows, ["path"], {"last": maximum_of("version")})["last"].tolist()
    [3, 1]
    """
    starts = group_starts(table, *keys)
    kept = {key: table[key][starts] for key in keys}
    for name, piece in pieces.items():
        column = table[piece.column]
        kept[name] = piece.ufunc.reduceat(column, starts) if len(starts) else column[:0]
    return ColumnTable(kept)


def group_starts(table: ColumnTable, *keys: str) -> PositionArray:
    """Return where the groups of neighbouring rows with equal keys start."""
    new = np.zeros(len(table), np.bool_)
    new[:1] = True
    for key in keys:
        new[1:] |= table[key][1:] != table[key][:-1]
    return np.flatnonzero(new)


def rank_in_group(table: ColumnTable, *keys: str) -> PositionArray:
    """Return the place of every row in its group of neighbouring rows with equal keys.

    >>> rank_in_group(ColumnTable({"path": np.array([4, 4, 4, 8])}), "path").tolist()
    [0, 1, 2, 0]
    """
    starts = group_starts(table, *keys)
    sizes = np.diff(np.append(starts, len(table)))
    return np.arange(len(table)) - np.repeat(starts, sizes)


def _sorted_by(column: ValueArray, order: PositionArray | None) -> PositionArray | None:
    """Return an order sorted further by a column; None is the order in which the rows are."""
    if order is None and not (column[1:] < column[:-1]).any():
        return None
    order = np.arange(len(column)) if order is None else order
    if column.dtype == np.int32 and column.min() >= 0 and column.max() <= 4 * len(column):
        return counting_sort(column, order, int(column.max()))
    return order[np.argsort(column[order], kind="stable")]
