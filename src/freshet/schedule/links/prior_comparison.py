"""Compares weights of the prior of link rates by how well they would have forecast later looks.

The weight is the number of days of looks that the rate of the host counts for. Each look compares a
few weights before it is learnt from: with each, the rate of the page would have been another, and
the deviance of a Poisson law says how far the number of new links was from the one expected. The
weight with the lowest sum is the one to use (Dawid 1984: prequential analysis).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from freshet.core.types import FloatArray

PRIOR_WEIGHTS: FloatArray = np.array([0.3, 1.0, 3.0, 10.0, 30.0, 100.0])
# With fewer looks the order of the weights is chance.
MIN_COMPARED_LOOKS = 1_000
_LEAST_EXPECTED = 1e-9


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """New links and the days in which they appeared: of each page, and of all pages of its host.

    ``gap_shares`` are the days that a day of the prior counts for at each page, 1 or less.
    """

    sums: FloatArray
    days: FloatArray
    host_sums: FloatArray
    host_days: FloatArray
    gap_shares: FloatArray

    def rates(self, weights: FloatArray, collection_rate: float) -> FloatArray:
        """Return the rate of each page with each weight, a row per weight."""
        weights = weights[:, None]
        host_rates = (self.host_sums + weights * collection_rate) / (self.host_days + weights)
        page_weights = weights * self.gap_shares
        rates: FloatArray = (self.sums + page_weights * host_rates) / (self.days + page_weights)
        return rates


class PriorComparison:
    """The sum of the deviances of the looks so far, for each weight of the prior."""

    def __init__(self) -> None:
        self._deviances: FloatArray = np.zeros(len(PRIOR_WEIGHTS))
        self._looks = 0

    def add(self, expected: FloatArray, new_links: FloatArray) -> None:
        """Add looks; ``expected`` has a row per weight with the links expected at each look."""
        expected = np.maximum(expected, _LEAST_EXPECTED)
        self._deviances += poisson_deviances(expected, new_links).sum(axis=1)
        self._looks += len(new_links)

    @property
    def best_weight(self) -> float | None:
        """The weight that would have forecast best; None before enough looks are compared."""
        if self._looks < MIN_COMPARED_LOOKS:
            return None
        return float(PRIOR_WEIGHTS[self._deviances.argmin()])

    def state(self) -> dict[str, Any]:
        """Return the sums."""
        return {"prior_deviances": self._deviances.copy(), "compared_looks": self._looks}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self._deviances = np.array(state["prior_deviances"], np.float64)
        self._looks = int(state["compared_looks"])


def poisson_deviances(expected: FloatArray, counts: FloatArray) -> FloatArray:
    """Return how far counts are from expected ones, which are positive.

    >>> poisson_deviances(np.array([2.0, 2.0, 2.0]), np.array([2.0, 0.0, 9.0])).round(2)
    array([ 0.  ,  4.  , 13.07])
    """
    ratios = np.log(np.maximum(counts, _LEAST_EXPECTED) / expected)
    deviances: FloatArray = 2 * (counts * ratios - counts + expected)
    return deviances
