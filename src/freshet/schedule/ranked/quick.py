"""The policy of a formula with extended names, quick enough to try thousands of formulas.

In a simulated crawl in cycles every visit is a look, no page waits and no host has a cap; and pages
of one host and one past have one forecast, of which there are about a fourth as many as pages.
Choices are those of the policy to the last bit, for the same functions compute them.
"""

import numpy as np

from freshet.core.tables import DAY_SECONDS, PageTable, Truths
from freshet.core.types import Floats, Indices
from freshet.formula.expression import Formula
from freshet.formula.variables import Clock
from freshet.schedule.cadence import CYCLES
from freshet.schedule.ranked.foreseeing import FORECAST, Foreseeing
from freshet.schedule.ranked.kernels import quick as kernels
from freshet.schedule.ranking_rules import Rows
from freshet.schedule.states import Looks
from freshet.schedule.top_k import best, lottery


class InCycles(Foreseeing):
    """A policy in cycles on pages whose ids are their places, all of them known from the start."""

    def __init__(
        self, pages: PageTable, formula: Formula, *, clock: Clock = "visit", seed: int = 0
    ) -> None:
        super().__init__(str(formula), formula, cadence=CYCLES, clock=clock, seed=seed)
        self.add(pages)
        self._forecasts = not formula.names.isdisjoint(FORECAST)
        self._all: Indices = np.arange(len(pages), dtype=np.int32)
        self._pasts = kernels.begun(self.states.site, self.states.host)
        self._numbers, self._firsts = kernels.alike(self._pasts)

    def choose_in(self, cycle: int, k: int) -> tuple[Indices, Floats]:
        """Return the k pages of the highest value and their values, best first."""
        now = cycle * DAY_SECONDS
        if self._forecasts:
            self._numbers, self._firsts = kernels.alike(self._pasts)
            self.foresight.plan(now, lambda rows: self._mean_rates(now)[rows])
        values = self.score(self._all, now)
        draw = lottery(self._seed, now)
        places = best(values, k, lambda some: draw(self.states.ids[some]))
        return self._all[places], values[places]

    def learn_in(self, cycle: int, pages: Indices, changed: Truths) -> None:
        """Take in what looks at pages found, no page twice among them."""
        now, states = cycle * DAY_SECONDS, self.states
        gaps = states.ages(pages, now)
        states.last[pages] = now
        states.measured[pages] += 1
        states.changes[pages] += changed
        count = len(pages)
        looks = Looks(pages, np.full(count, now), gaps, np.ones(count, np.bool_), changed)
        if self._forecasts:
            self.foresight.learn(looks)
            kernels.lengthened(self._pasts, pages, gaps, changed)
        self.remember(looks)

    def chances_and_rates(self, rows: Rows, now: float) -> tuple[Floats, Floats]:
        """Return chances and rates of all pages, computed once for those of one past."""
        chances, rates = super().chances_and_rates(self._firsts, now)
        return chances[self._numbers], rates[self._numbers]

    def _mean_rates(self, now: float) -> Floats:
        means: Floats = self.foresight.mean_rates(self._firsts, now)[self._numbers]
        return means
