"""What a formula may know of a page, kept as running sums, a row per page or per class of pages.

Santos et al. 2015, section 5.1: ``n`` looks, ``X`` changes seen, ``t`` cycles since the last look,
and five estimates of the rate of change. In a formula the estimates are rates; as rules of their
own, NAD, SAD, AAD and GAD rank by the chance that follows from the rate.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray
from freshet.formula import kernels
from freshet.formula.kernels import CodeArray

WeightClock = Literal["visit", "cycle"]
FitnessMeasure = Literal["ndcg", "changerate"]

BASIC_VARIABLES = ("n", "X", "t")
WEIGHTED_ESTIMATES = ("NAD", "SAD", "AAD", "GAD")
PAPER_VARIABLES = (*BASIC_VARIABLES, "CG", *WEIGHTED_ESTIMATES)
SUM_COUNT = kernels.SUM_COUNT
_NEEDED_BY = (
    {"n", "CG"},
    {"X", "CG", "NAD"},
    set(WEIGHTED_ESTIMATES),
    {"SAD"},
    {"AAD"},
    {"GAD"},
)


@dataclass(frozen=True, slots=True)
class VariableSet:
    """Keeps what some names need: how rows change with a look, and what they tell at a moment.

    A row holds looks, changes, the clock of the weights, and the sums of SAD, AAD and GAD. What no
    name needs stays 0, so that pages that differ only in that are alike.
    """

    names: tuple[str, ...]
    clock: WeightClock = "visit"

    @property
    def codes(self) -> CodeArray:
        """Return the number of every name."""
        return np.array([PAPER_VARIABLES.index(name) for name in self.names], np.int64)

    @property
    def needed_sums(self) -> CodeArray:
        """Return which sums are kept."""
        return np.array([not by.isdisjoint(self.names) for by in _NEEDED_BY], np.int64)

    @property
    def by_cycle(self) -> bool:
        """Whether weights go by cycles instead of by looks."""
        return self.clock == "cycle"

    @property
    def changes_with_age(self) -> bool:
        """Whether what the names tell changes from cycle to cycle without a look."""
        return "t" in self.names or (
            self.by_cycle and not set(WEIGHTED_ESTIMATES).isdisjoint(self.names)
        )

    def new_rows(self, count: int) -> FloatArray:
        """Return rows of pages that were never looked at."""
        return np.zeros((count, SUM_COUNT))

    def rows_after_looks(
        self, rows: FloatArray, gaps: FloatArray, changed: BoolArray
    ) -> FloatArray:
        """Return rows after one more look each, so many cycles after the one before."""
        rows = rows.astype(np.float64, copy=True)
        kernels.add_looks(rows, gaps, changed, self.needed_sums, self.by_cycle)
        return rows

    def values(self, rows: FloatArray, ages: FloatArray) -> dict[str, FloatArray]:
        """Return what every name stands for, given the cycles since each row's last look."""
        told = np.empty((len(self.names), len(ages)))
        kernels.write_variables(self.codes, (rows, ages), self.by_cycle, 0, told)
        return dict(zip(self.names, told, strict=True))


def variable_set(names: Iterable[str], clock: WeightClock = "visit") -> VariableSet:
    """Return what keeps these names, in the order in which they are listed here."""
    asked = frozenset(names)
    return VariableSet(tuple(name for name in PAPER_VARIABLES if name in asked), clock)
