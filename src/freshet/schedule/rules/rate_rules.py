"""Rules that rank by a published estimate of the change rate."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from freshet.core.types import FloatArray
from freshet.formula.variables import SUM_COUNT, VariableSet, WeightClock, variable_set
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.page_states import LookBatch, RevisitDelays
from freshet.schedule.rules.ranking_rule import RankingRule, RowArray

EXPOSURE_COLUMN = "days_observed"


class VariableRule(RankingRule):
    """A rule that keeps the running sums behind some variables of formulas."""

    def __init__(
        self,
        name: str,
        variables: VariableSet,
        *,
        seed: int = 0,
        delays: RevisitDelays | None = None,
        policy_columns: Mapping[str, ColumnSpec] | None = None,
    ) -> None:
        columns = {"sums": ColumnSpec(np.float64, width=SUM_COUNT), **(policy_columns or {})}
        super().__init__(name, seed=seed, delays=delays, columns=columns)
        self._variables = variables

    def update_columns(self, looks: LookBatch) -> None:
        """Add measured looks to the running sums."""
        measured = looks[np.flatnonzero(looks.measured)]
        sums = self.page_states.column("sums")
        sums[measured.rows] = self._variables.rows_after_looks(
            sums[measured.rows], measured.gap_days, measured.changed
        )

    def variable_values(self, rows: RowArray, now: float) -> Mapping[str, FloatArray]:
        """Return the values of the variables now; rates are 0 before the first look."""
        sums = self.page_states.column("sums")[rows]
        return self._variables.values(sums, self.page_states.days_since_look(rows, now, never=0.0))


class ChangeRateRule(VariableRule):
    """Ranks by the change rate alone (Cho and Garcia-Molina 2003, section 4.2).

    The rate is in changes per visit, whatever the time between visits.
    """

    weighs_importance = True

    def __init__(self, name: str, *, seed: int = 0, delays: RevisitDelays | None = None) -> None:
        super().__init__(name, variable_set(["CG"]), seed=seed, delays=delays)

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the estimated rate."""
        return self.variable_values(rows, now)["CG"]


class SmoothedRateRule(RankingRule):
    """Ranks by 1 - exp(-rate * age) with the rate (changes + 1/2) / (days observed + 1).

    The half change is that of Jeffreys' prior for a rate. Unlike the estimates of Santos et al.
    2015, a page without a change has a rate above 0, so that it is visited again at last.
    """

    weighs_importance = True
    columns: ClassVar[Mapping[str, ColumnSpec]] = {EXPOSURE_COLUMN: ColumnSpec(np.float64)}

    def update_columns(self, looks: LookBatch) -> None:
        """Add the days between measured looks to the days observed."""
        measured = looks[np.flatnonzero(looks.measured)]
        self.page_states.column(EXPOSURE_COLUMN)[measured.rows] += measured.gap_days

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the chance that each page has changed since its last look."""
        days_observed = self.page_states.column(EXPOSURE_COLUMN)[rows]
        rates = (self.page_states.changes[rows] + 0.5) / (days_observed + 1.0)
        return -np.expm1(-rates * self.page_states.days_since_look(rows, now, never=0.0))

    def change_chances(self, rows: RowArray, now: float) -> FloatArray:
        """Return the score, which is a chance."""
        return self.score(rows, now)


class WeightedEstimateRule(VariableRule):
    """Ranks by 1 - exp(-rate * age), where the rate is a weighted mean of the changes seen so far.

    The weights are uniform (NAD), all on the last look (SAD), growing by one (AAD) or doubling
    (GAD): Santos et al. 2015, section 5.1. They depend on the number of the look, as in the paper,
    or on that of the cycle (``clock="cycle"``), as in its authors' program.
    """

    weighs_importance = True

    def __init__(
        self,
        name: str,
        *,
        estimate: str,
        clock: WeightClock = "visit",
        seed: int = 0,
        delays: RevisitDelays | None = None,
    ) -> None:
        super().__init__(name, variable_set([estimate], clock), seed=seed, delays=delays)
        self._estimate = estimate

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the chance that each page has changed since its last look."""
        rates = self.variable_values(rows, now)[self._estimate]
        return -np.expm1(-rates * self.page_states.days_since_look(rows, now, never=0.0))

    def change_chances(self, rows: RowArray, now: float) -> FloatArray:
        """Return the score, which is a chance."""
        return self.score(rows, now)
