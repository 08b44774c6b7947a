"""The policy of an extended formula in a simulated crawl, fast enough to try thousands of formulas.

In a simulated crawl in cycles every visit is a look, no page waits and no host has a cap. Pages of
the same host with the same history have the same forecast, and there are about a quarter as many
different histories as pages. Choices equal those of the policy to the last bit, because the same
functions compute them.
"""

import numpy as np

from freshet.core.tables import DAY_SECONDS, BoolArray, PageTable
from freshet.core.types import FloatArray, IndexArray
from freshet.formula.expression import Formula
from freshet.formula.variables import WeightClock
from freshet.schedule.cadence import CYCLE_CADENCE
from freshet.schedule.formulas.extended_formula_policy import (
    FORECAST_VARIABLES,
    ExtendedFormulaPolicy,
)
from freshet.schedule.formulas.kernels import cycle_formula_policy as kernels
from freshet.schedule.page_states import LookBatch
from freshet.schedule.rules.ranking_rule import RowArray
from freshet.schedule.top_k import tie_breaker, top_k


class CycleFormulaPolicy(ExtendedFormulaPolicy):
    """A policy in cycles over a fixed set of pages whose ids are their row numbers."""

    def __init__(
        self, pages: PageTable, formula: Formula, *, clock: WeightClock = "visit", seed: int = 0
    ) -> None:
        super().__init__(str(formula), formula, cadence=CYCLE_CADENCE, clock=clock, seed=seed)
        self.add(pages)
        self._uses_forecast = not formula.variables.isdisjoint(FORECAST_VARIABLES)
        self._all_rows: IndexArray = np.arange(len(pages), dtype=np.int32)
        self._history_keys = kernels.initial_history_keys(
            self.page_states.site, self.page_states.host
        )
        self._history_numbers, self._first_rows = kernels.number_equal_keys(self._history_keys)

    def choose_in_cycle(self, cycle: int, k: int) -> tuple[IndexArray, FloatArray]:
        """Return the k pages of the highest value and their values, best first."""
        now = cycle * DAY_SECONDS
        if self._uses_forecast:
            self._history_numbers, self._first_rows = kernels.number_equal_keys(self._history_keys)
            self.forecast.refit_if_due(now, lambda rows: self._mean_rates(now)[rows])
        values = self.score(self._all_rows, now)
        break_ties = tie_breaker(self._seed, now)
        positions = top_k(values, k, lambda tied: break_ties(self.page_states.ids[tied]))
        return self._all_rows[positions], values[positions]

    def learn_in_cycle(self, cycle: int, pages: IndexArray, changed: BoolArray) -> None:
        """Learn from looks at pages, in which no page occurs twice."""
        now, states = cycle * DAY_SECONDS, self.page_states
        gap_days = states.days_since_look(pages, now)
        states.last_look[pages] = now
        states.measured_looks[pages] += 1
        states.changes[pages] += changed
        count = len(pages)
        looks = LookBatch(pages, np.full(count, now), gap_days, np.ones(count, np.bool_), changed)
        if self._uses_forecast:
            self.forecast.learn(looks)
            kernels.add_looks(self._history_keys, pages, gap_days, changed)
        self.update_columns(looks)

    def change_chances_and_rates(self, rows: RowArray, now: float) -> tuple[FloatArray, FloatArray]:
        """Return chances and rates of all pages, computed once per history."""
        chances, rates = super().change_chances_and_rates(self._first_rows, now)
        return chances[self._history_numbers], rates[self._history_numbers]

    def _mean_rates(self, now: float) -> FloatArray:
        means: FloatArray = self.forecast.mean_rates(self._first_rows, now)[self._history_numbers]
        return means
