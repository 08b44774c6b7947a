"""Text patterns of masks: ``#`` for a number, ``*`` for anything, a space for white space.

A pattern is searched by its first piece of text, and the rest is held against what follows there:
every piece is taken at the nearest place where it fits, and never at a later one. The time that
takes is in proportion to the text, as ``*`` spans few characters and a pattern is tried at so many
places at most: the rest of a text that has more is left as it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from freshet.core.errors import SettingsError

MAX_PATTERN_CHARS = 500
MAX_WILDCARD_CHARS = 200
MAX_TRIES = 200_000
MIN_TRIES = 20_000
HIDDEN_MARK = "\x1a"

_WILDCARD = rf"[^\n\x1a]{{0,{MAX_WILDCARD_CHARS}}}"
_NUMBER = r"[0-9]{1,40}+"
_SPACE = r"\s{1,40}+"
_TOKEN = re.compile(r"\\(?P<plain>.)|(?P<any>\*+)|(?P<number>#+)|(?P<space>\s+)|(?P<other>.)", re.S)

TextSpan = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MaskPattern:
    """A pattern, ready to search: what is looked for, what must follow it, what may precede it."""

    first_piece: re.Pattern[str]
    following_pieces: re.Pattern[str] | None
    starts_with_wildcard: bool

    def spans(self, text: str, tries: int = MAX_TRIES) -> Iterator[TextSpan]:
        """Yield where a text fits the pattern, of so many places that may do at most."""
        if self.following_pieces is None and not self.starts_with_wildcard:
            yield from (match.span() for match in islice(self.first_piece.finditer(text), tries))
            return
        place = 0
        while tries > 0 and (found := self.first_piece.search(text, place)):
            tries -= 1
            rest = (
                self.following_pieces.match(text, found.end()) if self.following_pieces else found
            )
            if rest is None:
                place = found.start() + 1
                continue
            yield self._start(text, place, found.start()), rest.end()
            place = rest.end()

    def _start(self, text: str, earliest: int, found: int) -> int:
        """Return where a match begins whose first piece of text was found at a place."""
        if not self.starts_with_wildcard:
            return found
        earliest = max(earliest, found - MAX_WILDCARD_CHARS)
        broken = max(text.rfind("\n", earliest, found), text.rfind(HIDDEN_MARK, earliest, found))
        return max(earliest, broken + 1)


def tries_per_pattern(rules: int) -> int:
    """Return at how many places of one text each of so many patterns is tried.

    >>> tries_per_pattern(1), tries_per_pattern(30)
    (200000, 20000)
    """
    return max(MAX_TRIES // max(rules, 1), MIN_TRIES)


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> MaskPattern:
    """Make a mask's pattern ready to search.

    >>> list(compile_pattern("rendered in * ms").spans("It was rendered in 0.31 ms."))
    [(7, 26)]
    """
    _refuse_unusable(pattern)
    first, *others = _segments(pattern.replace(HIDDEN_MARK, " ").strip())
    head, *others = [first, *others] if first else others
    tail = re.compile("".join(_following(others))) if others else None
    return MaskPattern(re.compile(head), tail, starts_with_wildcard=not first)


def check_length(text: str, kind: str, advice: str = "") -> None:
    """Refuse a pattern or a path that is longer than any real one."""
    if len(text) > MAX_PATTERN_CHARS:
        raise SettingsError(
            f"mask {kind} {text[:40]!r}… has {len(text)} characters; "
            f"use at most {MAX_PATTERN_CHARS}{advice}"
        )


def _refuse_unusable(pattern: str) -> None:
    if not pattern.strip(f"* \t\r\n{HIDDEN_MARK}"):
        raise SettingsError(
            f"mask pattern {pattern!r} hides every page whole; give it text besides * and spaces"
        )
    check_length(pattern, "pattern", ", with * for what lies between")


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


def _following(segments: list[str]) -> Iterator[str]:
    """Yield the expressions of wildcards and what follows each; the last may have nothing."""
    for segment in segments:
        yield f"(?>{_WILDCARD}?{segment})" if segment else f"{_WILDCARD}+"
