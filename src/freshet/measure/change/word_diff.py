"""Difference between two texts as removed and added words, for people to read."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from freshet.measure.change.sequence_matching import match_sequences

_UNSPACED_SCRIPTS = r"\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SINGLE_CHARACTERS = rf"!-/:-@\[-`{{-~{_UNSPACED_SCRIPTS}"
_TOKEN = re.compile(rf"[^\s{_SINGLE_CHARACTERS}]+|[{_SINGLE_CHARACTERS}]|\s+")
_LETTER = re.compile(r"\w")
_MIN_SHARED_TEXT = 0.5
_MAX_LINE_CHARS = 200
_MAX_BLOCK_CHARS = 1_000_000


class DiffKind(StrEnum):
    """Whether a piece of text is the same in both texts, removed or added."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A run of text of one kind."""

    kind: DiffKind
    text: str


def word_diff(old: str, new: str) -> list[DiffPiece]:
    """Return the pieces of both texts in reading order, compared by lines and then by words.

    The unchanged and removed pieces together are the old text, the unchanged and added pieces the
    new one.

    >>> [f"{piece.kind}: {piece.text}" for piece in word_diff("one two", "one three")]
    ['same: one ', 'removed: two', 'added: three']
    """
    by_lines = _pieces(old.splitlines(keepends=True), new.splitlines(keepends=True))
    return list(_merge(_by_words(_merge(by_lines))))


def diff_hunks(pieces: Sequence[DiffPiece], *, context: int = 3) -> list[tuple[DiffPiece, ...]]:
    """Return each change with ``context`` lines around it."""
    hunks: list[list[DiffPiece]] = [[]]
    for index, piece in enumerate(pieces):
        after = _first_lines(piece.text, context) if index > 0 else ""
        before = _last_lines(piece.text, context) if index < len(pieces) - 1 else ""
        if piece.kind is not DiffKind.SAME or len(after) + len(before) >= len(piece.text):
            hunks[-1].append(piece)
        else:
            hunks[-1].append(DiffPiece(DiffKind.SAME, after))
            hunks.append([DiffPiece(DiffKind.SAME, before)])
    return [
        _without_empty_pieces(hunk)
        for hunk in hunks
        if any(piece.kind is not DiffKind.SAME for piece in hunk)
    ]


def word_set(text: str) -> frozenset[str]:
    """Return the distinct words of a text, in lower case.

    >>> sorted(word_set("Rain, rain: go away"))
    ['away', 'go', 'rain']
    """
    return frozenset(token.casefold() for token in _TOKEN.findall(text) if _LETTER.search(token))


def _pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffPiece]:
    """Yield equal items as unchanged pieces, and the items between them as removed and added."""
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
    """Join neighbouring pieces, so that each change has one removed and one added piece at most."""
    for same, run in groupby(pieces, key=lambda piece: piece.kind is DiffKind.SAME):
        pieces_in_run = list(run)
        if same:
            yield DiffPiece(DiffKind.SAME, "".join(piece.text for piece in pieces_in_run))
        else:
            yield from _replacement(
                _join(pieces_in_run, DiffKind.REMOVED), _join(pieces_in_run, DiffKind.ADDED)
            )


def _join(pieces: Iterable[DiffPiece], kind: DiffKind) -> str:
    return "".join(piece.text for piece in pieces if piece.kind is kind)


def _by_words(pieces: Iterable[DiffPiece]) -> Iterator[DiffPiece]:
    """Compare each removed piece with the added piece after it, word by word."""
    for same, run in groupby(pieces, key=lambda piece: piece.kind is DiffKind.SAME):
        pieces_in_run = list(run)
        if same or len(pieces_in_run) == 1:
            yield from pieces_in_run
        else:
            yield from _compare_words(pieces_in_run[0], pieces_in_run[1])


def _compare_words(removed: DiffPiece, added: DiffPiece) -> Iterator[DiffPiece]:
    """Yield the words of a replaced block.

    A block that is very large, or that shares too little text, is not split.
    """
    if len(removed.text) + len(added.text) > _MAX_BLOCK_CHARS:
        yield from (removed, added)
        return
    words = list(_merge(_pieces(_TOKEN.findall(removed.text), _TOKEN.findall(added.text))))
    shared = len(_join(words, DiffKind.SAME))
    if shared < _MIN_SHARED_TEXT * min(len(removed.text), len(added.text)):
        yield from (removed, added)
        return
    for piece in words:
        if piece.kind is DiffKind.SAME and not _LETTER.search(piece.text):
            yield from _punctuation_pieces(piece.text)
        else:
            yield piece


def _punctuation_pieces(text: str) -> Iterator[DiffPiece]:
    """Yield punctuation between changed words as changed, except for its line breaks."""
    start, end = text.find("\n"), text.rfind("\n") + 1
    if not end:
        yield from _replacement(text, text)
        return
    yield from _replacement(text[:start], text[:start])
    yield DiffPiece(DiffKind.SAME, text[start:end])
    yield from _replacement(text[end:], text[end:])


def _first_lines(text: str, context: int) -> str:
    return "".join(text.splitlines(keepends=True)[:context])[: context * _MAX_LINE_CHARS]


def _last_lines(text: str, context: int) -> str:
    if context == 0:
        return ""
    return "".join(text.splitlines(keepends=True)[-context:])[-context * _MAX_LINE_CHARS :]


def _without_empty_pieces(hunk: Iterable[DiffPiece]) -> tuple[DiffPiece, ...]:
    return tuple(piece for piece in hunk if piece.text)
