"""What is left out of a page before it is compared: counters, clocks, adverts.

A rule is a text pattern, or the path of elements whose text is left out.

In a pattern ``#`` stands for a number, ``*`` for any characters up to the next part of the pattern
(on one line, at most 200), a space for white space, and a backslash takes the next character as it
is. Full regular expressions are refused on purpose: a careless one can take for ever on a long
page, while these take time in proportion to the text (``pattern.py``).

A path begins with a slash: ``/html[0]/body[0]/aside[1]`` is that one element, and a step without
its place, as in ``/html/body/aside``, is any of that name.

All rules are held against the page as it is, and what any of them hits is hidden: their order does
not matter, and nothing is hidden that no rule hits.
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
_WHOLE_PAGE = re.compile(r"/html(\[\d+\])?(/body(\[\d+\])?)?")

RuleOrigin = Literal["hand", "learnt"]
PathStep = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class MaskRule:
    """One thing to leave out: a text pattern or a path, who made it so, and why.

    ``but`` are lines that stay in sight although the rule hits them, because they came to stay.
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
        """Whether the rule names elements, not text."""
        return self.what.startswith("/")


@dataclass(frozen=True, slots=True)
class Mask:
    """What to leave out of one page; ``version`` says which state of it a Change was made under.

    ``never`` holds what a user took out and must not be learnt again.
    """

    version: int
    rules: tuple[MaskRule, ...] = ()
    never: tuple[str, ...] = field(default=())

    @property
    def reads_dom(self) -> bool:
        """Whether a view needs its DOM rows to be masked."""
        return any(rule.is_path for rule in self.rules)


NO_MASK = Mask(0)


def visible_view_text(view: View, mask: Mask) -> str:
    """Return the text of a view without what the mask hides, on one line.

    The white space of HTML is collapsed already, so that only its pieces are put together.
    """
    left = cut_spans(view.text, hidden_spans(view, mask))
    if view.kind is not ContentKind.HTML:
        return _on_a_line(left)
    pieces = (piece.strip() for piece in left.replace("\n", " ").split(HIDDEN_MARK))
    return " ".join(piece for piece in pieces if piece)


def visible_text(text: str, mask: Mask) -> str:
    """Return a text without what the mask's patterns hide, white space collapsed.

    >>> rule = MaskRule(", updated # minutes ago")
    >>> visible_text("12 seats left, updated 3 minutes ago", Mask(1, (rule,)))
    '12 seats left'
    """
    return _on_a_line(text_with_holes(text, mask))


def text_with_holes(text: str, mask: Mask) -> str:
    """Return a text line by line with a mark wherever the mask's patterns hid something.

    Patterns do not reach over a mark, so that masking a text again leaves it as it is.
    """
    lines = "\n".join(" ".join(line.split()) for line in text.splitlines())
    cut = cut_spans(lines, list(_pattern_spans(mask, lines)))
    return "\n".join(" ".join(line.split()) for line in cut.splitlines())


def hidden_spans(view: View, mask: Mask) -> list[TextSpan]:
    """Return where a view's text is hidden, in characters; the spans may overlap."""
    spans = list(_pattern_spans(mask, view.text))
    if mask.reads_dom and view.kind is ContentKind.HTML:
        plain = [rule.what for rule in mask.rules if rule.is_path and not rule.but]
        spans += _element_spans(view, plain)
        for rule in mask.rules:
            if rule.is_path and rule.but:
                spans += _but(rule.but, view.text, _element_spans(view, [rule.what]))
    return spans


def cut_spans(text: str, spans: list[TextSpan]) -> str:
    """Return a text with a mark in place of every span.

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
    """Return the rows of the elements that a path names."""
    steps = parse_path(path)
    numbers = {name: number for number, name in enumerate(dom.names)}
    rows = at = np.flatnonzero(dom.tag == numbers.get(steps[-1][0], -1)).astype(np.int32)
    for name, place in reversed(steps):
        fits = (at >= 0) & (dom.tag[at] == numbers.get(name, -1))
        if place is not None:
            fits &= dom.index[at] == place
        rows, at = rows[fits], dom.parent[at[fits]]
    return rows[at < 0]


@lru_cache(maxsize=1024)
def parse_path(path: str) -> tuple[PathStep, ...]:
    """Take a path apart into names and places.

    >>> parse_path("/html[0]/body[0]/aside")
    (('html', 0), ('body', 0), ('aside', None))
    """
    check_length(path, "path")
    steps = _STEP.findall(path)
    if "".join(match[0] for match in _STEP.finditer(path)) != path:
        raise SettingsError(
            f"mask path {path!r} is not understood; write it as /html[0]/body[0]/aside[1], "
            "or as /html/body/aside for all such elements"
        )
    if _WHOLE_PAGE.fullmatch(path):
        raise SettingsError(f"mask path {path!r} hides every page whole; go on to an element in it")
    return tuple((name.lower(), int(place) if place else None) for name, place in steps)


def _pattern_spans(mask: Mask, text: str) -> Iterator[TextSpan]:
    """Yield where the patterns of a mask hit a text."""
    patterns = [rule for rule in mask.rules if not rule.is_path]
    tries = tries_per_pattern(len(patterns))
    for rule in patterns:
        spans = compile_pattern(rule.what).spans(text, tries)
        yield from _but(rule.but, text, spans) if rule.but else spans


def _but(lines: tuple[str, ...], text: str, spans: Iterable[TextSpan]) -> Iterator[TextSpan]:
    """Yield what of some spans is none of these lines."""
    for start, end in spans:
        at = start
        for line in text[start:end].split("\n"):
            if line.strip() not in lines:
                yield at, at + len(line)
            at += len(line) + 1


def _element_spans(view: View, paths: list[str]) -> list[TextSpan]:
    """Return where the text of elements stands, in characters."""
    if not paths:
        return []
    if view.dom is None:
        raise TypeError("a mask with paths needs a view with DOM rows; look with dom=True")
    rows = np.concatenate([rows_at_path(view.dom, path) for path in paths])
    spans = np.stack([view.dom.start[rows], view.dom.end[rows]], axis=1)
    if len(rows) and not view.text.isascii():
        written = np.frombuffer(view.text.encode("utf-8", "replace"), np.uint8)
        followers = np.flatnonzero((written & 0xC0) == 0x80)
        spans = spans - np.searchsorted(followers, spans)
    return [(start, end) for start, end in spans.tolist()]


def _on_a_line(text: str) -> str:
    return " ".join(text.replace(HIDDEN_MARK, " ").split())
