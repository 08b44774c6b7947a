"""What is new in a text, as short as a search result: the most telling sentences that came.

A sentence counts by the words that are new in it. Those that the old text had elsewhere, or that
earlier texts had too, count for less, and so do bare numbers, which are mostly counters and
dates. A sentence that only moved is not new.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from freshet.measure.change.word_diff import DiffKind, word_diff, word_set

MAX_SNIPPET_CHARS = 300
_CLOSING = "\u3002\uff01\uff1f"
_LINE = re.compile(r"[^\n]+")
_BREAK = re.compile(rf"(?<=\w\w[.!?…])\s+|(?<=[{_CLOSING}])")
_EDGE = re.compile(r"\s+|\b")
_BETWEEN = " … "
_CUT = "…"
_SHORT = 140
_AROUND = 40
_KNOWN = 0.2
_NUMBER = 0.3
_DULL = 0.15
_HEAD_START = 60
_MOST = 200
_LONGEST_CLUSTER = 16
_JOINER = "\u200d"

TextRange = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SnippetPassage:
    """A piece of the new text worth showing: where it lies, and the words that came with it."""

    start: int
    end: int
    text: str
    words: frozenset[str]
    is_cut_at_start: bool
    is_cut_at_end: bool


def make_snippet(
    old: str, new: str, *, earlier_texts: Sequence[str] = (), max_chars: int = MAX_SNIPPET_CHARS
) -> str:
    """Return the most telling of what the new text has and the old one lacks; empty if nothing.

    ``earlier_texts`` are texts from before the old one: words that come and go are no great news. Text
    that is noise is to be masked on both sides first.

    >>> make_snippet("Home\\nNews", "Home\\nFlood closes two bridges\\nNews")
    'Flood closes two bridges'
    """
    worth = _WordWeights(word_set(old), _shares(earlier_texts))
    passages = [_fitted(passage, max_chars) for passage in _passages(old, new, max_chars)]
    passages.sort(key=lambda passage: (-worth.of(passage.words), passage.start))
    chosen = _choose(passages[:_MOST], worth, max_chars)
    return _joined(chosen, new, max_chars)


@dataclass(frozen=True, slots=True)
class _WordWeights:
    """How much news a word is."""

    known: frozenset[str]
    familiar: Mapping[str, float]

    def of(self, words: Iterable[str]) -> float:
        return sum(map(self._of_one, words))

    def _of_one(self, word: str) -> float:
        worth = _KNOWN if word in self.known else 1 - (1 - _KNOWN) * self.familiar.get(word, 0.0)
        return worth * _NUMBER if word.isdecimal() else worth


def _shares(texts: Sequence[str]) -> dict[str, float]:
    """Return in which share of the texts each word is."""
    counted = Counter(word for text in texts for word in word_set(text))
    return {word: count / len(texts) for word, count in counted.items()}


def _passages(old: str, new: str, limit: int) -> Iterator[SnippetPassage]:
    """Yield every sentence of the new text with words that came, long ones cut around them."""
    added = list(_added(old, new))
    standing = {_plain(old[start:end]) for start, end in _sentences(old)} if added else set()
    for start, end in _sentences(new):
        inside = _overlapping(added, start, end)
        if inside and _plain(new[start:end]) not in standing:
            yield from _windows(new, (start, end), inside, limit)


def _added(old: str, new: str) -> Iterator[TextRange]:
    """Yield where the new text has what the old one lacks."""
    place = 0
    for piece in word_diff(old, new):
        if piece.kind is DiffKind.REMOVED:
            continue
        if piece.kind is DiffKind.ADDED:
            yield place, place + len(piece.text)
        place += len(piece.text)


def _sentences(text: str) -> Iterator[TextRange]:
    """Yield where the sentences of a text lie; a short line is taken as one, whatever it holds."""
    for line in _LINE.finditer(text):
        start, end = line.span()
        for found in _BREAK.finditer(text, start, end) if end - start > _SHORT else ():
            if found.start() > start:
                yield start, found.start()
            start = found.end()
        if start < end:
            yield start, end


def _overlapping(added: Sequence[TextRange], start: int, end: int) -> list[TextRange]:
    """Return what of the added stretches lies within a sentence."""
    place = max(bisect_right(added, (start, start)) - 1, 0)
    found = []
    while place < len(added) and added[place][0] < end:
        low, high = max(added[place][0], start), min(added[place][1], end)
        if low < high:
            found.append((low, high))
        place += 1
    return found


def _windows(
    text: str, sentence: TextRange, added: Sequence[TextRange], limit: int
) -> Iterator[SnippetPassage]:
    """Yield a sentence whole where it is short or mostly new, else what is around its new words."""
    start, end = sentence
    mostly_new = 2 * sum(high - low for low, high in added) >= end - start
    whole = end - start <= (limit if mostly_new else min(limit, _SHORT))
    for group in [added] if whole or mostly_new else _groups(added):
        low, high = sentence if whole else _around(text, sentence, group)
        words = word_set(" ".join(text[a:b] for a, b in group))
        if words:
            yield SnippetPassage(low, high, _plain(text[low:high]), words, low > start, high < end)


def _groups(added: Sequence[TextRange]) -> Iterator[list[TextRange]]:
    """Put together what is so near that it would be shown together."""
    group: list[TextRange] = []
    for stretch in added:
        if group and stretch[0] - group[-1][1] > 2 * _AROUND:
            yield group
            group = []
        group.append(stretch)
    yield group


def _around(text: str, sentence: TextRange, group: Sequence[TextRange]) -> TextRange:
    """Return where some new words lie with a little of the sentence around, at ends of words."""
    (start, end), first, last = sentence, group[0][0], group[-1][1]
    low, high = first - _AROUND, last + _AROUND
    ahead = (found.end() for found in _EDGE.finditer(text, low, first))
    # One character more is read, because the end of what is read looks like the end of a word.
    behind = (found.start() for found in _EDGE.finditer(text, last, high + 1))
    return (
        min(ahead, default=low) if low > start else start,
        max((edge for edge in behind if edge <= high), default=high) if high < end else end,
    )


def _fitted(passage: SnippetPassage, limit: int) -> SnippetPassage:
    """Return a passage that does not exceed the limit, ended at a word where one is near."""
    if len(passage.text) <= limit:
        return passage
    text = _cut(passage.text, max(limit - len(_CUT), 0))
    return SnippetPassage(
        passage.start,
        passage.end,
        text,
        passage.words & word_set(text),
        passage.is_cut_at_start,
        True,
    )


def _cut(text: str, room: int) -> str:
    space = text.rfind(" ", 0, room + 1)
    if space > room // 2:
        return text[:space]
    end = room
    while end > max(room - _LONGEST_CLUSTER, 0) and _belongs(text, end):
        end -= 1
    return text[:end] if not _belongs(text, end) else text[:room]


def _belongs(text: str, place: int) -> bool:
    """Whether the character at a place is drawn as one with the character before it."""
    if not 0 < place < len(text):
        return False
    char = text[place]
    return (
        unicodedata.category(char)[0] == "M"
        or _JOINER in (char, text[place - 1])
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or (_is_flag(char) and _is_flag(text[place - 1]))
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _choose(
    passages: Sequence[SnippetPassage], worth: _WordWeights, limit: int
) -> list[SnippetPassage]:
    """Take the passage that tells most for its length, again and again while there is room."""
    chosen: list[SnippetPassage] = []
    told: frozenset[str] = frozenset()
    room, least, left = limit, 0.0, list(passages)
    while left:
        best = max(left, key=lambda p: worth.of(p.words - told) / (len(p.text) + _HEAD_START))
        least = max(least, _DULL * worth.of(best.words - told))
        chosen.append(best)
        told |= best.words
        room -= len(best.text) + len(_BETWEEN)
        left = [p for p in left if len(p.text) <= room and worth.of(p.words - told) > least]
    return sorted(chosen, key=lambda passage: passage.start)


def _joined(chosen: Sequence[SnippetPassage], text: str, limit: int) -> str:
    """Write passages one after the other, with dots where something is left out."""
    if not chosen:
        return ""
    parts = [chosen[0].text]
    for before, after in pairwise(chosen):
        gap = text[before.end : after.start]
        follows = not before.is_cut_at_end and not gap.strip() and "\n" not in gap
        parts += [" " if follows else _BETWEEN, after.text]
    told = "".join(parts)
    if chosen[-1].is_cut_at_end and len(told) + len(_CUT) <= limit:
        told += _CUT
    if chosen[0].is_cut_at_start and len(told) + len(_CUT) <= limit:
        told = _CUT + told
    return told


def _plain(text: str) -> str:
    return " ".join(text.split())
