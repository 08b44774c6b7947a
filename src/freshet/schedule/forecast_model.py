"""The forecast of all pages: likelihoods of change rates, prior and look-around clocks together."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.cadence import CrawlCadence
from freshet.schedule.columns import row_blocks
from freshet.schedule.lookaround import LookAroundClocks, MeanRates
from freshet.schedule.objectives import CrawlObjective, PageScores, concatenate_scores
from freshet.schedule.page_states import LookBatch, PageStates
from freshet.schedule.posterior import RatePosterior
from freshet.schedule.prior import HierarchicalPrior

PRIOR_STEPS, FIRST_PRIOR_STEPS = 2, 6
MAX_FITTED_LOOKS = 2_000_000


class ForecastModel:
    """Learns from looks how pages change, and computes chances of change and values of looks."""

    def __init__(
        self, page_states: PageStates, objective: CrawlObjective, cadence: CrawlCadence, seed: int
    ) -> None:
        self.page_states = page_states
        self.objective = objective
        self.cadence = cadence
        self.seed = seed
        self.posterior = RatePosterior(
            cadence.rates, objective.outlier_chance, objective.daily_retention
        )
        self.prior = HierarchicalPrior(cadence.rates)
        max_looks = None if cadence.in_cycles else MAX_FITTED_LOOKS
        self.look_around = LookAroundClocks(max_looks) if objective.looks_around else None
        self._is_fitted = False

    @property
    def nbytes(self) -> int:
        """Return the memory of prior and clocks in bytes."""
        return self.prior.nbytes + (self.look_around.nbytes if self.look_around else 0)

    def add(self, rows: IndexArray) -> None:
        """Add the rows of new pages."""
        if self.look_around:
            self.look_around.add(self.page_states, rows)

    def keep_rows(self, kept: BoolArray) -> None:
        """Remove the rows outside the mask."""
        if self.look_around:
            self.look_around.keep_rows(self.page_states, kept)

    def learn(self, looks: LookBatch) -> None:
        """Learn from looks."""
        self.posterior.add_looks(self.page_states.column("likelihood"), looks)
        if self.look_around:
            self.look_around.learn(self.page_states, looks)

    def refit(self, now: float) -> None:
        """Fit the prior and the clocks to everything learned so far."""
        self.refit_prior(now)
        self.refit_clocks(now)

    def refit_prior(self, now: float) -> None:
        """Fit the prior to all pages.

        A crawl in continuous time takes more steps the first time, so that a policy that is rebuilt
        from stored visits soon gives the same forecasts as before.
        """
        is_first = not (self._is_fitted or self.cadence.in_cycles)
        steps = FIRST_PRIOR_STEPS if is_first else PRIOR_STEPS
        self.prior.fit(self.page_states, self.posterior, now, steps=steps, seed=self.seed)
        self._is_fitted = True

    def refit_clocks(self, now: float, rates: MeanRates | None = None) -> None:
        """Fit the look-around clocks, if there are any; ``rates`` overrides the mean rates."""
        if self.look_around:
            rates = rates or (lambda rows: self.mean_rates(rows, now))
            self.look_around.refit(self.page_states, now, rates)

    def mean_rates(self, rows: NDArray[Any], now: float) -> FloatArray:
        """Return each page's mean rate, in changes per day."""
        ages = self.page_states.days_since_look(rows, now, never=0.0)
        prior = self.prior.rows_for(self.page_states, rows)
        return self.posterior.mean_rates(self.page_states.column("likelihood"), rows, ages, prior)

    def ages_and_effective_ages(
        self, rows: NDArray[Any], now: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the days since each page's last look, by calendar and by its directory's clock.

        Both are 0 for pages that were never looked at.
        """
        ages = self.page_states.days_since_look(rows, now, never=0.0)
        if not self.look_around:
            return ages, ages
        return ages, self.look_around.effective_ages(self.page_states.directory[rows], ages, now)

    def page_scores(self, rows: NDArray[Any], now: float) -> PageScores:
        """Return effective ages, chances of a change and values of pages now."""
        return concatenate_scores([
            self._scores(block, self.ages_and_effective_ages(block, now))
            for block in row_blocks(rows)
        ])

    def scores_after_days(self, row: int, now: float, days: FloatArray) -> PageScores:
        """Return the scores of one page that many days from now, if nothing else is learned."""
        rows = np.full(len(days), row)
        ages, effective_ages = self.ages_and_effective_ages(rows, now)
        return self._scores(rows, (ages + days, effective_ages + days))

    def survival(self, rows: NDArray[Any], now: float, horizons: FloatArray) -> FloatArray:
        """Return the chance that pages are unchanged since their last look, a column per horizon.

        Horizons are days from now; pages that were never looked at count from now.
        """
        ages, effective_ages = self.ages_and_effective_ages(rows, now)
        prior = self.prior.rows_for(self.page_states, rows)
        likelihood = self.page_states.column("likelihood")
        weights = self.posterior.posteriors(likelihood, rows, ages, prior)
        days = effective_ages[:, None] + horizons
        survival_by_rate = np.exp(-days[:, :, None] * self.cadence.rates)
        survival: FloatArray = np.einsum("phr,pr->ph", survival_by_rate, weights)
        return survival

    def state(self) -> dict[str, Any]:
        """Return prior and clocks as plain arrays."""
        clocks = self.look_around.state() if self.look_around else {}
        return self.prior.state() | clocks | {"refreshed": self._is_fitted}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self.prior.restore(state)
        if self.look_around:
            self.look_around.restore(state)
        self._is_fitted = bool(state["refreshed"])

    def _scores(self, rows: NDArray[Any], ages: tuple[FloatArray, FloatArray]) -> PageScores:
        """Return the scores of pages at ages in calendar days and by their directory's clock."""
        states, prior = self.page_states, self.prior.rows_for(self.page_states, rows)
        likelihood = states.column("likelihood")
        chances, gains = self.posterior.change_chances_and_gains(likelihood, rows, ages, prior)
        gain = chances if self.objective.name == "changes" else gains
        values = gain * states.importance[rows] * states.look_chances(rows)
        is_unseen = np.isnan(states.last_look[rows])
        return PageScores(
            ages[1], np.where(is_unseen, np.nan, chances), np.where(is_unseen, np.inf, values)
        )
