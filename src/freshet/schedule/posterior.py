"""How fast each page changes: a posterior over a grid of rates, learnt look by look.

A look ``x`` days after the one before says "changed" with probability 1 - e^{-λx} at rate λ; both
answers are mixed with a small chance of being wrong, and what was learnt fades by the day.
Probabilities are averaged over the posterior, never taken from one rate.
"""

from dataclasses import dataclass
from math import log
from typing import Any

from numpy.typing import NDArray

from freshet.core.types import Floats
from freshet.schedule.columns import Small
from freshet.schedule.kernels import posterior as kernels
from freshet.schedule.kernels.posterior import Prior
from freshet.schedule.states import Looks


@dataclass(frozen=True, slots=True)
class Learning:
    """How much one look is believed: its chance to mislead, and what a day leaves of it."""

    rates: Floats
    outliers: float
    memory: float

    def observe(self, likelihood: Small, looks: Looks) -> None:
        """Take looks into the likelihoods of their pages."""
        columns = (looks.rows, looks.gaps, looks.measured, looks.changed)
        kernels.observe(likelihood, columns, self.rates, self.outliers, log(self.memory))

    def faded(self, likelihood: Small, rows: NDArray[Any], ages: Floats) -> Floats:
        """Return what looks at every row still say of each rate, as shares of the likeliest's."""
        return kernels.faded(likelihood, rows, ages, log(self.memory))

    def posteriors(
        self, likelihood: Small, rows: NDArray[Any], ages: Floats, prior: Prior
    ) -> Floats:
        """Return the posterior of every row, a column per rate."""
        return kernels.posteriors(likelihood, rows, ages, prior, log(self.memory))

    def mean_rates(
        self, likelihood: Small, rows: NDArray[Any], ages: Floats, prior: Prior
    ) -> Floats:
        """Return the mean rate of every row, in changes a day."""
        return kernels.mean_rates(likelihood, rows, ages, prior, self.rates, log(self.memory))

    def chances_and_rates(
        self, likelihood: Small, rows: NDArray[Any], ages: Floats, prior: Prior, whole: Floats
    ) -> tuple[Floats, Floats]:
        """Return each page's chance to have changed, and its mean rate in changes a day."""
        grid = (self.rates, whole)
        return kernels.chances_and_rates(likelihood, rows, ages, prior, grid, log(self.memory))

    def forecast(
        self, likelihood: Small, rows: NDArray[Any], ages: tuple[Floats, Floats], prior: Prior
    ) -> tuple[Floats, Floats]:
        """Return each page's chance to have changed, and the fresh days that a look would gain.

        ``ages`` are in days as they passed, and in days of usual pace.
        """
        return kernels.forecast(likelihood, rows, ages, prior, self.rates, log(self.memory))
