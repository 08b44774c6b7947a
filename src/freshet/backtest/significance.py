"""How sure the figures of crawls are: intervals of means, paired tests, victories and losses.

All go by Student's t (Jain 1991, chapters 12 and 13, as Santos et al. 2015 use it), at 95 % unless
another confidence is asked for. They take what they are given as drawn independently. Folds and
seeds are; a crawl's cycles follow from one another, so that a test over cycles is surer of itself
than it should be.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray

CONFIDENCE = 0.95
UNDEFINED = float("nan")


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """A mean and how far from it the true one may lie; NaN where a single value cannot tell."""

    mean: float
    margin: float


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean difference of pairs with its interval, and the chance ``p`` of one so large.

    ``p`` is two-sided: the chance of such a difference, or a larger one, where there is none.
    """

    difference: float
    margin: float
    p: float


@dataclass(frozen=True, slots=True)
class CycleWins:
    """In how many cycles one crawl was better than another, worse, or neither for sure.

    ``won_by`` and ``lost_by`` are the mean differences of those cycles, relative to the other
    crawl; NaN where there are none.
    """

    won: int
    lost: int
    tied: int
    won_by: float
    lost_by: float


def confidence_interval(values: ArrayLike, *, confidence: float = CONFIDENCE) -> ConfidenceInterval:
    """Return the mean of values with its confidence interval; those that are NaN are left out.

    >>> around = confidence_interval([1.0, 2.0, 3.0])
    >>> around.mean, round(around.margin, 3)
    (2.0, 2.484)
    """
    given = np.asarray(values, np.float64)
    known = given[~np.isnan(given)]
    if not len(known):
        return ConfidenceInterval(UNDEFINED, UNDEFINED)
    return ConfidenceInterval(float(known.mean()), float(_margins(known[:, None], confidence)[0]))


def paired_difference(
    ours: ArrayLike, theirs: ArrayLike, *, confidence: float = CONFIDENCE
) -> PairedDifference:
    """Compare two series pair by pair; a pair of which one is NaN is left out.

    >>> told = paired_difference([3.0, 4.0, 5.0], [2.0, 2.0, 2.0])
    >>> told.difference, round(told.p, 3)
    (2.0, 0.074)
    """
    differences = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    around = confidence_interval(differences, confidence=confidence)
    known = differences[~np.isnan(differences)]
    p = float(_chances(known[:, None])[0]) if len(known) else UNDEFINED
    return PairedDifference(around.mean, around.margin, p)


def count_cycle_wins(
    ours: ArrayLike, theirs: ArrayLike, *, confidence: float = CONFIDENCE
) -> CycleWins:
    """Count the cycles that were won, lost and tied (Santos et al. 2015, table 3).

    Both have a row per fold or seed and a column per cycle. A cycle is decided where the paired
    test over the rows finds a difference; with a single row no test can be made, and whichever is
    higher wins. Cycles of which nothing can be compared are left out.

    >>> count_cycle_wins([[3.0, 1.0, 2.0]], [[2.0, 2.0, 2.0]])
    CycleWins(won=1, lost=1, tied=1, won_by=0.5, lost_by=-0.5)
    """
    rivals = np.asarray(theirs, np.float64)
    gaps = np.asarray(ours, np.float64) - rivals
    comparable = ~np.isnan(gaps).any(axis=0)
    gaps, others = gaps[:, comparable], rivals[:, comparable].mean(axis=0)
    differences, sure = gaps.mean(axis=0), np.ones(len(others), np.bool_)
    if len(gaps) > 1:
        sure = _chances(gaps) < 1 - confidence
    won, lost = sure & (differences > 0), sure & (differences < 0)
    return CycleWins(
        won=int(won.sum()),
        lost=int(lost.sum()),
        tied=int((~won & ~lost).sum()),
        won_by=_relative(differences, others, won),
        lost_by=_relative(differences, others, lost),
    )


def _relative(differences: FloatArray, others: FloatArray, among: BoolArray) -> float:
    """Return the mean of differences as shares of what they differ from."""
    some = among & (others != 0)
    return float((differences[some] / np.abs(others[some])).mean()) if some.any() else UNDEFINED


def _margins(values: FloatArray, confidence: float) -> FloatArray:
    """Return half the width of the interval of every column's mean."""
    count = len(values)
    if count < 2:
        return np.full(values.shape[1], UNDEFINED)
    times: float = special.stdtrit(count - 1, (1 + confidence) / 2)
    return times * _errors(values)


def _chances(differences: FloatArray) -> FloatArray:
    """Return for every column the chance of a mean so far from 0 where the true one is 0."""
    count = len(differences)
    if count < 2:
        return np.full(differences.shape[1], UNDEFINED)
    means, errors = differences.mean(axis=0), _errors(differences)
    # Equal differences leave no doubt: they are a difference, or none.
    steps = np.divide(means, errors, out=np.full(len(means), np.inf), where=errors > 0)
    chances: FloatArray = 2 * special.stdtr(count - 1, -np.abs(steps))
    return np.where((errors > 0) | (means != 0), chances, 1.0)


def _errors(values: FloatArray) -> FloatArray:
    """Return the standard error of every column's mean."""
    errors: FloatArray = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return errors
