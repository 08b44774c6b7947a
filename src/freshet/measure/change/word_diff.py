"""Which words came and which went between two texts, to be read by people."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from freshet.measure.change.sequence_matching import match_sequences

_WITHOUT_SPACES = r"\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SINGLE = rf"!-/:-@\[-`{{-~{_WITHOUT_SPACES}"
_TOKEN = re.compile(rf"[^\s{_SINGLE}]+|[{_SINGLE}]|\s+")
_LETTER = re.compile(r"\w")
_WORTH_KEEPING = 0.5
_WIDEST_LINE = 200
_LARGEST_BLOCK = 1_000_000


class DiffKind(StrEnum):
    """What became of a piece of text."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A run of text with one fate."""

    kind: DiffKind
    text: str


def word_diff(old: str, new: str) -> list[DiffPiece]:
    """Return the pieces of both texts in reading order, compared by lines and then by words.

    The pieces that are the same or removed join to the old text, those that are the same or added
    to the new one.

    >>> [f"{piece.kind}: {piece.text}" for piece in word_diff("one two", "one three")]
    ['same: one ', 'removed: two', 'added: three']
    """
    by_lines = _pieces(old.splitlines(keepends=True), new.splitlines(keepends=True))
    return list(_merge(_by_words(_merge(by_lines))))


def diff_hunks(pieces: Sequence[DiffPiece], *, context: int = 3) -> list[tuple[DiffPiece, ...]]:
    """Return each change with a few lines around it; what lies further off is left out."""
    found: list[list[DiffPiece]] = [[]]
    for place, piece in enumerate(pieces):
        after = _first_lines(piece.text, context) if place > 0 else ""
        before = _last_lines(piece.text, context) if place < len(pieces) - 1 else ""
        if piece.kind is not DiffKind.SAME or len(after) + len(before) >= len(piece.text):
            found[-1].append(piece)
        else:
            found[-1].append(DiffPiece(DiffKind.SAME, after))
            found.append([DiffPiece(DiffKind.SAME, before)])
    return [
        _filled(hunk) for hunk in found if any(piece.kind is not DiffKind.SAME for piece in hunk)
    ]


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as people see them, whatever their case.

    >>> sorted(word_set("Rain, rain: go away"))
    ['away', 'go', 'rain']
    """
    return frozenset(token.casefold() for token in _TOKEN.findall(text) if _LETTER.search(token))


def _pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffPiece]:
    """Yield what is the same item by item, and what lies between as removed and added."""
    i = j = 0
    for same_i, same_j in match_sequences(old, new):
        yield from _replacement("".join(old[i:same_i]), "".join(new[j:same_j]))
        yield DiffPiece(DiffKind.SAME, old[same_i])
        i, j = same_i + 1, same_j + 1
    yield from _replacement("".join(old[i:]), "".join(new[j:]))


def _replacement(removed: str, added: str) -> Iterator[DiffPiece]:
    if removed:
        yield DiffPiece(DiffKind.REMOVED, removed)
    if added:
        yield DiffPiece(DiffKind.ADDED, added)


def _merge(pieces: Iterable[DiffPiece]) -> Iterator[DiffPiece]:
    """Join neighbours, so that each change is at most one removed and one added piece."""
    for same, run in groupby(pieces, key=lambda piece: piece.kind is DiffKind.SAME):
        held = list(run)
        if same:
            yield DiffPiece(DiffKind.SAME, "".join(piece.text for piece in held))
        else:
            yield from _replacement(_join(held, DiffKind.REMOVED), _join(held, DiffKind.ADDED))


def _join(pieces: Iterable[DiffPiece], kind: DiffKind) -> str:
    return "".join(piece.text for piece in pieces if piece.kind is kind)


def _by_words(pieces: Iterable[DiffPiece]) -> Iterator[DiffPiece]:
    """Compare every removed piece with the added piece after it, word by word."""
    for same, run in groupby(pieces, key=lambda piece: piece.kind is DiffKind.SAME):
        held = list(run)
        if same or len(held) == 1:
            yield from held
        else:
            yield from _compare_words(held[0], held[1])


def _compare_words(removed: DiffPiece, added: DiffPiece) -> Iterator[DiffPiece]:
    """Yield the words of a replaced block; one that shares too little, or is huge, stays whole."""
    if len(removed.text) + len(added.text) > _LARGEST_BLOCK:
        yield from (removed, added)
        return
    words = list(_merge(_pieces(_TOKEN.findall(removed.text), _TOKEN.findall(added.text))))
    shared = len(_join(words, DiffKind.SAME))
    if shared < _WORTH_KEEPING * min(len(removed.text), len(added.text)):
        yield from (removed, added)
        return
    for piece in words:
        if piece.kind is DiffKind.SAME and not _LETTER.search(piece.text):
            yield from _without_letters(piece.text)
        else:
            yield piece


def _without_letters(text: str) -> Iterator[DiffPiece]:
    """Yield what stands between changed words as part of the change, but for its line breaks."""
    start, end = text.find("\n"), text.rfind("\n") + 1
    if not end:
        yield from _replacement(text, text)
        return
    yield from _replacement(text[:start], text[:start])
    yield DiffPiece(DiffKind.SAME, text[start:end])
    yield from _replacement(text[end:], text[end:])


def _first_lines(text: str, context: int) -> str:
    return "".join(text.splitlines(keepends=True)[:context])[: context * _WIDEST_LINE]


def _last_lines(text: str, context: int) -> str:
    if context == 0:
        return ""
    return "".join(text.splitlines(keepends=True)[-context:])[-context * _WIDEST_LINE :]


def _filled(hunk: Iterable[DiffPiece]) -> tuple[DiffPiece, ...]:
    return tuple(piece for piece in hunk if piece.text)
