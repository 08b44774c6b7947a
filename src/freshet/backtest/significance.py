"""Significance of back-test results: confidence intervals, paired tests, and cycles won and lost.

All use Student's t (Jain 1991, chapters 12 and 13, as in Santos et al. 2015), at 95 % unless
another confidence is given, and treat the values as independent draws. Folds and seeds are
independent. The cycles of a crawl are not, so a test over cycles overstates its confidence.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freshet.core.distributions import student_t_cdf, student_t_quantile
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray

CONFIDENCE = 0.95
UNDEFINED = float("nan")


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """A mean and the half width of its confidence interval, NaN for a single value."""

    mean: float
    margin: float


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean difference of pairs with the half width of its interval, and the two-sided p-value."""

    difference: float
    margin: float
    p: float


@dataclass(frozen=True, slots=True)
class CycleWins:
    """Numbers of cycles in which one crawl was significantly better, worse, or neither.

    ``won_by`` and ``lost_by`` are the mean differences of those cycles relative to the other crawl;
    NaN if there are none.
    """

    won: int
    lost: int
    tied: int
    won_by: float
    lost_by: float


def confidence_interval(values: ArrayLike, *, confidence: float = CONFIDENCE) -> ConfidenceInterval:
    """Return the mean of values with its confidence interval; NaN values are left out.

    >>> interval = confidence_interval([1.0, 2.0, 3.0])
    >>> interval.mean, round(interval.margin, 3)
    (2.0, 2.484)
    """
    all_values = np.asarray(values, np.float64)
    known_values = all_values[~np.isnan(all_values)]
    if not len(known_values):
        return ConfidenceInterval(UNDEFINED, UNDEFINED)
    return ConfidenceInterval(
        float(known_values.mean()), float(_margins(known_values[:, None], confidence)[0])
    )


def paired_difference(
    ours: ArrayLike, theirs: ArrayLike, *, confidence: float = CONFIDENCE
) -> PairedDifference:
    """Compare two series pair by pair; pairs with a NaN are left out.

    >>> result = paired_difference([3.0, 4.0, 5.0], [2.0, 2.0, 2.0])
    >>> result.difference, round(result.p, 3)
    (2.0, 0.074)
    """
    differences = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    mean_interval = confidence_interval(differences, confidence=confidence)
    known_differences = differences[~np.isnan(differences)]
    p = float(_p_values(known_differences[:, None])[0]) if len(known_differences) else UNDEFINED
    return PairedDifference(mean_interval.mean, mean_interval.margin, p)


def count_cycle_wins(
    ours: ArrayLike, theirs: ArrayLike, *, confidence: float = CONFIDENCE
) -> CycleWins:
    """Count the cycles won, lost and tied (Santos et al. 2015, table 3).

    Both tables have a row per fold or seed and a column per cycle. A cycle is won or lost if the
    paired test over the rows finds a difference. With a single row no test is possible, and the
    higher value wins. Cycles with a NaN are left out.

    >>> count_cycle_wins([[3.0, 1.0, 2.0]], [[2.0, 2.0, 2.0]])
    CycleWins(won=1, lost=1, tied=1, won_by=0.5, lost_by=-0.5)
    """
    other_values = np.asarray(theirs, np.float64)
    differences_by_row = np.asarray(ours, np.float64) - other_values
    is_comparable = ~np.isnan(differences_by_row).any(axis=0)
    differences_by_row = differences_by_row[:, is_comparable]
    other_means = other_values[:, is_comparable].mean(axis=0)
    mean_differences = differences_by_row.mean(axis=0)
    is_significant = np.ones(len(other_means), np.bool_)
    if len(differences_by_row) > 1:
        is_significant = _p_values(differences_by_row) < 1 - confidence
    won, lost = is_significant & (mean_differences > 0), is_significant & (mean_differences < 0)
    return CycleWins(
        won=int(won.sum()),
        lost=int(lost.sum()),
        tied=int((~won & ~lost).sum()),
        won_by=_mean_relative(mean_differences, other_means, won),
        lost_by=_mean_relative(mean_differences, other_means, lost),
    )


def _mean_relative(
    differences: FloatArray, other_means: FloatArray, is_selected: BoolArray
) -> float:
    """Return the mean of differences relative to the values they differ from."""
    is_used = is_selected & (other_means != 0)
    if not is_used.any():
        return UNDEFINED
    return float((differences[is_used] / np.abs(other_means[is_used])).mean())


def _margins(values: FloatArray, confidence: float) -> FloatArray:
    """Return the half width of the confidence interval of every column's mean."""
    count = len(values)
    if count < 2:
        return np.full(values.shape[1], UNDEFINED)
    quantile = student_t_quantile(count - 1, (1 + confidence) / 2)
    return quantile * _standard_errors(values)


def _p_values(differences: FloatArray) -> FloatArray:
    """Return for every column the two-sided p-value of its mean against 0."""
    count = len(differences)
    if count < 2:
        return np.full(differences.shape[1], UNDEFINED)
    means, standard_errors = differences.mean(axis=0), _standard_errors(differences)
    # Without variance the p-value is 0 for a difference and 1 for none.
    t_values = np.divide(
        means, standard_errors, out=np.full(len(means), np.inf), where=standard_errors > 0
    )
    p_values = np.array([2 * student_t_cdf(count - 1, -abs(t)) for t in t_values.tolist()])
    return np.where((standard_errors > 0) | (means != 0), p_values, 1.0)


def _standard_errors(values: FloatArray) -> FloatArray:
    """Return the standard error of every column's mean."""
    standard_errors: FloatArray = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return standard_errors
