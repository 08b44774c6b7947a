"""What is known of all pages at a moment: likelihoods, prior and look-around clock together."""

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
from freshet.schedule.posterior import RatePosterior
from freshet.schedule.prior import HierarchicalPrior
from freshet.schedule.states import LookBatch, PageStates

PRIOR_STEPS, FIRST_PRIOR_STEPS = 2, 6
MAX_FITTED_LOOKS = 2_000_000


class ForecastModel:
    """Learns from looks how pages change, and says what looks at them are worth."""

    def __init__(
        self, states: PageStates, objective: CrawlObjective, cadence: CrawlCadence, seed: int
    ) -> None:
        self.page_states = states
        self.objective = objective
        self.cadence = cadence
        self.seed = seed
        self.posterior = RatePosterior(
            cadence.rates, objective.outlier_chance, objective.daily_retention
        )
        self.prior = HierarchicalPrior(cadence.rates)
        most_looks = None if cadence.in_cycles else MAX_FITTED_LOOKS
        self.look_around = LookAroundClocks(most_looks) if objective.looks_around else None
        self._refreshed = False

    @property
    def nbytes(self) -> int:
        """Return the memory that prior and clocks take."""
        return self.prior.nbytes + (self.look_around.nbytes if self.look_around else 0)

    def add(self, rows: IndexArray) -> None:
        """Take new pages into account."""
        if self.look_around:
            self.look_around.add(self.page_states, rows)

    def keep_rows(self, kept: BoolArray) -> None:
        """Leave out what belongs to pages that are forgotten."""
        if self.look_around:
            self.look_around.keep_rows(self.page_states, kept)

    def learn(self, looks: LookBatch) -> None:
        """Take looks in."""
        self.posterior.add_looks(self.page_states.column("likelihood"), looks)
        if self.look_around:
            self.look_around.learn(self.page_states, looks)

    def refit(self, now: float) -> None:
        """Learn the prior and the clocks from what is known by now.

        A crawl in continuous time settles its prior the first time, so that one that begins anew
        from its visits soon forecasts as it did.
        """
        self.refit_prior(now)
        self.refit_clocks(now)

    def refit_prior(self, now: float) -> None:
        """Learn what is expected of pages from what is known of all of them by now."""
        first = not (self._refreshed or self.cadence.in_cycles)
        steps = FIRST_PRIOR_STEPS if first else PRIOR_STEPS
        self.prior.fit(self.page_states, self.posterior, now, steps=steps, seed=self.seed)
        self._refreshed = True

    def refit_clocks(self, now: float, rates: MeanRates | None = None) -> None:
        """Learn the pace of directories, where it is looked for, by the mean rates of pages."""
        if self.look_around:
            self.look_around.refit(
                self.page_states, now, rates or (lambda rows: self.mean_rates(rows, now))
            )

    def mean_rates(self, rows: NDArray[Any], now: float) -> FloatArray:
        """Return each page's mean rate, in changes a day."""
        ages, prior = (
            self.page_states.days_since_look(rows, now, never=0.0),
            self.prior.rows_for(self.page_states, rows),
        )
        return self.posterior.mean_rates(self.page_states.column("likelihood"), rows, ages, prior)

    def ages_and_effective_ages(
        self, rows: NDArray[Any], now: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the days since each page's last look as they passed, and at usual pace.

        Both are 0 for pages that were never looked at.
        """
        passed = self.page_states.days_since_look(rows, now, never=0.0)
        if not self.look_around:
            return passed, passed
        return passed, self.look_around.effective_ages(
            self.page_states.directory[rows], passed, now
        )

    def page_scores(self, rows: NDArray[Any], now: float) -> PageScores:
        """Return what looks at pages are worth."""
        return concatenate_scores([
            self._scores(part, self.ages_and_effective_ages(part, now)) for part in row_blocks(rows)
        ])

    def scores_after_days(self, row: int, now: float, days: FloatArray) -> PageScores:
        """Return what a look at one page is worth that many days from now, by what is known."""
        rows = np.full(len(days), row)
        passed, stretched = self.ages_and_effective_ages(rows, now)
        return self._scores(rows, (passed + days, stretched + days))

    def survival(self, rows: NDArray[Any], now: float, horizons: FloatArray) -> FloatArray:
        """Return how likely pages are to be as last seen so many days from now, a column each.

        Pages that were never looked at count from now.
        """
        passed, stretched = self.ages_and_effective_ages(rows, now)
        prior = self.prior.rows_for(self.page_states, rows)
        weights = self.posterior.posteriors(
            self.page_states.column("likelihood"), rows, passed, prior
        )
        days = stretched[:, None] + horizons
        still = np.exp(-days[:, :, None] * self.cadence.rates)
        chances: FloatArray = np.einsum("phr,pr->ph", still, weights)
        return chances

    def state(self) -> dict[str, Any]:
        """Return prior and clocks as plain arrays."""
        clock = self.look_around.state() if self.look_around else {}
        return self.prior.state() | clock | {"refreshed": self._refreshed}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        self.prior.restore(state)
        if self.look_around:
            self.look_around.restore(state)
        self._refreshed = bool(state["refreshed"])

    def _scores(self, rows: NDArray[Any], ages: tuple[FloatArray, FloatArray]) -> PageScores:
        """Return what looks at pages are worth at ages as they passed and at usual pace."""
        states, prior = self.page_states, self.prior.rows_for(self.page_states, rows)
        likelihood = states.column("likelihood")
        chances, gains = self.posterior.change_chances_and_gains(likelihood, rows, ages, prior)
        worth = chances if self.objective.name == "changes" else gains
        values = worth * states.importance[rows] * states.look_chances(rows)
        never = np.isnan(states.last[rows])
        return PageScores(
            ages[1], np.where(never, np.nan, chances), np.where(never, np.inf, values)
        )
