"""Compiled loop that aligns two sorted columns of word counts."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import HashArray, TermCountArray

CountArray = NDArray[np.int64]


@njit(cache=True, nogil=True)
def merge_counts(
    a_ids: HashArray, a_counts: TermCountArray, b_ids: HashArray, b_counts: TermCountArray
) -> tuple[CountArray, CountArray]:
    """Return the counts of both sides over the ids of both, in the order of the ids."""
    old = np.zeros(len(a_ids) + len(b_ids), dtype=np.int64)
    new = np.zeros(len(a_ids) + len(b_ids), dtype=np.int64)
    i = j = cell = 0
    while i < len(a_ids) or j < len(b_ids):
        from_a = j == len(b_ids) or (i < len(a_ids) and a_ids[i] <= b_ids[j])
        from_b = i == len(a_ids) or (j < len(b_ids) and b_ids[j] <= a_ids[i])
        if from_a:
            old[cell] = a_counts[i]
            i += 1
        if from_b:
            new[cell] = b_counts[j]
            j += 1
        cell += 1
    return old[:cell], new[:cell]
