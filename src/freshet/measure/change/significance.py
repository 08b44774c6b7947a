"""Significance test for a change of words (Radinsky & Bennett 2013, section 3.1).

The paper names a chi-squared test without saying which; there are two readings. The default is a
one-sample test: could the new words have been drawn from the old version? The other is a two-sample
test that pools rare words. On real pages nearly every content word is rare, so that it finds no
difference even where a whole front page was replaced. It is an option only.
"""

import numpy as np
from numpy.typing import NDArray

from freshet.core.distributions import chi_squared_tail
from freshet.core.types import TermCounts
from freshet.measure.change.similarity import AlignedCounts, align_counts
from freshet.measure.kernels.similarity import CountArray

SIGNIFICANCE_LEVEL = 0.05
_SMOOTHING = 0.5
_MIN_EXPECTED_COUNT = 5.0


def is_significant(old: TermCounts, new: TermCounts, *, level: float = SIGNIFICANCE_LEVEL) -> bool:
    """Return whether the new words differ from the old ones by more than chance."""
    return p_value(old, new) < level


def p_value(old: TermCounts, new: TermCounts) -> float:
    """Return the probability of words at least this different, drawn from the old version."""
    return goodness_of_fit_p_value(align_counts(old, new))


def two_sample_p_value(old: TermCounts, new: TermCounts) -> float:
    """Return the p-value of the two-sample test; rare words share one cell."""
    return homogeneity_p_value(align_counts(old, new))


def goodness_of_fit_p_value(words: AlignedCounts) -> float:
    """Return the p-value of the one-sample test with additive smoothing of one half."""
    empty_p_value = _p_value_of_empty_versions(words)
    if empty_p_value is not None:
        return empty_p_value
    weights = words.old + _SMOOTHING
    expected = weights * (words.new.sum() / weights.sum())
    return _upper_tail(_statistic(words.new, expected), len(words) - 1)


def homogeneity_p_value(words: AlignedCounts) -> float:
    """Return the p-value of the two-sample test over the frequent words."""
    empty_p_value = _p_value_of_empty_versions(words)
    if empty_p_value is not None:
        return empty_p_value
    table = _pool_rare(np.stack([words.old, words.new]))
    expected = _expected(table)
    return _upper_tail(_statistic(table, expected), table.shape[1] - 1)


def _p_value_of_empty_versions(words: AlignedCounts) -> float | None:
    old, new = bool(words.old.any()), bool(words.new.any())
    if old and new:
        return None
    return 1.0 if old == new else 0.0


def _pool_rare(table: CountArray) -> CountArray:
    rare = _expected(table).min(axis=0) < _MIN_EXPECTED_COUNT
    if not rare.any():
        return table
    pooled = table[:, rare].sum(axis=1, keepdims=True)
    return np.concatenate([table[:, ~rare], pooled], axis=1)


def _expected(table: CountArray) -> NDArray[np.float64]:
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    return np.asarray(rows * columns / table.sum())


def _statistic(observed: CountArray, expected: NDArray[np.float64]) -> float:
    return float(((observed - expected) ** 2 / expected).sum())


def _upper_tail(statistic: float, degrees_of_freedom: int) -> float:
    return chi_squared_tail(degrees_of_freedom, statistic) if degrees_of_freedom > 0 else 1.0
