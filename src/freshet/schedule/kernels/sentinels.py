"""Compiled loop that keeps the best page of every host."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.kernels.posterior import RowNumbers


@njit(cache=True, nogil=True)
def keep_best_rows(
    rows: RowNumbers,
    values: FloatArray,
    host_of_row: IndexArray,
    is_used: NDArray[np.bool_],
    best: tuple[IndexArray, FloatArray],
) -> None:
    """Update the row of the highest finite value of every host that is used."""
    best_rows, best_values = best
    for index in range(len(rows)):
        host = host_of_row[rows[index]]
        if is_used[host] and best_values[host] < values[index] < np.inf:
            best_rows[host], best_values[host] = rows[index], values[index]
