"""Columns by name and the two operators on them, sort and reduce (Adar et al. 2009, section 5.1).

``reduce`` gathers rows that stand together with equal keys, so that it is linear and comes after a
sort. All its pieces are associative, so that rows reduced in parts and then reduced again give what
the whole gives; pages are the parts that an engine maps over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.measure.dynamics.structure.kernels.dom_history import Places, reorder

Values = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of one length, by name."""

    columns: Mapping[str, Values]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __getitem__(self, name: str) -> Values:
        return self.columns[name]

    def take(self, which: Values) -> "Table":
        """Return some of the rows: by their places, or by a truth for each."""
        return Table({name: column[which] for name, column in self.columns.items()})

    def only(self, *names: str) -> "Table":
        """Return the table with these columns alone: what is sorted is carried along."""
        return Table({name: self.columns[name] for name in names})

    def put(self, **columns: Values) -> "Table":
        """Return the table with further columns."""
        return Table({**self.columns, **columns})


@dataclass(frozen=True, slots=True)
class Piece:
    """What is kept of a column where rows are gathered; ``gather`` is associative."""

    gather: np.ufunc
    column: str


Pieces = Mapping[str, Piece]


def least(column: str) -> Piece:
    """Keep the smallest value."""
    return Piece(np.minimum, column)


def most(column: str) -> Piece:
    """Keep the largest value."""
    return Piece(np.maximum, column)


def total(column: str) -> Piece:
    """Keep the sum."""
    return Piece(np.add, column)


def sort(table: Table, *keys: str) -> Table:
    """Return the rows sorted by the keys, the first one first; equal rows stay in their order.

    >>> sort(Table({"a": np.array([2, 1, 2]), "b": np.array([1, 5, 0])}), "a", "b")["b"].tolist()
    [5, 0, 1]
    """
    order: Places | None = None
    for key in reversed(keys):
        order = _sorted_by(table[key], order)
    return table if order is None else table.take(order)


def reduce(table: Table, keys: Sequence[str], pieces: Pieces) -> Table:
    """Gather neighbouring rows with equal keys into one, and keep the pieces of each group.

    >>> rows = Table({"path": np.array([7, 7, 9]), "version": np.array([0, 3, 1])})
    >>> reduce(rows, ["path"], {"last": most("version")})["last"].tolist()
    [3, 1]
    """
    starts = starts_of(table, *keys)
    kept = {key: table[key][starts] for key in keys}
    for name, piece in pieces.items():
        column = table[piece.column]
        kept[name] = piece.gather.reduceat(column, starts) if len(starts) else column[:0]
    return Table(kept)


def starts_of(table: Table, *keys: str) -> Places:
    """Return where the groups of neighbouring rows with equal keys start."""
    new = np.zeros(len(table), np.bool_)
    new[:1] = True
    for key in keys:
        new[1:] |= table[key][1:] != table[key][:-1]
    return np.flatnonzero(new)


def rank_within(table: Table, *keys: str) -> Places:
    """Return the place of every row in its group of neighbouring rows with equal keys.

    >>> rank_within(Table({"path": np.array([4, 4, 4, 8])}), "path").tolist()
    [0, 1, 2, 0]
    """
    starts = starts_of(table, *keys)
    sizes = np.diff(np.append(starts, len(table)))
    return np.arange(len(table)) - np.repeat(starts, sizes)


def _sorted_by(column: Values, order: Places | None) -> Places | None:
    """Return an order sorted further by a column; None is the order in which the rows are."""
    if order is None and not (column[1:] < column[:-1]).any():
        return None
    order = np.arange(len(column)) if order is None else order
    if column.dtype == np.int32 and column.min() >= 0 and column.max() <= 4 * len(column):
        return reorder(column, order, int(column.max()))
    return order[np.argsort(column[order], kind="stable")]
