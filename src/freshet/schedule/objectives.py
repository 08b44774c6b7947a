"""What a look is worth, for a stated objective, and how soon it can be worth more.

``changes`` counts the changes that looks find: the chance that the page has changed. ``freshness``
counts the time that copies are right: the days that a look now gains over a later one, for a page
of rate λ and age x (1 - (1 + λx)e^{-λx})/λ, averaged over the posterior.
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
    """What a policy is after, and how it learns for that.

    ``outlier_chance`` is the chance that a look misleads, ``daily_retention`` what a day leaves of what it said,
    and ``growth_exponent`` the power of the age that the value grows by at most.
    """

    name: ObjectiveName
    outlier_chance: float
    daily_retention: float
    looks_around: bool
    growth_exponent: int


OBJECTIVES: dict[ObjectiveName, CrawlObjective] = {
    "changes": CrawlObjective(
        "changes", outlier_chance=1e-2, daily_retention=0.95, looks_around=False, growth_exponent=1
    ),
    "freshness": CrawlObjective(
        "freshness", outlier_chance=1e-4, daily_retention=0.99, looks_around=True, growth_exponent=2
    ),
}


@dataclass(frozen=True, slots=True)
class PageScores:
    """What is known of pages at a moment: ages in days of usual pace, chances, and values.

    A page that was never looked at is worth most, and its chance is not known.
    """

    ages: FloatArray
    chances: FloatArray
    values: FloatArray

    def __getitem__(self, places: NDArray[Any]) -> "PageScores":
        return PageScores(self.ages[places], self.chances[places], self.values[places])


def concatenate_scores(parts: Sequence[PageScores]) -> PageScores:
    """Return scores one after another."""
    return PageScores(
        np.concatenate([part.ages for part in parts]),
        np.concatenate([part.chances for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def days_below_multiplier(
    scores: PageScores, multiplier: float, objective: CrawlObjective
) -> FloatArray:
    """Return how many days values that are below a multiplier stay there at least.

    A chance grows at most as the age does and a gain at most as its square, since both are concave
    beyond that. A page of no age has no value to reckon from and is looked into a minute later.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = (multiplier / scores.values) ** (1 / objective.growth_exponent)
        return np.where(scores.ages > 0, scores.ages * (factors - 1), MINUTE_IN_DAYS)
