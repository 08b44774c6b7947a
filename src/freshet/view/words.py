"""Split a text into words and count them, by the definition of a word that all parts share.

A word is a maximal run of letters, marks and digits (Unicode L, M and Nd) after NFKC and casefold.
An apostrophe between two such characters is part of the word, and U+2019 counts as ``'``, so that
new quotation marks do not make new words. Every character of the Han, Kana, Thai, Lao and Khmer
scripts, including their vowel signs and digits, is a word by itself. A mark that belongs to no such
script (a variation selector, an accent) stays with the character before it. A variation selector
after a character that is no part of a word, such as an emoji, is no word.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import TermCounts
from freshet.view.case_folding import code_points, fold_text, folding_table
from freshet.view.character_classes import (
    APOSTROPHE,
    MARK,
    OTHER,
    SELECTOR,
    UNSPACED,
    WORD,
    character_class,
    class_table,
)
from freshet.view.kernels import words as kernels
from freshet.view.kernels.markup import mix_bits

_LOW_64 = 0xFFFF_FFFF_FFFF_FFFF


def count_words(text: str) -> TermCounts:
    """Count the words of a text.

    >>> count_words("Rain, rain; go away").total
    4
    """
    ids = kernels.word_ids(_folded_codes(text), class_table())
    distinct, counts = kernels.count_ids(ids)
    if len(ids) and not len(distinct):
        distinct, tallied = np.unique(ids, return_counts=True)
        return TermCounts(distinct, tallied.astype(np.uint32))
    order = np.argsort(distinct)
    return TermCounts(distinct[order], counts[order])


def split_words(text: str) -> Iterator[str]:
    """Yield the words of a text in order; the plain form that the compiled one must equal.

    >>> list(split_words("L'été 東京 isn't 'quoted'"))
    ["l'été", '東', '京', "isn't", 'quoted']
    """
    folded = fold_text(text)
    word, grows = "", False
    for position, char in enumerate(folded):
        kind = character_class(char)
        if word and (kind in (MARK, SELECTOR) or (grows and _continues(folded, position))):
            word += char
            continue
        if word:
            yield word
        is_outside = kind in (OTHER, APOSTROPHE, SELECTOR)
        word, grows = ("", False) if is_outside else (char, kind != UNSPACED)
    if word:
        yield word


def vocabulary(text: str) -> dict[int, str]:
    """Return the words of a text by their term id."""
    return {term_id(word): word for word in split_words(text)}


def term_id(word: str) -> int:
    """Return the 64-bit hash of a word: seeded FNV-1a of its UTF-8, then MurmurHash3's finaliser.

    >>> term_id("rain") == term_id("Rain")
    False
    """
    value = kernels.SEED
    for byte in word.encode():
        value = (value ^ byte) * kernels.FNV_PRIME & _LOW_64
    return int(mix_bits(np.uint64(value)))


def _continues(folded: str, position: int) -> bool:
    """Return whether the character at a position continues the word before it."""
    kind = character_class(folded[position])
    if kind != APOSTROPHE:
        return kind == WORD
    following = folded[position + 1 : position + 2]
    return bool(following) and character_class(following) in (WORD, MARK)


def _folded_codes(text: str) -> NDArray[np.unsignedinteger]:
    """Return the code points of a folded text in the fastest way that is exact."""
    if text.isascii():
        return np.frombuffer(text.lower().encode("ascii"), dtype=np.uint8)
    codes, table = code_points(text), folding_table()
    length = kernels.folded_length(codes, table.table, table.starts)
    if length < 0:
        return code_points(fold_text(text))
    return kernels.fold_codes(codes, (table.table, table.starts, table.expansions), length)
