"""The value of a look under an objective, and how soon it can reach a given value.

Under ``changes`` the value is the chance that the page has changed. Under ``freshness`` it is the
fresh time that a look now gains over a later one: (1 - (1 + λx)e^{-λx})/λ days for a page of rate λ
and age x, averaged over the posterior.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray

ObjectiveName = Literal["changes", "freshness"]

MINUTE_IN_DAYS = 1 / 1440


@dataclass(frozen=True, slots=True)
class CrawlObjective:
    """An objective and the parameters of learning for it.

    ``outlier_chance`` is the chance that a look's result is misleading, ``daily_retention`` the
    share of its evidence that remains after a day, and ``growth_exponent`` bounds the growth of the
    value: it grows at most like that power of the age.
    """

    name: ObjectiveName
    outlier_chance: float
    daily_retention: float
    growth_exponent: int


OBJECTIVES: dict[ObjectiveName, CrawlObjective] = {
    "changes": CrawlObjective(
        "changes", outlier_chance=1e-3, daily_retention=0.9, growth_exponent=2
    ),
    "freshness": CrawlObjective(
        "freshness", outlier_chance=1e-3, daily_retention=0.95, growth_exponent=2
    ),
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


def days_below_multiplier(
    scores: PageScores, multiplier: float, objective: CrawlObjective
) -> FloatArray:
    """Return a lower bound on the days for which values stay below a multiplier.

    A chance grows at most in proportion to the age and a gain at most to its square. The ages are
    the days in which the exposure doubles. A page of age 0 has no value to extrapolate from and
    gets one minute.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = (multiplier / scores.values) ** (1 / objective.growth_exponent)
        return np.where(scores.ages > 0, scores.ages * (factors - 1), MINUTE_IN_DAYS)
