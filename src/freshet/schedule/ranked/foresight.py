"""What the default policy's forecast tells a formula: rates, chances and ages by directories' pace.

A crawl in cycles learns the prior once a week: no worse than at every plan, and far quicker.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from freshet.core.tables import DAY_SECONDS, BoolArray, PolicyExplanation
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.cadence import CrawlCadence
from freshet.schedule.explanation import explain_page
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.kernels.posterior import survival_by_day
from freshet.schedule.lookaround import MeanRates
from freshet.schedule.objectives import OBJECTIVES
from freshet.schedule.ranking_rules import RowArray
from freshet.schedule.states import LookBatch, PageStates

HOUR_SECONDS = 3_600.0
PRIOR_REFIT_SECONDS = 7 * DAY_SECONDS
WHOLE_DAYS = 512


class FormulaForecast:
    """The posterior of the objective ``changes``, with look-around clocks where they are wanted.

    In continuous time prior and clocks are learnt hourly, in cycles the clocks at every plan.
    """

    def __init__(
        self, states: PageStates, cadence: CrawlCadence, seed: int, *, looks_around: bool
    ) -> None:
        objective = replace(OBJECTIVES["changes"], looks_around=looks_around)
        self._states = states
        self._forecasts = ForecastModel(states, objective, cadence, seed)
        self._in_cycles = cadence.in_cycles
        self._whole = survival_by_day(cadence.rates, WHOLE_DAYS)
        self._planned = self._learnt = np.nan

    def add(self, rows: IndexArray) -> None:
        """Take new pages into account."""
        self._forecasts.add(rows)

    def keep_rows(self, kept: BoolArray) -> None:
        """Leave out what belongs to pages that are forgotten."""
        self._forecasts.keep_rows(kept)

    def learn(self, looks: LookBatch) -> None:
        """Take looks in."""
        self._forecasts.learn(looks)

    def refit_if_due(self, now: float, rates: MeanRates | None = None) -> None:
        """Learn prior and clocks when it is time to; ``mean_rates`` may tell mean rates sooner."""
        period = now if self._in_cycles else now // HOUR_SECONDS
        if period == self._planned:
            return
        lasts = PRIOR_REFIT_SECONDS if self._in_cycles else 0.0
        if not abs(now - self._learnt) < lasts:
            self._forecasts.refit_prior(now)
            self._learnt = now
        self._forecasts.refit_clocks(now, rates)
        self._planned = period

    def change_chances_and_rates(self, rows: RowArray, now: float) -> tuple[FloatArray, FloatArray]:
        """Return each page's chance to have changed since its last look, and its changes a day."""
        self._plan_first(now)
        states, forecasts = self._states, self._forecasts
        ages, prior = (
            states.days_since_look(rows, now, never=0.0),
            forecasts.prior.rows_for(states, rows),
        )
        likelihood = states.column("likelihood")
        return forecasts.posterior.change_chances_and_rates(
            likelihood, rows, ages, prior, self._whole
        )

    def mean_rates(self, rows: RowArray, now: float) -> FloatArray:
        """Return each page's changes a day, by which the clocks go."""
        return self._forecasts.mean_rates(rows, now)

    def effective_ages(self, rows: RowArray, now: float) -> FloatArray:
        """Return the days since each page's last look as they passed for its directory."""
        self._plan_first(now)
        return self._forecasts.ages_and_effective_ages(rows, now)[1]

    def add_explanation(self, told: PolicyExplanation, row: int, now: float) -> PolicyExplanation:
        """Return an explanation with what the forecast adds to it."""
        plan = (told.policy, told.multiplier)
        more = explain_page(self._forecasts, row, now, plan)
        return replace(more, value=told.value, due=None)

    def state(self) -> dict[str, Any]:
        """Return everything learnt, as plain arrays and numbers."""
        return self._forecasts.state() | {"planned": self._planned, "prior_learnt": self._learnt}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        self._forecasts.restore(state)
        self._planned = float(state["planned"])
        self._learnt = float(state["prior_learnt"])

    def _plan_first(self, now: float) -> None:
        """Plan where that was never done: who asks later alters no plan."""
        if np.isnan(self._planned):
            self.refit_if_due(now)
