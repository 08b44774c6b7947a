"""Hashes of 64-bit numbers, the same in every process.

The same code runs on one number in compiled code, and on whole arrays of numpy or of a GPU.
"""

import numpy as np

from freshet.core.types import HashArray

TIE_BREAK_RANGE = 2.0**64
"""How many different hashes there are; ties are broken by the hash of a page."""

_STEP = np.uint64(0x9E37_79B9_7F4A_7C15)
_FACTOR_ONE, _FACTOR_TWO = np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
_SHIFT_ONE, _SHIFT_TWO, _SHIFT_THREE = np.uint64(30), np.uint64(27), np.uint64(31)
_MIX_ONE, _MIX_TWO = np.uint64(0xFF51_AFD7_ED55_8CCD), np.uint64(0xC4CE_B9FE_1A85_EC53)
_MIX_SHIFT = np.uint64(33)


def splitmix64(values: HashArray) -> HashArray:
    """Hash 64-bit numbers by SplitMix64 (Steele et al. 2014).

    >>> splitmix64(np.array([0], np.uint64)).tolist()
    [16294208416658607535]
    """
    values = values + _STEP
    values = (values ^ (values >> _SHIFT_ONE)) * _FACTOR_ONE
    values = (values ^ (values >> _SHIFT_TWO)) * _FACTOR_TWO
    return values ^ (values >> _SHIFT_THREE)


def mix_bits(values: HashArray) -> HashArray:
    """Mix every bit of 64-bit numbers into all others: MurmurHash3's finaliser; 0 stays 0.

    >>> mix_bits(np.array([0, 1], np.uint64)).tolist()
    [0, 12994781566227106604]
    """
    values = (values ^ (values >> _MIX_SHIFT)) * _MIX_ONE
    values = (values ^ (values >> _MIX_SHIFT)) * _MIX_TWO
    return values ^ (values >> _MIX_SHIFT)
