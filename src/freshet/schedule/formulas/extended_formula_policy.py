"""A policy whose formula may also use variables of the default policy's forecast.

``rate`` is the mean of the posterior over change rates, in changes per day, and ``chance`` the
chance by it that the page has changed since its last look. ``around`` is the age in days by the
look-around clock of the page's directory. ``quiet`` is the number of days since the last change
seen, or since the first look if none was seen. ``weekday`` is the mean, over the changes seen, of
the cosine between the weekday on which each was found and today's. A cycle is a day. Formulas may
also use ``importance``; searches do if their fitness weighs by it.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from math import tau
from typing import Any

import numpy as np

from freshet.core.clock import to_epoch
from freshet.core.tables import (
    DAY_SECONDS,
    ChoiceTable,
    HostCaps,
    PageIdArray,
    PageTable,
    PolicyExplanation,
    VisitTable,
)
from freshet.core.types import FloatArray
from freshet.formula.expression import Formula
from freshet.formula.variables import BASIC_VARIABLES, PAPER_VARIABLES, WeightClock
from freshet.schedule.cadence import CELL_COUNT, CrawlCadence
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.formulas.formula_forecast import FormulaForecast
from freshet.schedule.formulas.formula_policy import FormulaPolicy
from freshet.schedule.page_states import DIRECTORY_COLUMN, LookBatch, RevisitDelays
from freshet.schedule.rules.ranking_rule import RowArray

FORECAST_VARIABLES = ("rate", "chance", "around")
HISTORY_VARIABLES = ("quiet", "weekday")
EXTENDED_VARIABLES = (*FORECAST_VARIABLES, *HISTORY_VARIABLES)
IMPORTANCE_VARIABLE = "importance"
VARIABLES_BY_TERMINAL_SET = {
    "basic": BASIC_VARIABLES,
    "all": PAPER_VARIABLES,
    "extended": (*PAPER_VARIABLES, *EXTENDED_VARIABLES),
}
WEEK_DAYS = 7


class ExtendedFormulaPolicy(FormulaPolicy):
    """Ranks pages by a formula of the extended variables."""

    def __init__(
        self,
        name: str,
        formula: Formula,
        *,
        cadence: CrawlCadence,
        clock: WeightClock = "visit",
        seed: int = 0,
        delays: RevisitDelays | None = None,
    ) -> None:
        super().__init__(
            name,
            formula,
            clock=clock,
            seed=seed,
            delays=delays,
            policy_columns={
                **DIRECTORY_COLUMN,
                "likelihood": ColumnSpec(np.float32, width=CELL_COUNT),
                "unchanged_since": ColumnSpec(np.float64, np.nan),
                "weekday_sums": ColumnSpec(np.float64, width=2),
            },
        )
        self._used_variables = formula.variables
        self._needs_sums = not self._used_variables.isdisjoint(PAPER_VARIABLES)
        looks_around = "around" in self._used_variables
        self.forecast = FormulaForecast(self.page_states, cadence, seed, looks_around=looks_around)

    def add(self, pages: PageTable) -> None:
        """Add pages."""
        self.forecast.add(self.page_states.add(pages))

    def forget(self, pages: PageIdArray) -> None:
        """Remove pages."""
        self.forecast.keep_rows(self.page_states.forget(pages))

    def learn(self, visits: VisitTable) -> None:
        """Learn from visits."""
        looks = self.page_states.add_visits(visits)
        self.forecast.learn(looks)
        for batch in looks.split_repeated_pages():
            self.update_columns(batch)

    def update_columns(self, looks: LookBatch) -> None:
        """Update the columns of the formula's variables by looks without repeated pages."""
        if self._needs_sums:
            super().update_columns(looks)
        changed = looks.changed & looks.measured
        if "quiet" in self._used_variables:
            unchanged_since = self.page_states.column("unchanged_since")
            is_start = changed | np.isnan(unchanged_since[looks.rows])
            unchanged_since[looks.rows[is_start]] = looks.times[is_start]
        if "weekday" in self._used_variables:
            weekday_sums = self.page_states.column("weekday_sums")
            weekday_sums[looks.rows[changed]] += _weekday_points(looks.times[changed])

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest value, best first, and mark them pending."""
        self.forecast.refit_if_due(to_epoch(now))
        return super().choose(now, k, caps)

    def variable_values(self, rows: RowArray, now: float) -> Mapping[str, FloatArray]:
        """Return the values of the formula's variables now."""
        values = dict(super().variable_values(rows, now)) if self._needs_sums else {}
        if "chance" in self._used_variables or "rate" in self._used_variables:
            values["chance"], values["rate"] = self.change_chances_and_rates(rows, now)
        if IMPORTANCE_VARIABLE in self._used_variables:
            values[IMPORTANCE_VARIABLE] = self.page_states.importance[rows].astype(np.float64)
        if "around" in self._used_variables:
            values["around"] = self.forecast.effective_ages(rows, now)
        if "quiet" in self._used_variables:
            days = (now - self.page_states.column("unchanged_since")[rows]) / DAY_SECONDS
            values["quiet"] = np.maximum(0.0, np.nan_to_num(days))
        if "weekday" in self._used_variables:
            sums = self.page_states.column("weekday_sums")[rows]
            today = _weekday_points(np.array([now]))[0]
            cosine_sums = sums[:, 0] * today[0] + sums[:, 1] * today[1]
            values["weekday"] = cosine_sums / np.maximum(1, self.page_states.changes[rows])
        return values

    def change_chances_and_rates(self, rows: RowArray, now: float) -> tuple[FloatArray, FloatArray]:
        """Return each page's chance of having changed since its last look, and its mean rate."""
        return self.forecast.change_chances_and_rates(rows, now)

    def change_chances(self, rows: RowArray, now: float) -> FloatArray:
        """Return the chance that each page has changed, NaN if it was never seen."""
        chances, _ = self.forecast.change_chances_and_rates(rows, now)
        return np.where(np.isnan(self.page_states.last_look[rows]), np.nan, chances)

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Return the figures behind a page's value: those of the formula and of the forecast."""
        explanation = super().explain(page, now)
        row = int(self.page_states.find_rows(np.array([page], np.int64))[0])
        extended = self.forecast.add_explanation(explanation, row, to_epoch(now))
        return replace(extended, reckoning=explanation.reckoning)

    def state(self) -> Mapping[str, Any]:
        """Return everything learned, as plain arrays, numbers and texts."""
        return {**super().state(), **self.forecast.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        super().restore(state)
        self.forecast.restore(state)


def _weekday_points(times: FloatArray) -> FloatArray:
    """Return the weekday of each time as a point on the unit circle.

    >>> _weekday_points(np.array([0.0, 1.9, 8.0]) * DAY_SECONDS).round(3).tolist()
    [[1.0, 0.0], [0.623, 0.782], [0.623, 0.782]]
    """
    angles = tau / WEEK_DAYS * np.floor(times / DAY_SECONDS)
    return np.column_stack((np.cos(angles), np.sin(angles)))
