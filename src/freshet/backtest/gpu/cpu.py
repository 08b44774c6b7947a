"""The crawl's arrays as those of numpy, with formulas by the compiled loops that policies use."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.gpu.histories import ABOVE, LEVEL, Array, HistoryTable
from freshet.core.tie_break import splitmix64
from freshet.formula.expression import Formula
from freshet.formula.program import compile_formula
from freshet.formula.variables import WeightClock, variable_set


class CpuDevice:
    """Does every step by array code."""

    xp: Any = np
    max_cells = 2**25

    def to_numpy(self, array: Array) -> NDArray[Any]:
        """Return the array itself."""
        return np.asarray(array)

    def ranking(self, formulas: Sequence[Formula], clock: WeightClock) -> "_CompiledRanking":
        """Make formulas ready to be computed."""
        return _CompiledRanking(formulas, clock)

    def choose(self, marks: Array, places: Array, order: Array, missing: Array, k: int) -> Array:
        """Return the pages above and the first of those at level, k for each formula.

        >>> marks, places = np.array([ABOVE, LEVEL]), np.array([[1, 0, 1, 1]])
        >>> CpuDevice().choose(marks, places, np.array([3, 2, 1, 0]), np.array([1]), 2).tolist()
        [[3, 1]]
        """
        drawn = marks[places[:, order]]
        level = drawn == LEVEL
        lucky = level & (np.cumsum(level, axis=1) <= missing[:, None])
        return order[np.nonzero((drawn == ABOVE) | lucky)[1].reshape(-1, k)]

    def refresh_copies(
        self, places: Array, stale: Array, pages: Array, count: int
    ) -> tuple[Array, Array]:
        """Make chosen copies fresh; return twice their pasts, one more where they were stale."""
        rows = np.arange(len(pages))[:, None]
        numbers = 2 * places[rows, pages] + stale[rows, pages]
        stale[rows, pages] = False
        return numbers, np.bincount(numbers.ravel(), minlength=2 * count)

    def reassign_pages(self, places: Array, pages: Array, numbers: Array, into: Array) -> None:
        """Put chosen pages into the pasts that their numbers lead to."""
        places[np.arange(len(pages))[:, None], pages] = into[numbers]

    def number_equal_rows(self, owners: Array, sums: Array) -> tuple[Array, Array]:
        """Number equal pasts alike, by a hash of their bits; where two clash, by another."""
        salt = np.uint64(0)
        while True:
            hashed = owners.astype(np.uint64) + salt
            for column in sums.T:
                hashed = splitmix64(hashed ^ column.view(np.uint64))
            _, firsts, numbers = np.unique(hashed, return_index=True, return_inverse=True)
            same = (sums[firsts[numbers]] == sums).all(axis=1) & (owners[firsts[numbers]] == owners)
            if same.all():
                return numbers, firsts
            salt += np.uint64(1 << 32)


class _CompiledRanking:
    """Computes one formula after the other."""

    def __init__(self, formulas: Sequence[Formula], clock: WeightClock) -> None:
        self._formulas = formulas
        self._clock: WeightClock = clock

    def values(self, pasts: HistoryTable, number: int) -> Array:
        """Return the score of every past in a cycle, by the formula that it belongs to."""
        ages = (number - pasts.last_visits).astype(np.float64)
        values = np.empty(len(pasts))
        for owner, formula in enumerate(self._formulas):
            mine = np.flatnonzero(pasts.owners == owner)
            told = variable_set(formula.variables, self._clock).values(pasts.sums[mine], ages[mine])
            values[mine] = compile_formula(formula).evaluate(told, len(mine))
        return values
