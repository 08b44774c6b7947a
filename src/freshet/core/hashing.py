"""Pseudo-random numbers that break ties: a hash of a number, the same in every process.

The same code runs on one number in compiled code, and on whole arrays of numpy or of a GPU.
"""

import numpy as np

from freshet.core.types import HashArray

TIE_BREAK_RANGE = 2.0**64
"""How many different hashes there are."""

_STEP = np.uint64(0x9E37_79B9_7F4A_7C15)
_FACTOR_ONE, _FACTOR_TWO = np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
_SHIFT_ONE, _SHIFT_TWO, _SHIFT_THREE = np.uint64(30), np.uint64(27), np.uint64(31)


def splitmix64(values: HashArray) -> HashArray:
    """Hash 64-bit numbers by SplitMix64 (Steele et al. 2014).

    >>> splitmix64(np.array([0], np.uint64)).tolist()
    [16294208416658607535]
    """
    values = values + _STEP
    values = (values ^ (values >> _SHIFT_ONE)) * _FACTOR_ONE
    values = (values ^ (values >> _SHIFT_TWO)) * _FACTOR_TWO
    return values ^ (values >> _SHIFT_THREE)
