"""Limits of mask learning: the size of a page, and the work on its looks.

The limits count sizes and never time, so that the same looks always give the same mask. Ordinary
pages are far below all limits.
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
    """The work that may still be done to learn one mask, in characters read."""

    def __init__(self) -> None:
        self._remaining = MAX_WORK_CHARS

    @property
    def is_exhausted(self) -> bool:
        """Whether no more work may be done."""
        return self._remaining <= 0

    def spend(self, chars: int) -> None:
        """Count the work of a step."""
        self._remaining -= chars


def facts_refusal(facts: ViewStatistics) -> str:
    """Return which size of a page is too large for learning; empty where none is.

    >>> facts_refusal(ViewStatistics(3_000_000, 0, 0, 0, 0, 0, 0, 0))
    '3,000,000 bytes, more than 2,000,000'
    """
    sizes = (
        (facts.bytes, MAX_BYTES, "bytes"),
        (facts.text_chars, MAX_CHARS, "characters of text"),
        (facts.elements, MAX_ELEMENTS, "elements"),
        (facts.depth, MAX_ELEMENT_DEPTH, "elements inside each other"),
    )
    return next((_excess_text(*size) for size in sizes if size[0] > size[1]), "")


def view_refusal(view: View) -> str:
    """Return which size of a view is too large for learning, lines included."""
    lines = view.text.count("\n") + 1
    return facts_refusal(view.facts) or (
        _excess_text(lines, MAX_LINES, "lines") if lines > MAX_LINES else ""
    )


def _excess_text(size: int, maximum: int, unit: str) -> str:
    return f"{size:,} {unit}, more than {maximum:,}"
