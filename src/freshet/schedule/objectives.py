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

from freshet.core.types import Floats

Aim = Literal["changes", "freshness"]

MINUTE_IN_DAYS = 1 / 1440


@dataclass(frozen=True, slots=True)
class Objective:
    """What a policy is after, and how it learns for that.

    ``outliers`` is the chance that a look misleads, ``memory`` what a day leaves of what it said,
    and ``growth`` the power of the age that the value grows by at most.
    """

    aim: Aim
    outliers: float
    memory: float
    looks_around: bool
    growth: int


OBJECTIVES: dict[Aim, Objective] = {
    "changes": Objective("changes", outliers=1e-2, memory=0.95, looks_around=False, growth=1),
    "freshness": Objective("freshness", outliers=1e-4, memory=0.99, looks_around=True, growth=2),
}


@dataclass(frozen=True, slots=True)
class Scores:
    """What is known of pages at a moment: ages in days of usual pace, chances, and values.

    A page that was never looked at is worth most, and its chance is not known.
    """

    ages: Floats
    chances: Floats
    values: Floats

    def __getitem__(self, places: NDArray[Any]) -> "Scores":
        return Scores(self.ages[places], self.chances[places], self.values[places])


def joined(parts: Sequence[Scores]) -> Scores:
    """Return scores one after another."""
    return Scores(
        np.concatenate([part.ages for part in parts]),
        np.concatenate([part.chances for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def soonest(scores: Scores, multiplier: float, objective: Objective) -> Floats:
    """Return how many days values that are below a multiplier stay there at least.

    A chance grows at most as the age does and a gain at most as its square, since both are concave
    beyond that. A page of no age has no value to reckon from and is looked into a minute later.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = (multiplier / scores.values) ** (1 / objective.growth)
        return np.where(scores.ages > 0, scores.ages * (factors - 1), MINUTE_IN_DAYS)
