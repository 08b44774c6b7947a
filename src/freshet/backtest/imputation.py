"""Impute unknown cells of a trace from the page's earlier changes (Santos et al. 2015, section 5).

A run is the number of unchanged cells between two changes of a page. An unknown cell counts as
changed if the run since the last change has reached the most frequent length of the page's earlier
runs, or the shortest of several equally frequent lengths. Without an earlier run it counts as
unchanged. Cells are imputed in order of time, and imputed cells count as observed for later ones.
The cells before a page's first change are not a run, because its start is not known.
"""

from dataclasses import replace

import numpy as np

from freshet.backtest.kernels.imputation import impute_cells
from freshet.backtest.trace import Trace
from freshet.core.tables import BoolArray
from freshet.core.types import FlagArray

BLOCK_BYTES = 4096


def impute_unknown(trace: Trace) -> Trace:
    """Return a trace with its unknown cells imputed; they stay marked as unknown."""
    if not np.any(trace.unknown_bits):
        return trace
    bits = np.array(trace.changed_bits)
    for start in range(0, bits.shape[1], BLOCK_BYTES):
        block = slice(start, start + BLOCK_BYTES)
        changed = _unpack_cells(bits[:, block])
        impute_cells(changed, _unpack_cells(trace.unknown_bits[:, block]))
        bits[:, block] = np.packbits(changed.T, axis=1)
    return replace(trace, changed_bits=bits)


def _unpack_cells(bits: FlagArray) -> BoolArray:
    """Unpack bits with a row per cycle into a table with a row per page."""
    return np.ascontiguousarray(np.unpackbits(bits, axis=1).T).view(np.bool_)
