"""Pasts as columns: pages of which one formula knows the same are one row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from freshet.formula.kernels import CLOCK, DOUBLING, LOOKS, RISING, SEEN

Array = Any
"""An array of whichever module; types and shapes are those of numpy."""

BELOW, LEVEL, ABOVE = range(3)


@dataclass(frozen=True, slots=True)
class HistoryTable:
    """Whose formula it is, the cycle of the last look, the sums that are kept, and the pages."""

    owners: Array
    last_visits: Array
    sums: Array
    sizes: Array

    def __len__(self) -> int:
        return len(self.owners)

    def select(self, kept: Array) -> "HistoryTable":
        """Return some of the pasts."""
        return HistoryTable(
            self.owners[kept], self.last_visits[kept], self.sums[kept], self.sizes[kept]
        )


def concatenate_histories(xp: Any, one: HistoryTable, other: HistoryTable) -> HistoryTable:
    """Return the pasts of both."""
    return HistoryTable(
        xp.concatenate([one.owners, other.owners]),
        xp.concatenate([one.last_visits, other.last_visits]),
        xp.concatenate([one.sums, other.sums]),
        xp.concatenate([one.sizes, other.sizes]),
    )


def update_sums(xp: Any, sums: Array, gaps: Array, changed: Array, *, by_cycle: bool) -> Array:
    """Return sums after one more look each, as ``core.ranking`` keeps them.

    Halving is exact: only the exponent moves.
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
    """Return the sum of the values of every group, exact as long as they are whole numbers.

    >>> sum_by_group(np, np.array([1, 0, 1]), np.array([5, 2, 3]), 3).tolist()
    [2.0, 8.0, 0.0]
    """
    sums = xp.zeros(count)
    xp.add.at(sums, groups, values.astype(np.float64))
    return sums
