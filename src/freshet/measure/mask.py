"""What is left out of a page before it is compared: counters, clocks, adverts.

A pattern is a piece of text in which ``#`` stands for a number, ``*`` for any characters up to the
next part of the pattern (on one line, at most 200), a space for white space, and a backslash takes
the next character as it is. Full regular expressions are refused on purpose: a careless one can
take for ever on a long page, while these take time in proportion to the text.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from freshet.core.errors import SettingsError
from freshet.core.types import View

LONGEST_PATTERN = 500
_WILDCARD = r"[^\n]{0,200}"
_NUMBER = r"[0-9]{1,40}+"
_SPACE = r"\s{1,40}+"
_TOKEN = re.compile(r"\\(?P<plain>.)|(?P<any>\*+)|(?P<number>#+)|(?P<space>\s+)|(?P<other>.)", re.S)


@dataclass(frozen=True, slots=True)
class Mask:
    """What to leave out of one page; ``version`` says which state of it a Change was made under."""

    version: int
    patterns: tuple[str, ...] = ()


NO_MASK = Mask(0)


def visible(view: View, mask: Mask) -> str:
    """Return the text of a view without what the mask hides, white space collapsed."""
    return visible_text(view.text, mask)


def visible_text(text: str, mask: Mask) -> str:
    """Return a text without what the mask hides, white space collapsed.

    >>> visible_text("12 seats left, updated 3 minutes ago", Mask(1, (", updated # minutes ago",)))
    '12 seats left'
    """
    for pattern in mask.patterns:
        text = compile_pattern(pattern).sub(" ", text)
    return " ".join(text.split())


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Turn a mask's pattern into an expression whose every part is tried once per place.

    >>> bool(compile_pattern("rendered in * ms").search("rendered in 0.31 ms"))
    True
    """
    _refuse_unusable(pattern)
    first, *others = _segments(pattern.strip())
    if not others:
        return re.compile(first)
    *between, last = others
    ending = _up_to(last) if last else f"{_WILDCARD}+"
    return re.compile(first + "".join(map(_up_to, between)) + ending)


def _refuse_unusable(pattern: str) -> None:
    if not pattern.strip("* \t\r\n"):
        raise SettingsError(
            f"mask pattern {pattern!r} hides every page whole; give it text besides * and spaces"
        )
    if len(pattern) > LONGEST_PATTERN:
        raise SettingsError(
            f"mask pattern {pattern[:40]!r}… has {len(pattern)} characters; "
            f"use at most {LONGEST_PATTERN}, with * for what lies between"
        )


def _segments(pattern: str) -> list[str]:
    """Return the expressions of what stands between the wildcards."""
    segments = [""]
    for token in _TOKEN.finditer(pattern):
        if token.lastgroup == "any":
            segments.append("")
        else:
            segments[-1] += _expression(token)
    return segments


def _expression(token: re.Match[str]) -> str:
    if token.lastgroup == "number":
        return _NUMBER
    if token.lastgroup == "space":
        return _SPACE
    return re.escape(token["plain"] or token["other"])


def _up_to(segment: str) -> str:
    """Run to the nearest place where a segment fits, and never try a later one instead."""
    return f"(?>{_WILDCARD}?{segment})"
