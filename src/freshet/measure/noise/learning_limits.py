"""Bounds on learning: how large a page may be, and how much work its looks may take.

Every bound counts something of the page and never the time, so that the same looks always teach the
same mask. Ordinary pages stay far below all of them.
"""

from freshet.core.types import Facts, View

MOST_BYTES = 2_000_000
MOST_CHARS = 400_000
MOST_LINES = 4_000
MOST_ELEMENTS = 40_000
MOST_DEPTH = 100
MOST_DIFFERING_BLOCKS = 2_000
MOST_WORK = 600_000_000


class Work:
    """What may still be done to learn one mask, in characters that are gone over."""

    def __init__(self) -> None:
        self._left = MOST_WORK

    @property
    def is_done(self) -> bool:
        """Whether nothing more may be tried."""
        return self._left <= 0

    def spend(self, chars: int) -> None:
        """Take off what a step costs."""
        self._left -= chars


def too_large(facts: Facts) -> str:
    """Say what of a page is too large for its noise to be learnt; nothing where it is not.

    >>> too_large(Facts(3_000_000, 0, 0, 0, 0, 0, 0, 0))
    '3,000,000 bytes, more than 2,000,000'
    """
    sizes = (
        (facts.bytes, MOST_BYTES, "bytes"),
        (facts.text_chars, MOST_CHARS, "characters of text"),
        (facts.elements, MOST_ELEMENTS, "elements"),
        (facts.depth, MOST_DEPTH, "elements inside each other"),
    )
    return next((_more(*size) for size in sizes if size[0] > size[1]), "")


def too_long(view: View) -> str:
    """Say what of a view is too large for its noise to be learnt, its lines included."""
    lines = view.text.count("\n") + 1
    return too_large(view.facts) or (
        _more(lines, MOST_LINES, "lines") if lines > MOST_LINES else ""
    )


def _more(size: int, most: int, what: str) -> str:
    return f"{size:,} {what}, more than {most:,}"
