"""The forecast of the next post: a distribution of the minutes until it comes."""

import math
from dataclasses import dataclass

import numpy as np

from freshet.core.content.posts import NEXT_POST_CHANCES
from freshet.core.types import FloatArray

MEDIAN = 0.5


@dataclass(frozen=True, slots=True)
class NextPostForecast:
    """Minutes from now to the next post, as the quantiles at ``NEXT_POST_CHANCES``.

    A quantile is infinite if the thread may end before.
    """

    quantiles: FloatArray

    def quantile(self, chance: float) -> float:
        """Return the minutes within which the next post comes with a chance."""
        index = int(np.searchsorted(NEXT_POST_CHANCES, chance))
        if index == 0:
            return float(self.quantiles[0] * chance / NEXT_POST_CHANCES[0])
        if index == len(NEXT_POST_CHANCES) or not math.isfinite(self.quantiles[index]):
            return math.inf
        return float(np.interp(chance, NEXT_POST_CHANCES, self.quantiles))

    @property
    def median(self) -> float:
        """Minutes within which the next post comes with an even chance."""
        return self.quantile(MEDIAN)

    def interval(self, coverage: float = 0.8) -> tuple[float, float]:
        """Return the central interval that has the next post with a chance."""
        return self.quantile(0.5 - 0.5 * coverage), self.quantile(0.5 + 0.5 * coverage)

    def chance_within(self, minutes: float) -> float:
        """Return the chance that the next post comes within some minutes."""
        return float(self.chances_within(np.array([minutes]))[0])

    def chances_within(self, minutes: FloatArray) -> FloatArray:
        """Return the chances that the next post comes within several numbers of minutes."""
        finite = np.isfinite(self.quantiles)
        waits = np.concatenate(([0.0], self.quantiles[finite]))
        return np.interp(minutes, waits, np.concatenate(([0.0], NEXT_POST_CHANCES[finite])))


def exponential_forecast(mean: float) -> NextPostForecast:
    """Return the forecast of a model that only knows the mean interval: it forgets the wait.

    >>> round(exponential_forecast(60.0).median, 1)
    41.6
    """
    return NextPostForecast(-np.log1p(-NEXT_POST_CHANCES) * mean)
