"""The variables of a formula, computed from running sums: a row per page or per class of pages.

Santos et al. 2015, section 5.1: ``n`` counts looks, ``X`` counts changes seen, ``t`` is the number
of cycles since the last look, and CG, NAD, SAD, AAD and GAD are estimates of the change rate. In a
formula the estimates are rates. As rules of their own, NAD, SAD, AAD and GAD rank pages by the
chance of a change that follows from the rate.
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

BASIC_VARIABLES = ("n", "X", "t")
WEIGHTED_ESTIMATES = ("NAD", "SAD", "AAD", "GAD")
PAPER_VARIABLES = (*BASIC_VARIABLES, "CG", *WEIGHTED_ESTIMATES)
SUM_COUNT = kernels.SUM_COUNT
# For each running sum, the variables that are computed from it.
_VARIABLES_BY_SUM = (
    {"n", "CG"},
    {"X", "CG", "NAD"},
    set(WEIGHTED_ESTIMATES),
    {"SAD"},
    {"AAD"},
    {"GAD"},
)


@dataclass(frozen=True, slots=True)
class VariableSet:
    """Some variables: how a look changes their running sums, and their values at a moment.

    A row of sums holds looks, changes, the clock of the weights, and the sums of SAD, AAD and GAD.
    Sums that no variable needs stay 0, so that pages which differ only in these have equal rows.
    """

    names: tuple[str, ...]
    clock: WeightClock = "visit"

    @property
    def codes(self) -> CodeArray:
        """Return the code of every variable, as the compiled loops use it."""
        return np.array([PAPER_VARIABLES.index(name) for name in self.names], np.int64)

    @property
    def needed_sums(self) -> CodeArray:
        """Return for every running sum whether it is needed."""
        needed = [not variables.isdisjoint(self.names) for variables in _VARIABLES_BY_SUM]
        return np.array(needed, np.int64)

    @property
    def by_cycle(self) -> bool:
        """Whether the weights of the estimates go by cycles instead of by looks."""
        return self.clock == "cycle"

    @property
    def changes_with_age(self) -> bool:
        """Whether the values change from cycle to cycle without a look."""
        return "t" in self.names or (
            self.by_cycle and not set(WEIGHTED_ESTIMATES).isdisjoint(self.names)
        )

    def new_rows(self, count: int) -> FloatArray:
        """Return rows of sums for pages that were never looked at."""
        return np.zeros((count, SUM_COUNT))

    def rows_after_looks(
        self, rows: FloatArray, gaps: FloatArray, changed: BoolArray
    ) -> FloatArray:
        """Return rows after one more look each, ``gaps`` cycles after the previous look."""
        rows = rows.astype(np.float64, copy=True)
        kernels.add_looks(rows, gaps, changed, self.needed_sums, self.by_cycle)
        return rows

    def values(self, rows: FloatArray, ages: FloatArray) -> dict[str, FloatArray]:
        """Return the values of every variable; ``ages`` are cycles since each row's last look."""
        columns = np.empty((len(self.names), len(ages)))
        kernels.write_variables(self.codes, (rows, ages), self.by_cycle, 0, columns)
        return dict(zip(self.names, columns, strict=True))


def variable_set(names: Iterable[str], clock: WeightClock = "visit") -> VariableSet:
    """Return the set of these variables, in the order of ``PAPER_VARIABLES``."""
    wanted = frozenset(names)
    return VariableSet(tuple(name for name in PAPER_VARIABLES if name in wanted), clock)
