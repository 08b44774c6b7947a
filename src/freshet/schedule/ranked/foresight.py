"""What the default policy's forecast tells a formula: rates, chances and ages by directories' pace.

A crawl in cycles learns the prior once a week: no worse than at every plan, and far quicker.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from freshet.core.tables import DAY_SECONDS, Explanation, Truths
from freshet.core.types import Floats, Indices
from freshet.schedule.cadence import Cadence
from freshet.schedule.explanation import explain
from freshet.schedule.forecast_model import Forecasts
from freshet.schedule.kernels.posterior import unchanged
from freshet.schedule.lookaround import Rates
from freshet.schedule.objectives import OBJECTIVES
from freshet.schedule.ranking_rules import Rows
from freshet.schedule.states import Looks, PageStates

HOUR_SECONDS = 3_600.0
PRIOR_SECONDS = 7 * DAY_SECONDS
WHOLE_DAYS = 512


class Foresight:
    """The posterior of the objective ``changes``, with look-around clocks where they are wanted.

    In continuous time prior and clocks are learnt hourly, in cycles the clocks at every plan.
    """

    def __init__(
        self, states: PageStates, cadence: Cadence, seed: int, *, looks_around: bool
    ) -> None:
        objective = replace(OBJECTIVES["changes"], looks_around=looks_around)
        self._states = states
        self._forecasts = Forecasts(states, objective, cadence, seed)
        self._in_cycles = cadence.in_cycles
        self._whole = unchanged(cadence.rates, WHOLE_DAYS)
        self._planned = self._learnt = np.nan

    def add(self, rows: Indices) -> None:
        """Take new pages into account."""
        self._forecasts.add(rows)

    def forget(self, kept: Truths) -> None:
        """Leave out what belongs to pages that are forgotten."""
        self._forecasts.forget(kept)

    def learn(self, looks: Looks) -> None:
        """Take looks in."""
        self._forecasts.learn(looks)

    def plan(self, now: float, rates: Rates | None = None) -> None:
        """Learn prior and clocks when it is time to; ``rates`` may tell mean rates sooner."""
        period = now if self._in_cycles else now // HOUR_SECONDS
        if period == self._planned:
            return
        lasts = PRIOR_SECONDS if self._in_cycles else 0.0
        if not abs(now - self._learnt) < lasts:
            self._forecasts.learn_prior(now)
            self._learnt = now
        self._forecasts.set_clock(now, rates)
        self._planned = period

    def chances_and_rates(self, rows: Rows, now: float) -> tuple[Floats, Floats]:
        """Return each page's chance to have changed since its last look, and its changes a day."""
        self._plan_first(now)
        states, forecasts = self._states, self._forecasts
        ages, prior = states.ages(rows, now, never=0.0), forecasts.prior.of(states, rows)
        likelihood = states.column("likelihood")
        return forecasts.learning.chances_and_rates(likelihood, rows, ages, prior, self._whole)

    def mean_rates(self, rows: Rows, now: float) -> Floats:
        """Return each page's changes a day, by which the clocks go."""
        return self._forecasts.rates(rows, now)

    def effective_ages(self, rows: Rows, now: float) -> Floats:
        """Return the days since each page's last look as they passed for its directory."""
        self._plan_first(now)
        return self._forecasts.ages(rows, now)[1]

    def explained(self, told: Explanation, row: int, now: float) -> Explanation:
        """Return an explanation with what the forecast adds to it."""
        plan = (told.policy, told.multiplier)
        more = explain(self._forecasts, row, now, plan)
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
            self.plan(now)
