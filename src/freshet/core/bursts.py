"""Bursts: looks at a page minutes apart, or at once, that show how fast it changes."""

from dataclasses import dataclass
from enum import StrEnum


class BurstKind(StrEnum):
    """What a burst is to detect: change within minutes, or change at every request."""

    FAST = "fast"
    INSTANT = "instant"


@dataclass(frozen=True, slots=True)
class BurstProgress:
    """The progress of a page in its bursts; times are epoch seconds.

    ``step`` is the next sample of the present burst, not before ``due``; without a kind, the page
    rests until then. ``fast_start`` is the time of the first sample of its last fast burst, and
    ``changed_quickly`` says that the page had changed by the second sample. ``finished_bursts``
    counts the fast bursts of this series, ``pause_count`` the series before it.
    """

    kind: BurstKind | None
    due: float
    step: int = 0
    fast_start: float | None = None
    changed_quickly: bool = False
    finished_bursts: int = 0
    pause_count: int = 0


@dataclass(frozen=True, slots=True)
class PendingSample:
    """A sample to be taken by ``request_count`` requests, ``offset`` seconds after the first one.

    ``apart`` says that the two requests of an instant burst cannot be made at the same time.
    """

    page: int
    progress: BurstProgress
    offset: float
    request_count: int = 1
    apart: bool = False


@dataclass(frozen=True, slots=True)
class BurstSample:
    """A visit that was made for a burst; ``first`` is the visit that began the burst."""

    visit: int
    page: int
    first: int
    kind: BurstKind
    offset: float
    apart: bool = False
