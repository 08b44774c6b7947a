"""Compiled update of the sums from which lagged correlations are computed."""

from numba import njit

from freshet.core.types import FloatArray, IndexArray


@njit(cache=True, nogil=True)
def update_products(
    products: FloatArray,
    pairs: IndexArray,
    values: FloatArray,
    recent: FloatArray,
    forgetting: float,
) -> None:
    """Add, for each pair and lag, the target's value times the leader's value ``lag`` steps ago.

    ``recent[series, lag]`` are the last values, the newest first; older than the start are zeros.
    """
    for row in range(len(pairs)):
        value = values[pairs[row, 0]]
        leader = pairs[row, 1]
        for lag in range(products.shape[1]):
            products[row, lag] = forgetting * products[row, lag] + value * recent[leader, lag]
