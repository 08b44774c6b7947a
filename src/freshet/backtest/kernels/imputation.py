"""Compiled loop that imputes unknown cells page by page."""

import numpy as np
from numba import njit

from freshet.core.tables import BoolArray
from freshet.core.types import IndexArray


@njit(cache=True, nogil=True)
def impute_cells(changed: BoolArray, unknown: BoolArray) -> None:
    """Set the unknown cells of pages, a row each, from the lengths of their earlier runs."""
    run_counts = np.zeros(changed.shape[1] + 1, np.int32)
    for page in range(len(changed)):
        run_counts[:] = 0
        _impute_page(changed[page], unknown[page], run_counts)


@njit(cache=True, nogil=True)
def _impute_page(changed: BoolArray, unknown: BoolArray, run_counts: IndexArray) -> None:
    """Set the unknown cells of one page; ``run_counts`` counts the runs of each length."""
    run, usual_run, has_changed = 0, -1, False
    for cycle in range(len(changed)):
        if unknown[cycle]:
            changed[cycle] = usual_run >= 0 and run >= usual_run
        if not changed[cycle]:
            run += 1
            continue
        if has_changed:
            run_counts[run] += 1
            if usual_run < 0 or _is_more_usual(run, usual_run, run_counts):
                usual_run = run
        run, has_changed = 0, True


@njit(cache=True, nogil=True)
def _is_more_usual(run: int, usual_run: int, run_counts: IndexArray) -> bool:
    count_difference = run_counts[run] - run_counts[usual_run]
    return bool(count_difference > 0 or (count_difference == 0 and run < usual_run))
