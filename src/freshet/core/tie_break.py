"""Chance that is the same for everybody: a number scrambled into a lot.

The same lines serve one number in compiled code, and whole arrays of numpy or of a graphics card.
"""

import numpy as np

from freshet.core.types import HashArray

TIE_BREAK_RANGE = 2.0**64
"""How many different lots there are."""

_STEP = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX_ONE, _MIX_TWO = np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
_FAR, _NEAR, _LAST = np.uint64(30), np.uint64(27), np.uint64(31)


def splitmix64(values: HashArray) -> HashArray:
    """Spread every bit of each value over all of its bits, as SplitMix64 (Steele et al. 2014).

    >>> splitmix64(np.array([0], np.uint64)).tolist()
    [16294208416658607535]
    """
    values = values + _STEP
    values = (values ^ (values >> _FAR)) * _MIX_ONE
    values = (values ^ (values >> _NEAR)) * _MIX_TWO
    return values ^ (values >> _LAST)
