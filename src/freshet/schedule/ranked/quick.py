"""The policy of a formula with extended names, quick enough to try thousands of formulas.

In a simulated crawl in cycles every visit is a look, no page waits and no host has a cap; and pages
of one host and one past have one forecast, of which there are about a fourth as many as pages.
Choices are those of the policy to the last bit, for the same functions compute them.
"""

import numpy as np

from freshet.core.tables import DAY_SECONDS, BoolArray, PageTable
from freshet.core.types import FloatArray, IndexArray
from freshet.formula.expression import Formula
from freshet.formula.variables import WeightClock
from freshet.schedule.cadence import CYCLE_CADENCE
from freshet.schedule.ranked.foreseeing import FORECAST_VARIABLES, ExtendedFormulaPolicy
from freshet.schedule.ranked.kernels import quick as kernels
from freshet.schedule.ranking_rules import RowArray
from freshet.schedule.states import LookBatch
from freshet.schedule.top_k import tie_breaker, top_k


class CycleFormulaPolicy(ExtendedFormulaPolicy):
    """A policy in cycles on pages whose ids are their places, all of them known from the start."""

    def __init__(
        self, pages: PageTable, formula: Formula, *, clock: WeightClock = "visit", seed: int = 0
    ) -> None:
        super().__init__(str(formula), formula, cadence=CYCLE_CADENCE, clock=clock, seed=seed)
        self.add(pages)
        self._forecasts = not formula.variables.isdisjoint(FORECAST_VARIABLES)
        self._all: IndexArray = np.arange(len(pages), dtype=np.int32)
        self._pasts = kernels.initial_history_keys(self.page_states.site, self.page_states.host)
        self._numbers, self._firsts = kernels.number_equal_keys(self._pasts)

    def choose_in_cycle(self, cycle: int, k: int) -> tuple[IndexArray, FloatArray]:
        """Return the k pages of the highest value and their values, best first."""
        now = cycle * DAY_SECONDS
        if self._forecasts:
            self._numbers, self._firsts = kernels.number_equal_keys(self._pasts)
            self.forecast.refit_if_due(now, lambda rows: self._mean_rates(now)[rows])
        values = self.score(self._all, now)
        draw = tie_breaker(self._seed, now)
        places = top_k(values, k, lambda some: draw(self.page_states.ids[some]))
        return self._all[places], values[places]

    def learn_in_cycle(self, cycle: int, pages: IndexArray, changed: BoolArray) -> None:
        """Take in what looks at pages found, no page twice among them."""
        now, states = cycle * DAY_SECONDS, self.page_states
        gaps = states.days_since_look(pages, now)
        states.last[pages] = now
        states.measured[pages] += 1
        states.changes[pages] += changed
        count = len(pages)
        looks = LookBatch(pages, np.full(count, now), gaps, np.ones(count, np.bool_), changed)
        if self._forecasts:
            self.forecast.learn(looks)
            kernels.add_looks(self._pasts, pages, gaps, changed)
        self.update_columns(looks)

    def change_chances_and_rates(self, rows: RowArray, now: float) -> tuple[FloatArray, FloatArray]:
        """Return chances and rates of all pages, computed once for those of one past."""
        chances, rates = super().change_chances_and_rates(self._firsts, now)
        return chances[self._numbers], rates[self._numbers]

    def _mean_rates(self, now: float) -> FloatArray:
        means: FloatArray = self.forecast.mean_rates(self._firsts, now)[self._numbers]
        return means
