"""Rounds: looks at a page minutes apart, or at once, to see how fast it changes."""

from dataclasses import dataclass
from enum import StrEnum


class BurstKind(StrEnum):
    """What a round is for: change within minutes, or change by the visit itself."""

    FAST = "fast"
    INSTANT = "instant"


@dataclass(frozen=True, slots=True)
class BurstProgress:
    """How far a page is in its rounds; times are epoch seconds.

    ``step`` is the sample of the present round that comes next, not before ``due``; without a kind
    the page rests until then. ``began`` is when the first sample of its last fast round was taken,
    and ``is_quick`` says that it had changed by the second. ``finished`` counts the fast rounds of
    this series, ``pauses`` the series before it.
    """

    kind: BurstKind | None
    due: float
    step: int = 0
    began: float | None = None
    is_quick: bool = False
    finished: int = 0
    pauses: int = 0


@dataclass(frozen=True, slots=True)
class PendingSample:
    """A sample about to be taken: ``request_count`` requests, ``offset`` seconds after the round's first.

    ``apart`` says that the two requests of an instant round cannot be made at once.
    """

    page: int
    progress: BurstProgress
    offset: float
    request_count: int = 1
    apart: bool = False


@dataclass(frozen=True, slots=True)
class BurstSample:
    """A visit that was made for a round, which ``first`` names: the visit that began it."""

    visit: int
    page: int
    first: int
    kind: BurstKind
    offset: float
    apart: bool = False
