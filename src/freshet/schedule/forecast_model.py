"""What is known of all pages at a moment: likelihoods, prior and look-around clock together."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import Truths
from freshet.core.types import Floats, Indices
from freshet.schedule.cadence import Cadence
from freshet.schedule.columns import blocks
from freshet.schedule.lookaround import LookAround, Rates
from freshet.schedule.objectives import Objective, Scores, joined
from freshet.schedule.posterior import Learning
from freshet.schedule.prior import HierarchicalPrior
from freshet.schedule.states import Looks, PageStates

STEPS, FIRST_STEPS = 2, 6
MOST_LOOKS = 2_000_000


class Forecasts:
    """Learns from looks how pages change, and says what looks at them are worth."""

    def __init__(
        self, states: PageStates, objective: Objective, cadence: Cadence, seed: int
    ) -> None:
        self.states = states
        self.objective = objective
        self.cadence = cadence
        self.seed = seed
        self.learning = Learning(cadence.rates, objective.outliers, objective.memory)
        self.prior = HierarchicalPrior(cadence.rates)
        most_looks = None if cadence.in_cycles else MOST_LOOKS
        self.clock = LookAround(most_looks) if objective.looks_around else None
        self._refreshed = False

    @property
    def nbytes(self) -> int:
        """Return the memory that prior and clocks take."""
        return self.prior.nbytes + (self.clock.nbytes if self.clock else 0)

    def add(self, rows: Indices) -> None:
        """Take new pages into account."""
        if self.clock:
            self.clock.add(self.states, rows)

    def forget(self, kept: Truths) -> None:
        """Leave out what belongs to pages that are forgotten."""
        if self.clock:
            self.clock.forget(self.states, kept)

    def learn(self, looks: Looks) -> None:
        """Take looks in."""
        self.learning.observe(self.states.column("likelihood"), looks)
        if self.clock:
            self.clock.learn(self.states, looks)

    def refresh(self, now: float) -> None:
        """Learn the prior and the clocks from what is known by now.

        A crawl in continuous time settles its prior the first time, so that one that begins anew
        from its visits soon forecasts as it did.
        """
        self.learn_prior(now)
        self.set_clock(now)

    def learn_prior(self, now: float) -> None:
        """Learn what is expected of pages from what is known of all of them by now."""
        first = not (self._refreshed or self.cadence.in_cycles)
        steps = FIRST_STEPS if first else STEPS
        self.prior.learn(self.states, self.learning, now, steps=steps, seed=self.seed)
        self._refreshed = True

    def set_clock(self, now: float, rates: Rates | None = None) -> None:
        """Learn the pace of directories, where it is looked for, by the mean rates of pages."""
        if self.clock:
            self.clock.refresh(self.states, now, rates or (lambda rows: self.rates(rows, now)))

    def rates(self, rows: NDArray[Any], now: float) -> Floats:
        """Return each page's mean rate, in changes a day."""
        ages, prior = self.states.ages(rows, now, never=0.0), self.prior.of(self.states, rows)
        return self.learning.mean_rates(self.states.column("likelihood"), rows, ages, prior)

    def ages(self, rows: NDArray[Any], now: float) -> tuple[Floats, Floats]:
        """Return the days since each page's last look as they passed, and at usual pace.

        Both are 0 for pages that were never looked at.
        """
        passed = self.states.ages(rows, now, never=0.0)
        if not self.clock:
            return passed, passed
        return passed, self.clock.stretch(self.states.directory[rows], passed, now)

    def scores(self, rows: NDArray[Any], now: float) -> Scores:
        """Return what looks at pages are worth."""
        return joined([self._scores(part, self.ages(part, now)) for part in blocks(rows)])

    def ahead(self, row: int, now: float, days: Floats) -> Scores:
        """Return what a look at one page is worth that many days from now, by what is known."""
        rows = np.full(len(days), row)
        passed, stretched = self.ages(rows, now)
        return self._scores(rows, (passed + days, stretched + days))

    def survival(self, rows: NDArray[Any], now: float, horizons: Floats) -> Floats:
        """Return how likely pages are to be as last seen so many days from now, a column each.

        Pages that were never looked at count from now.
        """
        passed, stretched = self.ages(rows, now)
        prior = self.prior.of(self.states, rows)
        weights = self.learning.posteriors(self.states.column("likelihood"), rows, passed, prior)
        days = stretched[:, None] + horizons
        still = np.exp(-days[:, :, None] * self.cadence.rates)
        chances: Floats = np.einsum("phr,pr->ph", still, weights)
        return chances

    def state(self) -> dict[str, Any]:
        """Return prior and clocks as plain arrays."""
        clock = self.clock.state() if self.clock else {}
        return self.prior.state() | clock | {"refreshed": self._refreshed}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        self.prior.restore(state)
        if self.clock:
            self.clock.restore(state)
        self._refreshed = bool(state["refreshed"])

    def _scores(self, rows: NDArray[Any], ages: tuple[Floats, Floats]) -> Scores:
        """Return what looks at pages are worth at ages as they passed and at usual pace."""
        states, prior = self.states, self.prior.of(self.states, rows)
        likelihood = states.column("likelihood")
        chances, gains = self.learning.forecast(likelihood, rows, ages, prior)
        worth = chances if self.objective.aim == "changes" else gains
        values = worth * states.importance[rows] * states.look_chances(rows)
        never = np.isnan(states.last[rows])
        return Scores(ages[1], np.where(never, np.nan, chances), np.where(never, np.inf, values))
