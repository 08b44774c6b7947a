"""What a formula may know of a page, kept as running sums, a row per page or per class of pages.

Santos et al. 2015, section 5.1: ``n`` looks, ``X`` changes seen, ``t`` cycles since the last look,
and five estimates of the rate of change. In a formula the estimates are rates; as rules of their
own, NAD, SAD, AAD and GAD rank by the chance that follows from the rate.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import Truths
from freshet.core.types import Floats
from freshet.schedule.rules import AAD, GAD, NAD, SAD, Weights, cho_rate

Rows = NDArray[np.float64]

BASIC = ("n", "X", "t")
WEIGHTED: Mapping[str, Weights] = {"NAD": NAD, "SAD": SAD, "AAD": AAD, "GAD": GAD}
ALL = (*BASIC, "CG", *WEIGHTED)
_LOOKS, _CHANGES, _CLOCK = range(3)
_NEEDS_COUNTS = frozenset({"n", "X", "CG"})


@dataclass(frozen=True, slots=True)
class Known:
    """Keeps what some names need: how rows change with a look, and what they tell at a moment.

    A row holds looks, changes, the clock of the weights, and a sum for each weighted estimate.
    What no name needs stays 0, so that pages that differ only in that are alike.
    """

    names: tuple[str, ...]
    clock: Literal["visit", "cycle"] = "visit"

    @property
    def width(self) -> int:
        """Return how many numbers a row has."""
        return 3 + len(self._weighted)

    @property
    def _weighted(self) -> tuple[str, ...]:
        return tuple(name for name in WEIGHTED if name in self.names)

    def rows(self, count: int) -> Rows:
        """Return rows of pages that were never looked at."""
        return np.zeros((count, self.width))

    def after(self, rows: Rows, gaps: Floats, changed: Truths) -> Rows:
        """Return rows after one more look each, so many cycles after the one before."""
        rows = rows.copy()
        if not _NEEDS_COUNTS.isdisjoint(self.names):
            rows[:, _LOOKS] += 1
        if "X" in self.names or "CG" in self.names:
            rows[:, _CHANGES] += changed
        if self._weighted:
            elapsed = gaps if self.clock == "cycle" else np.ones(len(rows))
            rows[:, _CLOCK] += elapsed
            for place, name in enumerate(self._weighted, 3):
                add = WEIGHTED[name].add
                rows[:, place] = add(rows[:, place], rows[:, _CLOCK], elapsed, changed)
        return rows

    def told(self, rows: Rows, ages: Floats) -> dict[str, Floats]:
        """Return what every name stands for, given the cycles since each row's last look."""
        told = {"n": rows[:, _LOOKS], "X": rows[:, _CHANGES], "t": ages}
        if "CG" in self.names:
            told["CG"] = cho_rate(rows[:, _LOOKS], rows[:, _CHANGES])
        if not self._weighted:
            return told
        idle = np.maximum(0.0, ages - 1) if self.clock == "cycle" else np.zeros(len(rows))
        reading = rows[:, _CLOCK] + idle
        none = reading <= 0
        for place, name in enumerate(self._weighted, 3):
            rates = WEIGHTED[name].rate(rows[:, place], reading + none, idle)
            told[name] = np.where(none, 0.0, rates)
        return told


def known_for(names: Iterable[str], clock: Literal["visit", "cycle"] = "visit") -> Known:
    """Return what keeps these names, in the order in which they are listed here."""
    asked = frozenset(names)
    return Known(tuple(name for name in ALL if name in asked), clock)
