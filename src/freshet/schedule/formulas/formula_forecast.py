"""The forecast variables of formulas: mean rates, chances of a change and effective ages.

A crawl in cycles refits the prior once a week, which is far faster than at every plan and no worse.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from freshet.core.tables import DAY_SECONDS, HOUR_SECONDS, BoolArray, PolicyExplanation
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.cadence import CrawlCadence
from freshet.schedule.explanation import explain_page_value
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.formulas.lookaround import LookAroundClocks, MeanRates
from freshet.schedule.kernels.posterior import survival_by_day
from freshet.schedule.objectives import OBJECTIVES
from freshet.schedule.page_states import LookBatch, PageStates
from freshet.schedule.rules.ranking_rule import RowArray

PRIOR_REFIT_SECONDS = 7 * DAY_SECONDS
WHOLE_DAYS = 512
MAX_FITTED_LOOKS = 2_000_000


class FormulaForecast:
    """The forecast of the objective ``changes``, with look-around clocks if they are used.

    In continuous time prior and clocks are refitted every hour, in cycles the clocks at every plan.
    """

    def __init__(
        self, page_states: PageStates, cadence: CrawlCadence, seed: int, *, looks_around: bool
    ) -> None:
        self._page_states = page_states
        self._model = ForecastModel(
            page_states, OBJECTIVES["changes"], cadence, seed, has_events=False
        )
        max_looks = None if cadence.in_cycles else MAX_FITTED_LOOKS
        self._clocks = LookAroundClocks(max_looks) if looks_around else None
        self._in_cycles = cadence.in_cycles
        self._whole_day_survival = survival_by_day(cadence.rates, WHOLE_DAYS)
        self._fitted_period = self._prior_fitted_at = np.nan

    def add(self, rows: IndexArray) -> None:
        """Add the rows of new pages."""
        if self._clocks:
            self._clocks.add(self._page_states, rows)

    def keep_rows(self, mask: BoolArray) -> None:
        """Remove the rows outside the mask."""
        if self._clocks:
            self._clocks.keep_rows(self._page_states, mask)

    def learn(self, looks: LookBatch) -> None:
        """Learn from looks."""
        self._model.learn(looks)
        if self._clocks:
            self._clocks.learn(self._page_states, looks)

    def refit_if_due(self, now: float, rates: MeanRates | None = None) -> None:
        """Refit prior and clocks if they are due; ``rates`` is a faster source of mean rates."""
        period = now if self._in_cycles else now // HOUR_SECONDS
        if period == self._fitted_period:
            return
        prior_interval = PRIOR_REFIT_SECONDS if self._in_cycles else 0.0
        if not abs(now - self._prior_fitted_at) < prior_interval:
            self._model.refit_prior(now)
            self._prior_fitted_at = now
        if self._clocks:
            rates = rates or (lambda rows: self.mean_rates(rows, now))
            self._clocks.refit(self._page_states, now, rates)
        self._fitted_period = period

    def change_chances_and_rates(self, rows: RowArray, now: float) -> tuple[FloatArray, FloatArray]:
        """Return each page's chance of having changed since its last look, and its mean rate."""
        self._fit_if_never(now)
        states, model = self._page_states, self._model
        ages = states.days_since_look(rows, now, never=0.0)
        prior = model.prior.rows_for(states, rows)
        likelihood = states.column("likelihood")
        return model.posterior.change_chances_and_rates(
            likelihood, rows, ages, prior, self._whole_day_survival
        )

    def mean_rates(self, rows: RowArray, now: float) -> FloatArray:
        """Return each page's mean rate in changes per day."""
        return self._model.mean_rates(rows, now)

    def effective_ages(self, rows: RowArray, now: float) -> FloatArray:
        """Return the days since each page's last look by the clock of its directory."""
        self._fit_if_never(now)
        ages = self._page_states.days_since_look(rows, now, never=0.0)
        if not self._clocks:
            return ages
        return self._clocks.effective_ages(self._page_states.directory[rows], ages, now)

    def add_explanation(
        self, explanation: PolicyExplanation, row: int, now: float
    ) -> PolicyExplanation:
        """Return an explanation with the figures of the forecast added."""
        plan = (explanation.policy, explanation.multiplier)
        extended = explain_page_value(self._model, row, now, plan)
        age = explanation.age_days
        effective_age = float(self.effective_ages(np.array([row]), now)[0])
        clock = effective_age / age if 0 < age < np.inf and self._clocks else None
        return replace(extended, value=explanation.value, due=None, clock=clock)

    def state(self) -> dict[str, Any]:
        """Return everything learned, as plain arrays and numbers."""
        fitted = {"fitted_period": self._fitted_period, "prior_fitted_at": self._prior_fitted_at}
        clocks = self._clocks.state() if self._clocks else {}
        return self._model.state() | clocks | fitted

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self._model.restore(state)
        if self._clocks:
            self._clocks.restore(state)
        self._fitted_period = float(state["fitted_period"])
        self._prior_fitted_at = float(state["prior_fitted_at"])

    def _fit_if_never(self, now: float) -> None:
        """Fit prior and clocks the first time; later calls of the getters fit nothing."""
        if np.isnan(self._fitted_period):
            self.refit_if_due(now)
