"""The 64-bit hash of a text: a polynomial over its UTF-8 bytes.

The hash of any part of a page follows from running sums, without reading the part again.
"""

import numpy as np

from freshet.core.hashing import mix_bits

BASE = 0x9E3779B97F4A7C15
INVERSE = pow(BASE, -1, 1 << 64)
_MASK = (1 << 64) - 1
WEIGHTS = mix_bits(np.arange(1, 257, dtype=np.uint64) * np.uint64(BASE))


def text_hash(text: str) -> int:
    """Return the hash of a text with collapsed white space.

    >>> text_hash("")
    0
    >>> text_hash("foo") == text_hash("foo bar")
    False
    """
    total, power = 0, 1
    for byte in text.encode():
        total = (total + int(WEIGHTS[byte]) * power) & _MASK
        power = (power * BASE) & _MASK
    return int(mix_bits(np.array([total], np.uint64))[0])
