"""Cells of which nothing is known, guessed from what the page did before (Santos et al. 2015, §5).

A run is the number of unchanged cells between two changes of a page. An unknown cell counts as
changed where the run since the last change has reached the length that the page's earlier runs had
most often, of lengths equally often the shortest; without an earlier run it counts as unchanged.
Cells are guessed in the order of time, and later ones take a guess for what was seen. The cells
before a page's first change are no run: how long it had been unchanged by then is not known.
"""

from dataclasses import replace

import numpy as np

from freshet.backtest.kernels.imputation import impute_cells
from freshet.backtest.trace import Trace
from freshet.core.tables import BoolArray
from freshet.core.types import FlagArray

BLOCK_BYTES = 4096


def impute_unknown(trace: Trace) -> Trace:
    """Return a trace with its unknown cells guessed; which were unknown stays known."""
    if not np.any(trace.unknown_bits):
        return trace
    bits = np.array(trace.changed_bits)
    for start in range(0, bits.shape[1], BLOCK_BYTES):
        block = slice(start, start + BLOCK_BYTES)
        changed = _cells(bits[:, block])
        impute_cells(changed, _cells(trace.unknown_bits[:, block]))
        bits[:, block] = np.packbits(changed.T, axis=1)
    return replace(trace, changed_bits=bits)


def _cells(bits: FlagArray) -> BoolArray:
    """Return the cells of packed pages, a row per page."""
    return np.ascontiguousarray(np.unpackbits(bits, axis=1).T).view(np.bool_)
