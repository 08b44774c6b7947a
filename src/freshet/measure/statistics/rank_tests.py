"""Rank tests for figures that are far from normal: do groups differ, and which of them.

Both are the usual large-sample forms with a correction for ties.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from freshet.core.distributions import chi_squared_tail, normal_cdf
from freshet.core.types import FloatArray


@dataclass(frozen=True, slots=True)
class RankTest:
    """The statistic of a test, and the probability of one as large if nothing differs."""

    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class _RankedValues:
    """The ranks of values, shared by equal values, and the sum of t³ - t over groups of t ties."""

    ranks: FloatArray
    ties: float


def kruskal_wallis(groups: Sequence[FloatArray]) -> RankTest:
    """Test whether several groups have the same distribution (Kruskal and Wallis 1952).

    >>> round(kruskal_wallis([np.array([1.0, 2, 3]), np.array([4.0, 5, 6])]).statistic, 3)
    3.857
    """
    ranked = _rank(np.concatenate(groups))
    n = len(ranked.ranks)
    ends = np.cumsum([len(group) for group in groups])[:-1]
    ranks_by_group = np.split(ranked.ranks, ends)
    rank_sum = sum(
        float(group_ranks.sum()) ** 2 / len(group_ranks) for group_ranks in ranks_by_group
    )
    tie_correction = 1 - ranked.ties / (n**3 - n)
    if tie_correction <= 0:
        return RankTest(0.0, 1.0)
    statistic = (12 / (n * (n + 1)) * rank_sum - 3 * (n + 1)) / tie_correction
    return RankTest(statistic, chi_squared_tail(len(groups) - 1, statistic))


def mann_whitney(a: FloatArray, b: FloatArray) -> RankTest:
    """Test whether two groups have the same distribution, with a correction for continuity.

    >>> mann_whitney(np.array([1.0, 2, 3]), np.array([4.0, 5, 6])).statistic
    0.0
    """
    ranked = _rank(np.concatenate([a, b]))
    size = len(a) * len(b)
    n = len(a) + len(b)
    first_statistic = float(ranked.ranks[: len(a)].sum()) - len(a) * (len(a) + 1) / 2
    spread = sqrt(size / 12 * ((n + 1) - ranked.ties / (n * (n - 1))))
    if not spread:
        return RankTest(first_statistic, 1.0)
    standardised = (max(first_statistic, size - first_statistic) - size / 2 - 0.5) / spread
    return RankTest(first_statistic, min(1.0, 2 * normal_cdf(-standardised)))


def holm_correction(p: FloatArray) -> FloatArray:
    """Return p-values corrected for multiple tests by the step-down rule of Holm (1979).

    >>> holm_correction(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(adjusted, 1.0)
    return corrected


def _rank(values: FloatArray) -> _RankedValues:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    mean_ranks = ends - (counts - 1) / 2
    return _RankedValues(
        mean_ranks[inverse], float((counts.astype(np.float64) ** 3 - counts).sum())
    )
