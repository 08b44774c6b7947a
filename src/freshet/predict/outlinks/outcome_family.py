"""The kinds of outcomes that the default model predicts: shares of intervals, and counts."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from freshet.core.types import FloatArray

LEAST_MEAN = 1e-4
MAX_SCORE = 50.0


class OutcomeKind(StrEnum):
    """A share between 0 and 1 (or an event, 0 or 1), or a count."""

    SHARE = "share"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class OutcomeFamily:
    """How a kind of outcome is boosted: objective, loss, and the scale on which trees add up.

    ``evidence`` is the start of the names of the columns that hold the page's own sums.
    """

    kind: OutcomeKind

    @property
    def objective(self) -> str:
        """Return LightGBM's name of the loss."""
        return "cross_entropy" if self.kind is OutcomeKind.SHARE else "poisson"

    @property
    def evidence(self) -> str:
        """Return the start of the names of the columns with the page's own sums."""
        return "own_hits_" if self.kind is OutcomeKind.SHARE else "own_links_"

    def bounded(self, means: FloatArray) -> FloatArray:
        """Return means inside the range that the scale can express."""
        highest = 1 - LEAST_MEAN if self.kind is OutcomeKind.SHARE else np.exp(MAX_SCORE)
        return np.clip(means, LEAST_MEAN, highest)

    def scores(self, means: FloatArray) -> FloatArray:
        """Return log-odds of shares, logarithms of counts."""
        means = self.bounded(means)
        if self.kind is OutcomeKind.SHARE:
            return np.log(means / (1 - means))
        return np.log(means)

    def means(self, scores: FloatArray) -> FloatArray:
        """Return the means of scores."""
        scores = np.clip(scores, -MAX_SCORE, MAX_SCORE)
        if self.kind is OutcomeKind.SHARE:
            shares: FloatArray = 1 / (1 + np.exp(-scores))
            return shares
        return np.exp(scores)

    def loss(self, means: FloatArray, outcomes: FloatArray) -> float:
        """Return the mean log-loss of shares, or the Poisson loss of counts."""
        means = self.bounded(means)
        if self.kind is OutcomeKind.SHARE:
            losses = -outcomes * np.log(means) - (1 - outcomes) * np.log(1 - means)
        else:
            losses = means - outcomes * np.log(means)
        return float(losses.mean())
