"""The 64-bit hash of a text: a polynomial over its UTF-8 bytes.

The hash of any part of a page follows from running sums, without reading the part again.
"""

import numpy as np

BASE = 0x9E3779B97F4A7C15
INVERSE = pow(BASE, -1, 1 << 64)
_MASK = (1 << 64) - 1
_MIX = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)


def mix_bits(value: int) -> int:
    """Mix every bit of a 64-bit number into all others (0 stays 0)."""
    for factor in _MIX:
        value = ((value ^ (value >> 33)) * factor) & _MASK
    return value ^ (value >> 33)


WEIGHTS = np.array([mix_bits(BASE * number & _MASK) for number in range(1, 257)], np.uint64)


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
    return mix_bits(total)
