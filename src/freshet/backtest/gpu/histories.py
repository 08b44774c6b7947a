"""Page histories as columns: pages with the same history for a formula share one row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from freshet.formula.kernels import CLOCK, DOUBLING, LOOKS, RISING, SEEN

Array = Any
"""An array of the device's module; types and shapes are numpy's."""

BELOW_CUT, AT_CUT, ABOVE_CUT = range(3)


@dataclass(frozen=True, slots=True)
class HistoryTable:
    """The formula of each row, the cycle of the last visit, the sums, and the number of pages."""

    owners: Array
    last_visits: Array
    sums: Array
    sizes: Array

    def __len__(self) -> int:
        return len(self.owners)

    def select(self, rows: Array) -> "HistoryTable":
        """Return some of the rows."""
        return HistoryTable(
            self.owners[rows], self.last_visits[rows], self.sums[rows], self.sizes[rows]
        )


def concatenate_histories(xp: Any, first: HistoryTable, second: HistoryTable) -> HistoryTable:
    """Concatenate two tables."""
    return HistoryTable(
        xp.concatenate([first.owners, second.owners]),
        xp.concatenate([first.last_visits, second.last_visits]),
        xp.concatenate([first.sums, second.sums]),
        xp.concatenate([first.sizes, second.sizes]),
    )


def update_sums(xp: Any, sums: Array, gaps: Array, changed: Array, *, by_cycle: bool) -> Array:
    """Return sums after one more look each, as ``formula.kernels`` updates them.

    Halving is exact: only the exponent changes.
    """
    elapsed = gaps if by_cycle else xp.ones_like(gaps)
    clock = sums[:, CLOCK] + elapsed
    halved = xp.ldexp(sums[:, DOUBLING], -elapsed.astype(np.int32))
    columns = (
        sums[:, LOOKS] + 1.0,
        sums[:, SEEN] + changed,
        clock,
        changed.astype(np.float64),
        sums[:, RISING] + clock * changed,
        halved + changed,
    )
    return xp.stack(columns, axis=1)


def sum_by_group(xp: Any, groups: Array, values: Array, count: int) -> Array:
    """Return the sum of the values of every group, exact for whole numbers.

    >>> sum_by_group(np, np.array([1, 0, 1]), np.array([5, 2, 3]), 3).tolist()
    [2.0, 8.0, 0.0]
    """
    sums = xp.zeros(count)
    xp.add.at(sums, groups, values.astype(np.float64))
    return sums
