"""Bounds on learning: how large a page may be, and how much work its looks may take.

Every bound counts something of the page and never the time, so that the same looks always teach the
same mask. Ordinary pages stay far below all of them.
"""

from freshet.core.types import View, ViewStatistics

MAX_BYTES = 2_000_000
MAX_CHARS = 400_000
MAX_LINES = 4_000
MAX_ELEMENTS = 40_000
MAX_ELEMENT_DEPTH = 100
MAX_DIFFERING_BLOCKS = 2_000
MAX_WORK_CHARS = 600_000_000


class WorkBudget:
    """What may still be done to learn one mask, in characters that are gone over."""

    def __init__(self) -> None:
        self._left = MAX_WORK_CHARS

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing more may be tried."""
        return self._left <= 0

    def spend(self, chars: int) -> None:
        """Take off what a step costs."""
        self._left -= chars


def facts_refusal(facts: ViewStatistics) -> str:
    """Say what of a page is too large for its noise to be learnt; nothing where it is not.

    >>> facts_refusal(ViewStatistics(3_000_000, 0, 0, 0, 0, 0, 0, 0))
    '3,000,000 bytes, more than 2,000,000'
    """
    sizes = (
        (facts.bytes, MAX_BYTES, "bytes"),
        (facts.text_chars, MAX_CHARS, "characters of text"),
        (facts.elements, MAX_ELEMENTS, "elements"),
        (facts.depth, MAX_ELEMENT_DEPTH, "elements inside each other"),
    )
    return next((_more(*size) for size in sizes if size[0] > size[1]), "")


def view_refusal(view: View) -> str:
    """Say what of a view is too large for its noise to be learnt, its lines included."""
    lines = view.text.count("\n") + 1
    return facts_refusal(view.facts) or (
        _more(lines, MAX_LINES, "lines") if lines > MAX_LINES else ""
    )


def _more(size: int, most: int, what: str) -> str:
    return f"{size:,} {what}, more than {most:,}"
