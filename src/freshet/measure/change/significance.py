"""Whether the words of a page differ by more than chance (Radinsky & Bennett 2013, section 3.1).

The paper names a chi-squared test and leaves open which; two readings are here. The default asks
whether the new words could have been drawn from the old version. The other compares two samples
and pools rare words: on real pages nearly every content word is rare, so that it takes a wholly
replaced front page for the same one, and it is an option only.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from freshet.core.types import TermCounts
from freshet.measure.change.kernels.similarity import CountArray
from freshet.measure.change.similarity import AlignedCounts, align_counts

SIGNIFICANCE_LEVEL = 0.05
_SMOOTHING = 0.5
_RARE = 5.0


def is_significant(old: TermCounts, new: TermCounts, *, level: float = SIGNIFICANCE_LEVEL) -> bool:
    """Say whether the new words are too unlike the old ones to be chance."""
    return p_value(old, new) < level


def p_value(old: TermCounts, new: TermCounts) -> float:
    """Return the chance of words as unlike the old ones as these, drawn from the old version."""
    return goodness_of_fit_p_value(align_counts(old, new))


def two_sample_p_value(old: TermCounts, new: TermCounts) -> float:
    """Return the chance of two versions as unlike as these, rare words pooled into one cell."""
    return homogeneity_p_value(align_counts(old, new))


def goodness_of_fit_p_value(words: AlignedCounts) -> float:
    """Return the p-value of the one-sample test; each word is expected as in old, plus one half."""
    settled = _settled_by_emptiness(words)
    if settled is not None:
        return settled
    weights = words.old + _SMOOTHING
    expected = weights * (words.new.sum() / weights.sum())
    return _upper_tail(_statistic(words.new, expected), len(words) - 1)


def homogeneity_p_value(words: AlignedCounts) -> float:
    """Return the p-value of the two-sample test over the words frequent enough for it."""
    settled = _settled_by_emptiness(words)
    if settled is not None:
        return settled
    table = _pool_rare(np.stack([words.old, words.new]))
    expected = _expected(table)
    return _upper_tail(_statistic(table, expected), table.shape[1] - 1)


def _settled_by_emptiness(words: AlignedCounts) -> float | None:
    old, new = bool(words.old.any()), bool(words.new.any())
    if old and new:
        return None
    return 1.0 if old == new else 0.0


def _pool_rare(table: CountArray) -> CountArray:
    rare = _expected(table).min(axis=0) < _RARE
    if not rare.any():
        return table
    pooled = table[:, rare].sum(axis=1, keepdims=True)
    return np.concatenate([table[:, ~rare], pooled], axis=1)


def _expected(table: CountArray) -> NDArray[np.float64]:
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    return np.asarray(rows * columns / table.sum())


def _statistic(observed: CountArray, expected: NDArray[np.float64]) -> float:
    return float(((observed - expected) ** 2 / expected).sum())


def _upper_tail(statistic: float, freedom: int) -> float:
    return float(chdtrc(freedom, statistic)) if freedom > 0 else 1.0
