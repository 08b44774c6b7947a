"""The value of a look under an objective, and how soon it can reach a given value.

Under ``changes`` the value is the chance that the page has changed, less a part of what waiting
would add to it (``kernels/visit_values.py``). Under ``freshness`` it is the fresh time that a look
now gains over a later one: (1 - (1 + λx)e^{-λx})/λ days for a page of rate λ and age x, averaged
over the posterior.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray
from freshet.schedule.kernels.value_bounds import MINUTE_IN_DAYS

ObjectiveName = Literal["changes", "freshness"]

# The chance that the result of a look is misleading.
OUTLIER_CHANCE = 1e-3
# A value grows at most like this power of the age.
GROWTH_EXPONENT = 2


@dataclass(frozen=True, slots=True)
class CrawlObjective:
    """An objective and how fast a page's evidence fades under it.

    ``daily_retention`` is the share of the earlier evidence that remains at a look a day or more
    after the one before; after a shorter gap more remains.
    """

    name: ObjectiveName
    daily_retention: float


OBJECTIVES: dict[ObjectiveName, CrawlObjective] = {
    "changes": CrawlObjective("changes", daily_retention=0.9),
    "freshness": CrawlObjective("freshness", daily_retention=0.95),
}


@dataclass(frozen=True, slots=True)
class PageScores:
    """Ages in days, chances of a change, and values of pages at a moment.

    A page that was never looked at has the value infinity and the chance NaN.
    """

    ages: FloatArray
    chances: FloatArray
    values: FloatArray

    def __getitem__(self, positions: NDArray[Any]) -> "PageScores":
        return PageScores(self.ages[positions], self.chances[positions], self.values[positions])


def concatenate_scores(parts: Sequence[PageScores]) -> PageScores:
    """Return the scores of all parts in one table."""
    return PageScores(
        np.concatenate([scores.ages for scores in parts]),
        np.concatenate([scores.chances for scores in parts]),
        np.concatenate([scores.values for scores in parts]),
    )


def days_below_multiplier(scores: PageScores, multiplier: FloatArray | float) -> FloatArray:
    """Return a lower bound on the days for which values stay below a multiplier.

    Values grow at most in proportion to the square of the age. The ages are the days in which the
    exposure doubles. A page of age 0 has no value to extrapolate from and gets one minute.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = (multiplier / scores.values) ** (1 / GROWTH_EXPONENT)
        return np.where(scores.ages > 0, scores.ages * (factors - 1), MINUTE_IN_DAYS)
