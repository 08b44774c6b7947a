"""The compiled loop that guesses unknown cells, a page at a time."""

import numpy as np
from numba import njit

from freshet.core.tables import BoolArray
from freshet.core.types import IndexArray


@njit(cache=True, nogil=True)
def impute_cells(changed: BoolArray, unknown: BoolArray) -> None:
    """Set the unknown cells of pages, a row each, to what their earlier runs make likely."""
    often = np.zeros(changed.shape[1] + 1, np.int32)
    for page in range(len(changed)):
        often[:] = 0
        _fill_page(changed[page], unknown[page], often)


@njit(cache=True, nogil=True)
def _fill_page(changed: BoolArray, unknown: BoolArray, often: IndexArray) -> None:
    """Set the unknown cells of one page; ``often`` counts the runs of each length."""
    run, usual, begun = 0, -1, False
    for cycle in range(len(changed)):
        if unknown[cycle]:
            changed[cycle] = usual >= 0 and run >= usual
        if not changed[cycle]:
            run += 1
            continue
        if begun:
            often[run] += 1
            if usual < 0 or _more_usual(run, usual, often):
                usual = run
        run, begun = 0, True


@njit(cache=True, nogil=True)
def _more_usual(run: int, usual: int, often: IndexArray) -> bool:
    ahead = often[run] - often[usual]
    return bool(ahead > 0 or (ahead == 0 and run < usual))
