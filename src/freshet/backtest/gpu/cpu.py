"""Processor device: numpy arrays, and formulas by the compiled loops that policies use."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.gpu.histories import ABOVE_CUT, AT_CUT, Array, HistoryTable
from freshet.core.hashing import splitmix64
from freshet.formula.expression import Formula
from freshet.formula.program import compile_formula
from freshet.formula.variables import WeightClock, variable_set


class CpuDevice:
    """Implements every step by numpy code."""

    xp: Any = np
    max_cells = 2**25

    def to_numpy(self, array: Array) -> NDArray[Any]:
        """Return the array itself."""
        return np.asarray(array)

    def ranking(self, formulas: Sequence[Formula], clock: WeightClock) -> "_CompiledRanking":
        """Prepare formulas for scoring."""
        return _CompiledRanking(formulas, clock)

    def choose(
        self, marks: Array, history_of_page: Array, order: Array, missing: Array, k: int
    ) -> Array:
        """Return the pages above the cut and the first of those at the cut, k for each formula.

        >>> marks, histories = np.array([ABOVE_CUT, AT_CUT]), np.array([[1, 0, 1, 1]])
        >>> CpuDevice().choose(marks, histories, np.array([3, 2, 1, 0]), np.array([1]), 2).tolist()
        [[3, 1]]
        """
        ordered_marks = marks[history_of_page[:, order]]
        at_cut = ordered_marks == AT_CUT
        is_taken = at_cut & (np.cumsum(at_cut, axis=1) <= missing[:, None])
        return order[np.nonzero((ordered_marks == ABOVE_CUT) | is_taken)[1].reshape(-1, k)]

    def refresh_copies(
        self, history_of_page: Array, stale: Array, pages: Array, count: int
    ) -> tuple[Array, Array]:
        """Refresh selected copies; return a number for each, and the count of each number."""
        rows = np.arange(len(pages))[:, None]
        numbers = 2 * history_of_page[rows, pages] + stale[rows, pages]
        stale[rows, pages] = False
        return numbers, np.bincount(numbers.ravel(), minlength=2 * count)

    def reassign_pages(
        self, history_of_page: Array, pages: Array, numbers: Array, target_rows: Array
    ) -> None:
        """Assign selected pages to the histories of their numbers."""
        history_of_page[np.arange(len(pages))[:, None], pages] = target_rows[numbers]

    def number_equal_rows(self, owners: Array, sums: Array) -> tuple[Array, Array]:
        """Number equal histories alike by a hash of their bits; a collision changes the hash."""
        salt = np.uint64(0)
        while True:
            hashed = owners.astype(np.uint64) + salt
            for column in sums.T:
                hashed = splitmix64(hashed ^ column.view(np.uint64))
            _, firsts, numbers = np.unique(hashed, return_index=True, return_inverse=True)
            is_equal = (sums[firsts[numbers]] == sums).all(axis=1) & (
                owners[firsts[numbers]] == owners
            )
            if is_equal.all():
                return numbers, firsts
            salt += np.uint64(1 << 32)


class _CompiledRanking:
    """Computes one formula after another."""

    def __init__(self, formulas: Sequence[Formula], clock: WeightClock) -> None:
        self._formulas = formulas
        self._clock: WeightClock = clock

    def values(self, histories: HistoryTable, number: int) -> Array:
        """Return the score of every history in a cycle by its own formula."""
        ages = (number - histories.last_visits).astype(np.float64)
        values = np.empty(len(histories))
        for owner, formula in enumerate(self._formulas):
            rows = np.flatnonzero(histories.owners == owner)
            variable_values = variable_set(formula.variables, self._clock).values(
                histories.sums[rows], ages[rows]
            )
            values[rows] = compile_formula(formula).evaluate(variable_values, len(rows))
        return values
