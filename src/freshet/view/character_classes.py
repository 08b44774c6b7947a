"""The class of each Unicode character for splitting words."""

import unicodedata
from functools import lru_cache

import numpy as np

from freshet.core.types import FlagArray

OTHER, WORD, MARK, UNSPACED, APOSTROPHE, SELECTOR = range(6)

CODE_POINTS = 0x110000
# Planes 4 to 13 are unassigned, planes 15 and 16 private; in plane 14 only selectors are marks.
ASSIGNED = 0x40000
SELECTORS = range(0xE0100, 0xE01F0)
# Variation selectors and the enclosing keycap choose the picture of an emoji.
EMOJI_MARKS = (*range(0xFE00, 0xFE10), 0x20E3)

UNSPACED_RANGES = (
    (0x0E00, 0x0EFF),  # Thai and Lao
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),  # Han iteration marks and zero
    (0x3021, 0x3029),  # Han numerals
    (0x3031, 0x303C),  # Kana and Han iteration marks
    (0x3041, 0x3096),  # Hiragana
    (0x309B, 0x30FF),  # Hiragana marks and Katakana, without the combining voicing marks
    (0x31F0, 0x31FF),  # small Katakana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han compatibility
    (0x1AFF0, 0x1B16F),  # Kana supplements
    (0x20000, 0x3FFFF),  # Han extensions
)
_UNSPACED_CATEGORIES = frozenset({"Lo", "Lm", "Mn", "Mc", "Nd", "Nl"})


def character_class(char: str) -> int:
    """Return the class of a character after folding.

    >>> character_class("é") == WORD, character_class("京") == UNSPACED
    (True, True)
    """
    if char == "'":
        return APOSTROPHE
    if ord(char) in SELECTORS or ord(char) in EMOJI_MARKS:
        return SELECTOR
    category = unicodedata.category(char)
    if category in _UNSPACED_CATEGORIES and _is_unspaced(ord(char)):
        return UNSPACED
    return _class_of_category(category)


@lru_cache(maxsize=1)
def class_table() -> FlagArray:
    """Return the class of every code point, computed once."""
    table = np.zeros(CODE_POINTS, dtype=np.uint8)
    categories = list(map(unicodedata.category, map(chr, range(ASSIGNED))))
    classes = {category: _class_of_category(category) for category in set(categories)}
    table[:ASSIGNED] = np.fromiter(map(classes.__getitem__, categories), np.uint8, ASSIGNED)
    for first, last in UNSPACED_RANGES:
        is_unspaced = [
            category in _UNSPACED_CATEGORIES for category in categories[first : last + 1]
        ]
        table[first : last + 1][is_unspaced] = UNSPACED
    table[SELECTORS.start : SELECTORS.stop] = SELECTOR
    table[list(EMOJI_MARKS)] = SELECTOR
    table[ord("'")] = APOSTROPHE
    table.setflags(write=False)
    return table


def _is_unspaced(code: int) -> bool:
    """Return whether a code point belongs to a script that is written without spaces."""
    return any(first <= code <= last for first, last in UNSPACED_RANGES)


def _class_of_category(category: str) -> int:
    """Return the class of a general category for scripts that are written with spaces."""
    if category[0] == "L" or category == "Nd":
        return WORD
    return MARK if category[0] == "M" else OTHER
