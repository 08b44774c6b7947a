"""Text patterns of masks: ``#`` for a number, ``*`` for anything, a space for white space.

The first piece of a pattern is searched, and the other pieces are matched after it, each at the
nearest position where it fits. The time is linear in the text, because ``*`` spans few characters
and a pattern is tried at a limited number of positions. The rest of a text with more positions is
not masked.
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
    """A compiled pattern: its first piece, the following pieces, and a leading wildcard."""

    first_piece: re.Pattern[str]
    following_pieces: re.Pattern[str] | None
    starts_with_wildcard: bool

    def spans(self, text: str, tries: int = MAX_TRIES) -> Iterator[TextSpan]:
        """Yield the spans that match the pattern, after at most so many tries."""
        if self.following_pieces is None and not self.starts_with_wildcard:
            yield from (match.span() for match in islice(self.first_piece.finditer(text), tries))
            return
        position = 0
        while tries > 0 and (first_match := self.first_piece.search(text, position)):
            tries -= 1
            whole_match = (
                self.following_pieces.match(text, first_match.end())
                if self.following_pieces
                else first_match
            )
            if whole_match is None:
                position = first_match.start() + 1
                continue
            yield self._start(text, position, first_match.start()), whole_match.end()
            position = whole_match.end()

    def _start(self, text: str, earliest: int, position: int) -> int:
        """Return the start of a match whose first piece is at a position."""
        if not self.starts_with_wildcard:
            return position
        earliest = max(earliest, position - MAX_WILDCARD_CHARS)
        boundary = max(
            text.rfind("\n", earliest, position), text.rfind(HIDDEN_MARK, earliest, position)
        )
        return max(earliest, boundary + 1)


def tries_per_pattern(rules: int) -> int:
    """Return how often each of so many patterns is tried on one text.

    >>> tries_per_pattern(1), tries_per_pattern(30)
    (200000, 20000)
    """
    return max(MAX_TRIES // max(rules, 1), MIN_TRIES)


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> MaskPattern:
    """Compile a mask's pattern.

    >>> list(compile_pattern("rendered in * ms").spans("It was rendered in 0.31 ms."))
    [(7, 26)]
    """
    _check_pattern(pattern)
    first, *others = _segments(pattern.replace(HIDDEN_MARK, " ").strip())
    head, *others = [first, *others] if first else others
    tail = re.compile("".join(_following(others))) if others else None
    return MaskPattern(re.compile(head), tail, starts_with_wildcard=not first)


def check_length(text: str, kind: str, advice: str = "") -> None:
    """Raise an error if a pattern or a path is too long."""
    if len(text) > MAX_PATTERN_CHARS:
        raise SettingsError(
            f"mask {kind} {text[:40]!r}… has {len(text)} characters; "
            f"use at most {MAX_PATTERN_CHARS}{advice}"
        )


def _check_pattern(pattern: str) -> None:
    if not pattern.strip(f"* \t\r\n{HIDDEN_MARK}"):
        raise SettingsError(
            f"mask pattern {pattern!r} hides the whole of every page; add text to * and spaces"
        )
    check_length(pattern, "pattern", ", with * for the text between")


def _segments(pattern: str) -> list[str]:
    """Return the regular expressions of the pieces between the wildcards."""
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
    """Yield the regular expressions of wildcards and of the pieces after them.

    The last piece may be empty.
    """
    for segment in segments:
        yield f"(?>{_WILDCARD}?{segment})" if segment else f"{_WILDCARD}+"
