"""The posterior of each page's change rate on a grid of rates, learned look by look.

A look ``x`` days after the previous one finds a change with probability 1 - e^{-λx} at rate λ. Both
results have a small chance of being wrong, and the evidence fades day by day. Probabilities are
averaged over the posterior, never taken from a single rate.
"""

from dataclasses import dataclass
from math import log
from typing import Any

from numpy.typing import NDArray

from freshet.core.types import Float32Array, FloatArray
from freshet.schedule.hosts.hazard_corrections import HazardCorrections
from freshet.schedule.kernels import posterior as kernels
from freshet.schedule.kernels import visit_values
from freshet.schedule.kernels.posterior import Exposure, PriorRows
from freshet.schedule.page_states import LookBatch


@dataclass(frozen=True, slots=True)
class RatePosterior:
    """Learning of rate posteriors from looks, on a grid of rates.

    ``outlier_chance`` is the chance that a look's result is wrong, ``daily_retention`` the share of
    the earlier evidence that remains at a look a day or more after the one before.
    Likelihoods are stored as logarithms, a row per page.
    """

    rates: FloatArray
    outlier_chance: float
    daily_retention: float

    @property
    def log_retention(self) -> float:
        """Return the logarithm of the daily retention."""
        return log(self.daily_retention)

    def add_looks(self, likelihood: Float32Array, looks: LookBatch, hazards: FloatArray) -> None:
        """Update the likelihoods of pages by looks, given the hazards of shared events."""
        columns = (looks.rows, looks.gap_days, looks.measured, looks.changed, hazards)
        kernels.add_looks(likelihood, columns, self.rates, self.outlier_chance, self.log_retention)

    def correct_looks(self, likelihood: Float32Array, corrections: HazardCorrections) -> None:
        """Replace the evidence of looks whose hazard of shared events has changed."""
        retained = self.daily_retention**corrections.faded_days
        looks = (corrections.rows, corrections.gap_days, retained)
        hazards = (corrections.old_hazards, corrections.new_hazards)
        kernels.correct_looks(likelihood, looks, hazards, self.rates, self.outlier_chance)

    def faded_likelihoods(
        self, likelihood: Float32Array, rows: NDArray[Any], ages: FloatArray
    ) -> FloatArray:
        """Return the faded likelihood of each rate, relative to the likeliest rate of its row."""
        return kernels.faded_likelihoods(likelihood, rows, ages, self.log_retention)

    def posteriors(
        self, likelihood: Float32Array, rows: NDArray[Any], ages: FloatArray, prior: PriorRows
    ) -> FloatArray:
        """Return the posterior of every row, a column per rate."""
        return kernels.posteriors(likelihood, rows, ages, prior, self.log_retention)

    def survival(
        self, likelihood: Float32Array, rows: NDArray[Any], days: FloatArray, prior: PriorRows
    ) -> FloatArray:
        """Return the chance that every row is unchanged after some days, by its own rate."""
        return kernels.mean_survival(likelihood, rows, days, prior, self.rates)

    def mean_rates(
        self, likelihood: Float32Array, rows: NDArray[Any], ages: FloatArray, prior: PriorRows
    ) -> FloatArray:
        """Return the mean rate of every row, in changes per day."""
        return kernels.mean_rates(likelihood, rows, ages, prior, self.rates, self.log_retention)

    def change_chances_and_rates(
        self,
        likelihood: Float32Array,
        rows: NDArray[Any],
        ages: FloatArray,
        prior: PriorRows,
        whole_day_survival: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return each page's chance of having changed, and its mean rate in changes per day.

        ``whole_day_survival`` is the table of ``survival_by_day``.
        """
        grid = (self.rates, whole_day_survival)
        return kernels.change_chances_and_rates(
            likelihood, rows, ages, prior, grid, self.log_retention
        )

    def change_chances_and_values(
        self,
        likelihood: Float32Array,
        rows: NDArray[Any],
        exposure: Exposure,
        prior: PriorRows,
        objective: tuple[bool, float],
    ) -> tuple[FloatArray, FloatArray]:
        """Return each page's chance of having changed, and the value of a look.

        ``exposure`` has ages in days, hazards of shared events since the last look, and the mean
        rates of shared events; ``objective`` says whether it is freshness, and the least days
        between two looks.
        """
        return visit_values.change_chances_and_values(
            likelihood, rows, exposure, prior, self.rates, (self.log_retention, *objective)
        )
