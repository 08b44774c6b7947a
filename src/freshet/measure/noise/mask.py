"""Masks: the parts of a page that comparisons ignore, such as counters, clocks and adverts.

A rule is a text pattern, or the path of elements whose text is hidden.

In a pattern ``#`` matches a number, ``*`` any characters up to the next part of the pattern (on one
line, at most 200), a space any white space, and a backslash escapes the next character. Full
regular expressions are not allowed: a careless one can take forever on a long page. The time of
these patterns is linear in the text (``mask_pattern.py``).

A path starts with a slash: ``/html[0]/body[0]/aside[1]`` is that one element. A step without its
index, as in ``/html/body/aside``, matches every element of that name.

All rules are matched against the original page, and every match is hidden, so the order of rules
does not matter.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from freshet.core.errors import SettingsError
from freshet.core.types import ContentKind, DomRows, IndexArray, View
from freshet.measure.noise.mask_pattern import (
    HIDDEN_MARK,
    TextSpan,
    check_length,
    compile_pattern,
    tries_per_pattern,
)

_STEP = re.compile(r"/([A-Za-z][^/\[\]\s]*)(?:\[(\d{1,6})\])?")
_PAGE_PATH = re.compile(r"/html(\[\d+\])?(/body(\[\d+\])?)?")

RuleOrigin = Literal["hand", "learnt"]
PathStep = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class MaskRule:
    """One rule of a mask: a text pattern or a path, its origin, and the reason for it.

    ``but`` are lines that stay visible although the rule matches them, because they came to stay.
    """

    what: str
    by: RuleOrigin = "hand"
    why: str = ""
    but: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.by not in ("hand", "learnt"):
            raise SettingsError(f"mask rule {self.what!r} is by {self.by!r}; use hand or learnt")
        if self.is_path:
            parse_path(self.what)
        else:
            compile_pattern(self.what)

    @property
    def is_path(self) -> bool:
        """Whether the rule is a path of elements."""
        return self.what.startswith("/")


@dataclass(frozen=True, slots=True)
class Mask:
    """The rules of one page; ``version`` is stored with every Change made under the mask.

    ``never`` are rules that a user removed, which must not be learned again.
    """

    version: int
    rules: tuple[MaskRule, ...] = ()
    never: tuple[str, ...] = field(default=())

    @property
    def reads_dom(self) -> bool:
        """Whether the mask needs the DOM rows of a view."""
        return any(rule.is_path for rule in self.rules)


NO_MASK = Mask(0)


def visible_view_text(view: View, mask: Mask) -> str:
    """Return the visible text of a view under a mask, on one line.

    The white space of HTML text is collapsed already, so only its pieces are joined.
    """
    marked_text = cut_spans(view.text, hidden_spans(view, mask))
    if view.kind is not ContentKind.HTML:
        return _on_one_line(marked_text)
    pieces = (piece.strip() for piece in marked_text.replace("\n", " ").split(HIDDEN_MARK))
    return " ".join(piece for piece in pieces if piece)


def visible_text(text: str, mask: Mask) -> str:
    """Return a text without the matches of the mask's patterns, white space collapsed.

    >>> rule = MaskRule(", updated # minutes ago")
    >>> visible_text("12 seats left, updated 3 minutes ago", Mask(1, (rule,)))
    '12 seats left'
    """
    return _on_one_line(text_with_holes(text, mask))


def text_with_holes(text: str, mask: Mask) -> str:
    """Return a text line by line, with a mark for each match of the mask's patterns.

    Patterns do not match across a mark, so masking a text twice changes nothing.
    """
    lines = "\n".join(" ".join(line.split()) for line in text.splitlines())
    marked_text = cut_spans(lines, list(_pattern_spans(mask, lines)))
    return "\n".join(" ".join(line.split()) for line in marked_text.splitlines())


def hidden_spans(view: View, mask: Mask) -> list[TextSpan]:
    """Return the hidden spans of a view's text, in characters; the spans may overlap."""
    spans = list(_pattern_spans(mask, view.text))
    if mask.reads_dom and view.kind is ContentKind.HTML:
        plain = [rule.what for rule in mask.rules if rule.is_path and not rule.but]
        spans += _element_spans(view, plain)
        for rule in mask.rules:
            if rule.is_path and rule.but:
                spans += _without_lines(rule.but, view.text, _element_spans(view, [rule.what]))
    return spans


