"""The forecast of the next post: a distribution of the minutes until it comes."""

import math
from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray

MEDIAN = 0.5
# Chances at which a distribution is stored: dense at the ends, where intervals are read.
CHANCES = np.concatenate(([0.001, 0.01], np.linspace(0.025, 0.975, 39), [0.99, 0.999]))


@dataclass(frozen=True, slots=True)
class NextPostForecast:
    """Minutes from now to the next post, as the quantiles at ``CHANCES``.

    A quantile is infinite if the thread may end before.
    """

    quantiles: FloatArray

    def quantile(self, chance: float) -> float:
        """Return the minutes within which the next post comes with a chance."""
        index = int(np.searchsorted(CHANCES, chance))
        if index == 0:
            return float(self.quantiles[0] * chance / CHANCES[0])
        if index == len(CHANCES) or not math.isfinite(self.quantiles[index]):
            return math.inf
        return float(np.interp(chance, CHANCES, self.quantiles))

    @property
    def median(self) -> float:
        """Minutes within which the next post comes with an even chance."""
        return self.quantile(MEDIAN)

    def interval(self, coverage: float = 0.8) -> tuple[float, float]:
        """Return the central interval that has the next post with a chance."""
        return self.quantile(0.5 - 0.5 * coverage), self.quantile(0.5 + 0.5 * coverage)

    def chance_within(self, minutes: float) -> float:
        """Return the chance that the next post comes within some minutes."""
        finite = np.isfinite(self.quantiles)
        waits = np.concatenate(([0.0], self.quantiles[finite]))
        return float(np.interp(minutes, waits, np.concatenate(([0.0], CHANCES[finite]))))


def exponential_forecast(mean: float) -> NextPostForecast:
    """Return the forecast of a model that only knows the mean interval: it forgets the wait.

    >>> round(exponential_forecast(60.0).median, 1)
    41.6
    """
    return NextPostForecast(-np.log1p(-CHANCES) * mean)
