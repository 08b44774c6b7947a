"""Short summary of the new text of a page: the most informative new sentences.

A sentence is weighted by its new words. Words that the old text has elsewhere, or that earlier
texts had, weigh less, and so do numbers, which are mostly counters and dates. A sentence that only
moved is not new.
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
_SENTENCE_END = re.compile(rf"(?<=\w\w[.!?…])\s+|(?<=[{_CLOSING}])")
_WORD_EDGE = re.compile(r"\s+|\b")
_SEPARATOR = " … "
_ELLIPSIS = "…"
_SHORT_SENTENCE = 140
_CONTEXT_CHARS = 40
_OLD_WORD_WEIGHT = 0.2
_NUMBER_WEIGHT = 0.3
_MIN_WEIGHT_SHARE = 0.15
_PASSAGE_COST_CHARS = 60
_MAX_CANDIDATES = 200
_MAX_CLUSTER_CHARS = 16
_JOINER = "\u200d"

TextRange = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SnippetPassage:
    """A piece of the new text that may be shown: its range and its new words."""

    start: int
    end: int
    text: str
    words: frozenset[str]
    is_cut_at_start: bool
    is_cut_at_end: bool


def make_snippet(
    old: str, new: str, *, earlier_texts: Sequence[str] = (), max_chars: int = MAX_SNIPPET_CHARS
) -> str:
    """Return the most informative text that is new; empty if nothing is.

    ``earlier_texts`` are older than the old text: words that come and go weigh less. Noise has to
    be masked in all texts before.

    >>> make_snippet("Home\\nNews", "Home\\nFlood closes two bridges\\nNews")
    'Flood closes two bridges'
    """
    weights = _WordWeights(word_set(old), _document_shares(earlier_texts))
    passages = [_cut_to_limit(passage, max_chars) for passage in _passages(old, new, max_chars)]
    passages.sort(key=lambda passage: (-weights.of(passage.words), passage.start))
    chosen = _choose_passages(passages[:_MAX_CANDIDATES], weights, max_chars)
    return _join_passages(chosen, new, max_chars)


@dataclass(frozen=True, slots=True)
class _WordWeights:
    """The weight of each new word."""

    old_words: frozenset[str]
    earlier_shares: Mapping[str, float]

    def of(self, words: Iterable[str]) -> float:
        return sum(map(self._weight, words))

    def _weight(self, word: str) -> float:
        weight = (
            _OLD_WORD_WEIGHT
            if word in self.old_words
            else 1 - (1 - _OLD_WORD_WEIGHT) * self.earlier_shares.get(word, 0.0)
        )
        return weight * _NUMBER_WEIGHT if word.isdecimal() else weight


def _document_shares(texts: Sequence[str]) -> dict[str, float]:
    """Return the share of texts that contain each word."""
    counted = Counter(word for text in texts for word in word_set(text))
    return {word: count / len(texts) for word, count in counted.items()}


def _passages(old: str, new: str, limit: int) -> Iterator[SnippetPassage]:
    """Yield every sentence with new words; long sentences are cut around these."""
    added = list(_added_ranges(old, new))
    old_sentences = (
        {_collapse_spaces(old[start:end]) for start, end in _sentences(old)} if added else set()
    )
    for start, end in _sentences(new):
        added_in_sentence = _overlapping(added, start, end)
        if added_in_sentence and _collapse_spaces(new[start:end]) not in old_sentences:
            yield from _windows(new, (start, end), added_in_sentence, limit)


def _added_ranges(old: str, new: str) -> Iterator[TextRange]:
    """Yield the ranges of the new text that the old one lacks."""
    offset = 0
    for piece in word_diff(old, new):
        if piece.kind is DiffKind.REMOVED:
            continue
        if piece.kind is DiffKind.ADDED:
            yield offset, offset + len(piece.text)
        offset += len(piece.text)


def _sentences(text: str) -> Iterator[TextRange]:
    """Yield the ranges of the sentences of a text; a short line counts as one sentence."""
    for line in _LINE.finditer(text):
        start, end = line.span()
        for boundary in (
            _SENTENCE_END.finditer(text, start, end) if end - start > _SHORT_SENTENCE else ()
        ):
            if boundary.start() > start:
                yield start, boundary.start()
            start = boundary.end()
        if start < end:
            yield start, end


def _overlapping(added: Sequence[TextRange], start: int, end: int) -> list[TextRange]:
    """Return the parts of the added ranges that lie within a sentence."""
    index = max(bisect_right(added, (start, start)) - 1, 0)
    overlaps = []
    while index < len(added) and added[index][0] < end:
        low, high = max(added[index][0], start), min(added[index][1], end)
        if low < high:
            overlaps.append((low, high))
        index += 1
    return overlaps


def _windows(
    text: str, sentence: TextRange, added: Sequence[TextRange], limit: int
) -> Iterator[SnippetPassage]:
    """Yield a sentence if it is short or mostly new, else the parts around its new words."""
    start, end = sentence
    mostly_new = 2 * sum(high - low for low, high in added) >= end - start
    is_short_enough = end - start <= (limit if mostly_new else min(limit, _SHORT_SENTENCE))
    for group in [added] if is_short_enough or mostly_new else _near_ranges(added):
        low, high = sentence if is_short_enough else _range_with_context(text, sentence, group)
        words = word_set(" ".join(text[a:b] for a, b in group))
        if words:
            yield SnippetPassage(
                low, high, _collapse_spaces(text[low:high]), words, low > start, high < end
            )


def _near_ranges(added: Sequence[TextRange]) -> Iterator[list[TextRange]]:
    """Group added ranges that are so near that they are shown together."""
    group: list[TextRange] = []
    for stretch in added:
        if group and stretch[0] - group[-1][1] > 2 * _CONTEXT_CHARS:
            yield group
            group = []
        group.append(stretch)
    yield group


def _range_with_context(text: str, sentence: TextRange, group: Sequence[TextRange]) -> TextRange:
    """Return the range of some new words with context from the sentence, cut at word ends."""
    (start, end), first, last = sentence, group[0][0], group[-1][1]
    low, high = first - _CONTEXT_CHARS, last + _CONTEXT_CHARS
    word_starts = (edge_match.end() for edge_match in _WORD_EDGE.finditer(text, low, first))
    # One more character is searched, because the end of a search looks like the end of a word.
    word_ends = (edge_match.start() for edge_match in _WORD_EDGE.finditer(text, last, high + 1))
    return (
        min(word_starts, default=low) if low > start else start,
        max((edge for edge in word_ends if edge <= high), default=high) if high < end else end,
    )


def _cut_to_limit(passage: SnippetPassage, limit: int) -> SnippetPassage:
    """Return a passage within the limit, cut at the end of a word if one is near."""
    if len(passage.text) <= limit:
        return passage
    text = _cut(passage.text, max(limit - len(_ELLIPSIS), 0))
    return SnippetPassage(
        passage.start,
        passage.end,
        text,
        passage.words & word_set(text),
        passage.is_cut_at_start,
        True,
    )


def _cut(text: str, max_chars: int) -> str:
    space = text.rfind(" ", 0, max_chars + 1)
    if space > max_chars // 2:
        return text[:space]
    end = max_chars
    while end > max(max_chars - _MAX_CLUSTER_CHARS, 0) and _is_combining(text, end):
        end -= 1
    return text[:end] if not _is_combining(text, end) else text[:max_chars]


def _is_combining(text: str, offset: int) -> bool:
    """Return whether the character at an offset is drawn as one with the character before."""
    if not 0 < offset < len(text):
        return False
    char = text[offset]
    return (
        unicodedata.category(char)[0] == "M"
        or _JOINER in (char, text[offset - 1])
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or (_is_flag(char) and _is_flag(text[offset - 1]))
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _choose_passages(
    passages: Sequence[SnippetPassage], weights: _WordWeights, limit: int
) -> list[SnippetPassage]:
    """Choose passages greedily by new weight for their length while there is room."""
    chosen: list[SnippetPassage] = []
    shown_words: frozenset[str] = frozenset()
    room_chars, min_weight, remaining = limit, 0.0, list(passages)
    while remaining:
        best = max(
            remaining,
            key=lambda p: weights.of(p.words - shown_words) / (len(p.text) + _PASSAGE_COST_CHARS),
        )
        min_weight = max(min_weight, _MIN_WEIGHT_SHARE * weights.of(best.words - shown_words))
        chosen.append(best)
        shown_words |= best.words
        room_chars -= len(best.text) + len(_SEPARATOR)
        remaining = [
            p
            for p in remaining
            if len(p.text) <= room_chars and weights.of(p.words - shown_words) > min_weight
        ]
    return sorted(chosen, key=lambda passage: passage.start)


def _join_passages(chosen: Sequence[SnippetPassage], text: str, limit: int) -> str:
    """Join passages in reading order, with an ellipsis where text is left out."""
    if not chosen:
        return ""
    parts = [chosen[0].text]
    for before, after in pairwise(chosen):
        gap = text[before.end : after.start]
        follows = not before.is_cut_at_end and not gap.strip() and "\n" not in gap
        parts += [" " if follows else _SEPARATOR, after.text]
    snippet = "".join(parts)
    if chosen[-1].is_cut_at_end and len(snippet) + len(_ELLIPSIS) <= limit:
        snippet += _ELLIPSIS
    if chosen[0].is_cut_at_start and len(snippet) + len(_ELLIPSIS) <= limit:
        snippet = _ELLIPSIS + snippet
    return snippet


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())