def cut_spans(text: str, spans: list[TextSpan]) -> str:
    """Return a text with a mark in place of each span.

    >>> cut_spans("one two three", [(4, 7)]).split(HIDDEN_MARK)
    ['one ', ' three']
    """
    if not spans:
        return text
    pieces, reached = [], 0
    for start, end in sorted(spans):
        if start >= reached:
            pieces.append(text[reached:start])
        reached = max(reached, end)
    return HIDDEN_MARK.join([*pieces, text[reached:]])


def rows_at_path(dom: DomRows, path: str) -> IndexArray:
    """Return the DOM rows of the elements that a path matches."""
    steps = parse_path(path)
    numbers = {name: number for number, name in enumerate(dom.names)}
    rows = current_rows = np.flatnonzero(dom.tag == numbers.get(steps[-1][0], -1)).astype(np.int32)
    for name, index in reversed(steps):
        is_match = (current_rows >= 0) & (dom.tag[current_rows] == numbers.get(name, -1))
        if index is not None:
            is_match &= dom.index[current_rows] == index
        rows, current_rows = rows[is_match], dom.parent[current_rows[is_match]]
    return rows[current_rows < 0]


@lru_cache(maxsize=1024)
def parse_path(path: str) -> tuple[PathStep, ...]:
    """Parse a path into names and indices.

    >>> parse_path("/html[0]/body[0]/aside")
    (('html', 0), ('body', 0), ('aside', None))
    """
    check_length(path, "path")
    steps = _STEP.findall(path)
    if "".join(step_match[0] for step_match in _STEP.finditer(path)) != path:
        raise SettingsError(
            f"mask path {path!r} cannot be parsed; write it as /html[0]/body[0]/aside[1], "
            "or as /html/body/aside for all such elements"
        )
    if _PAGE_PATH.fullmatch(path):
        raise SettingsError(
            f"mask path {path!r} hides the whole of every page; add the path to an element in it"
        )
    return tuple((name.lower(), int(index) if index else None) for name, index in steps)


def _pattern_spans(mask: Mask, text: str) -> Iterator[TextSpan]:
    """Yield the matches of a mask's patterns in a text."""
    patterns = [rule for rule in mask.rules if not rule.is_path]
    tries = tries_per_pattern(len(patterns))
    for rule in patterns:
        spans = compile_pattern(rule.what).spans(text, tries)
        yield from _without_lines(rule.but, text, spans) if rule.but else spans


def _without_lines(
    lines: tuple[str, ...], text: str, spans: Iterable[TextSpan]
) -> Iterator[TextSpan]:
    """Yield spans without these lines."""
    for start, end in spans:
        offset = start
        for line in text[start:end].split("\n"):
            if line.strip() not in lines:
                yield offset, offset + len(line)
            offset += len(line) + 1


def _element_spans(view: View, paths: list[str]) -> list[TextSpan]:
    """Return the spans of the text of elements, in characters."""
    if not paths:
        return []
    if view.dom is None:
        raise TypeError("a mask with paths needs a view with DOM rows; look with dom=True")
    rows = np.concatenate([rows_at_path(view.dom, path) for path in paths])
    spans = np.stack([view.dom.start[rows], view.dom.end[rows]], axis=1)
    if len(rows) and not view.text.isascii():
        encoded = np.frombuffer(view.text.encode("utf-8", "replace"), np.uint8)
        continuation_bytes = np.flatnonzero((encoded & 0xC0) == 0x80)
        spans = spans - np.searchsorted(continuation_bytes, spans)
    return [(start, end) for start, end in spans.tolist()]


def _on_one_line(text: str) -> str:
    return " ".join(text.replace(HIDDEN_MARK, " ").split())
