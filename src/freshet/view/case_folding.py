"""NFKC and casefold as one table per character, where that is exact.

Normalising a text equals normalising each of its characters unless a character may join or reorder
with the one before it: combining marks, and the second halves of canonical pairs. Those have the
flag JOINS, and a text with one of them is folded by ``unicodedata``.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from freshet.view.character_classes import ASSIGNED

Codes = NDArray[np.uint32]

EXPANDS, JOINS, LOW_BITS = 1 << 22, 1 << 23, (1 << 22) - 1

# Every other character folds to itself and joins nothing (a test checks this).
FOLDABLE = (
    range(0x41, 0x3400),
    range(0xA000, 0xAC00),
    range(0xF900, 0x20000),
    range(0x2F800, 0x2FA20),
)

# Hangul is composed by arithmetic, so its vowels and final consonants are in no pair.
_HANGUL_SECONDS = frozenset(map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))))


@dataclass(frozen=True, slots=True)
class FoldingTable:
    """The folding of each code point: one code point, or a row of ``expansions``.

    An entry of ``table`` holds the code point, or the row with the flag EXPANDS; row r lies between
    ``starts[r]`` and ``starts[r + 1]``.
    """

    table: Codes
    starts: Codes
    expansions: Codes


def fold_text(text: str) -> str:
    r"""Return a text after NFKC and casefold, with one form of apostrophe.

    >>> fold_text("DON\u2019T Straße ﬁne")
    "don't strasse fine"
    """
    return unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")


def code_points(text: str) -> Codes:
    """Return the code points of a text, including lone surrogates."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


@lru_cache(maxsize=1)
def folding_table() -> FoldingTable:
    """Return the folding of every code point, computed once."""
    chars = list(map(chr, chain.from_iterable(FOLDABLE)))
    table = np.arange(ASSIGNED, dtype=np.uint32)
    rows: list[str] = []
    for char, target in zip(chars, fold_text("\n".join(chars)).split("\n"), strict=True):
        if char != target:
            table[ord(char)] = _entry(target, rows)
    table[code_points("".join(_joining(chars)))] |= JOINS
    starts = np.fromiter(accumulate(map(len, rows), initial=0), np.uint32)
    return FoldingTable(table, starts, code_points("".join(rows)))


def _entry(target: str, rows: list[str]) -> int:
    """Return the table entry of a character that becomes ``target``."""
    if len(target) == 1:
        return ord(target)
    rows.append(target)
    return EXPANDS | len(rows) - 1


def _joining(chars: Sequence[str]) -> list[str]:
    """Return the characters that may join or reorder with the one before them."""
    seconds = _HANGUL_SECONDS | _seconds_of_pairs(chars)
    decomposed = unicodedata.normalize("NFKD", "\n".join(chars)).split("\n")
    return [
        char
        for char, parts in zip(chars, decomposed, strict=True)
        if parts[0] in seconds or char in seconds or unicodedata.combining(parts[0])
    ]


def _seconds_of_pairs(chars: Sequence[str]) -> frozenset[str]:
    """Return the second halves of the canonical decompositions."""
    pairs = (entry.split() for entry in map(unicodedata.decomposition, chars) if entry)
    return frozenset(
        chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and pair[0][0] != "<"
    )
