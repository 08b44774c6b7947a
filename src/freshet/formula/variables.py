"""What a formula may know of a page, kept as running sums, a row per page or per class of pages.

Santos et al. 2015, section 5.1: ``n`` looks, ``X`` changes seen, ``t`` cycles since the last look,
and five estimates of the rate of change. In a formula the estimates are rates; as rules of their
own, NAD, SAD, AAD and GAD rank by the chance that follows from the rate.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freshet.core.tables import Truths
from freshet.core.types import Floats
from freshet.formula import kernels
from freshet.formula.kernels import Codes

Clock = Literal["visit", "cycle"]
Measure = Literal["ndcg", "changerate"]

BASIC = ("n", "X", "t")
WEIGHTED = ("NAD", "SAD", "AAD", "GAD")
ALL = (*BASIC, "CG", *WEIGHTED)
WIDTH = kernels.WIDTH
_NEEDED_BY = (
    {"n", "CG"},
    {"X", "CG", "NAD"},
    set(WEIGHTED),
    {"SAD"},
    {"AAD"},
    {"GAD"},
)


@dataclass(frozen=True, slots=True)
class Known:
    """Keeps what some names need: how rows change with a look, and what they tell at a moment.

    A row holds looks, changes, the clock of the weights, and the sums of SAD, AAD and GAD. What no
    name needs stays 0, so that pages that differ only in that are alike.
    """

    names: tuple[str, ...]
    clock: Clock = "visit"

    @property
    def numbers(self) -> Codes:
        """Return the number of every name."""
        return np.array([ALL.index(name) for name in self.names], np.int64)

    @property
    def needs(self) -> Codes:
        """Return which sums are kept."""
        return np.array([not by.isdisjoint(self.names) for by in _NEEDED_BY], np.int64)

    @property
    def by_cycle(self) -> bool:
        """Whether weights go by cycles instead of by looks."""
        return self.clock == "cycle"

    @property
    def changes_with_age(self) -> bool:
        """Whether what the names tell changes from cycle to cycle without a look."""
        return "t" in self.names or (self.by_cycle and not set(WEIGHTED).isdisjoint(self.names))

    def rows(self, count: int) -> Floats:
        """Return rows of pages that were never looked at."""
        return np.zeros((count, WIDTH))

    def after(self, rows: Floats, gaps: Floats, changed: Truths) -> Floats:
        """Return rows after one more look each, so many cycles after the one before."""
        rows = rows.astype(np.float64, copy=True)
        kernels.after(rows, gaps, changed, self.needs, self.by_cycle)
        return rows

    def told(self, rows: Floats, ages: Floats) -> dict[str, Floats]:
        """Return what every name stands for, given the cycles since each row's last look."""
        told = np.empty((len(self.names), len(ages)))
        kernels.tell(self.numbers, (rows, ages), self.by_cycle, 0, told)
        return dict(zip(self.names, told, strict=True))


def known_for(names: Iterable[str], clock: Clock = "visit") -> Known:
    """Return what keeps these names, in the order in which they are listed here."""
    asked = frozenset(names)
    return Known(tuple(name for name in ALL if name in asked), clock)
