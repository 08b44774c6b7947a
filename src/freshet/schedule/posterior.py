"""How fast each page changes: a posterior over a grid of rates, learnt look by look.

A look ``x`` days after the one before says "changed" with probability 1 - e^{-λx} at rate λ; both
answers are mixed with a small chance of being wrong, and what was learnt fades by the day.
Probabilities are averaged over the posterior, never taken from one rate.
"""

from dataclasses import dataclass
from math import log
from typing import Any

from numpy.typing import NDArray

from freshet.core.types import FloatArray
from freshet.schedule.columns import SmallFloatArray
from freshet.schedule.kernels import posterior as kernels
from freshet.schedule.kernels.posterior import PriorRows
from freshet.schedule.states import LookBatch


@dataclass(frozen=True, slots=True)
class RatePosterior:
    """How much one look is believed: its chance to mislead, and what a day leaves of it."""

    rates: FloatArray
    outlier_chance: float
    daily_retention: float

    def add_looks(self, likelihood: SmallFloatArray, looks: LookBatch) -> None:
        """Take looks into the likelihoods of their pages."""
        columns = (looks.rows, looks.gap_days, looks.measured, looks.changed)
        kernels.add_looks(
            likelihood, columns, self.rates, self.outlier_chance, log(self.daily_retention)
        )

    def faded_likelihoods(
        self, likelihood: SmallFloatArray, rows: NDArray[Any], ages: FloatArray
    ) -> FloatArray:
        """Return what looks at every row still say of each rate, as shares of the likeliest's."""
        return kernels.faded_likelihoods(likelihood, rows, ages, log(self.daily_retention))

    def posteriors(
        self, likelihood: SmallFloatArray, rows: NDArray[Any], ages: FloatArray, prior: PriorRows
    ) -> FloatArray:
        """Return the posterior of every row, a column per rate."""
        return kernels.posteriors(likelihood, rows, ages, prior, log(self.daily_retention))

    def mean_rates(
        self, likelihood: SmallFloatArray, rows: NDArray[Any], ages: FloatArray, prior: PriorRows
    ) -> FloatArray:
        """Return the mean rate of every row, in changes a day."""
        return kernels.mean_rates(
            likelihood, rows, ages, prior, self.rates, log(self.daily_retention)
        )

    def change_chances_and_rates(
        self,
        likelihood: SmallFloatArray,
        rows: NDArray[Any],
        ages: FloatArray,
        prior: PriorRows,
        whole_day_survival: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return each page's chance to have changed, and its mean rate in changes a day."""
        grid = (self.rates, whole_day_survival)
        return kernels.change_chances_and_rates(
            likelihood, rows, ages, prior, grid, log(self.daily_retention)
        )

    def change_chances_and_gains(
        self,
        likelihood: SmallFloatArray,
        rows: NDArray[Any],
        ages: tuple[FloatArray, FloatArray],
        prior: PriorRows,
    ) -> tuple[FloatArray, FloatArray]:
        """Return each page's chance to have changed, and the fresh days that a look would gain.

        ``ages`` are in days as they passed, and in days of usual pace.
        """
        return kernels.change_chances_and_gains(
            likelihood, rows, ages, prior, self.rates, log(self.daily_retention)
        )
