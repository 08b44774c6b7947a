"""The interval of a mean gain, by resampling whole groups."""

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray

RESAMPLES, LOW_SHARE, HIGH_SHARE = 1_000, 0.025, 0.975


def mean_interval(gains: FloatArray, groups: NDArray[np.integer], seed: int) -> tuple[float, float]:
    """Return the 95 % interval of the mean gain when whole groups are resampled."""
    rng = np.random.default_rng(seed)
    _, members = np.unique(groups, return_inverse=True)
    sums, sizes = np.bincount(members, gains), np.bincount(members)
    means = np.empty(RESAMPLES)
    for number in range(RESAMPLES):
        drawn = rng.integers(0, len(sums), len(sums))
        means[number] = sums[drawn].sum() / sizes[drawn].sum()
    low, high = np.quantile(means, (LOW_SHARE, HIGH_SHARE))
    return float(low), float(high)
