"""The only place that reads the time, and the two forms that time takes.

Times are aware UTC datetimes at the edges and float epoch seconds in arrays and tables.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

CYCLE_SECONDS = 86_400

# Visits of outside histories lie between the epoch, where made-up traces begin, and about now.
EARLIEST_VISIT = datetime(1970, 1, 1, tzinfo=UTC)
MAX_CLOCK_ERROR = timedelta(days=7)

# Times read back are kept a year inside the calendar, so that zones and spans can be added to them.
_FIRST_SECOND = datetime(2, 1, 1, tzinfo=UTC).timestamp()
_LAST_SECOND = datetime(9998, 12, 31, tzinfo=UTC).timestamp()


class Clock(Protocol):
    """Says what time it is; the demo and the tests have clocks of their own."""

    @property
    def speed(self) -> float:
        """Return how many of its seconds pass in one of real time."""
        ...

    def now(self) -> datetime:
        """Return the current time, aware and in UTC."""
        ...

    def seconds_until(self, moment: datetime) -> float:
        """Return how many seconds of real time pass until this clock shows a moment; 0 if past."""
        ...


class SystemClock:
    """The machine's clock."""

    speed = 1.0

    def now(self) -> datetime:
        """Return the machine's time in UTC."""
        return datetime.now(UTC)

    def seconds_until(self, moment: datetime) -> float:
        """Return the seconds until a moment, 0 if it is past."""
        return max(0.0, (moment - self.now()).total_seconds())


class ScaledClock:
    """A clock that began at a moment and runs ``speed`` times as fast as real time."""

    def __init__(self, start: datetime, speed: float) -> None:
        self.start = start
        self.speed = speed
        self._began = time.monotonic()

    def now(self) -> datetime:
        """Return the time that this clock has reached."""
        return self.start + timedelta(seconds=(time.monotonic() - self._began) * self.speed)

    def seconds_until(self, moment: datetime) -> float:
        """Return the seconds of real time until this clock shows a moment, 0 if it is past."""
        return max(0.0, (moment - self.now()).total_seconds() / self.speed)


class FixedClock:
    """A clock that stands still until it is moved."""

    speed = 1.0

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        """Return the time at which this clock was set."""
        return self.at

    def seconds_until(self, moment: datetime) -> float:
        """Return the seconds until a moment, as if this clock were about to run."""
        return max(0.0, (moment - self.at).total_seconds())


def monotonic_seconds() -> float:
    """Return seconds that only ever grow, for measuring how long something took."""
    return time.monotonic()


def from_epoch(seconds: float) -> datetime:
    """Turn epoch seconds into an aware UTC datetime; one beyond the calendar is moved to its end.

    >>> from_epoch(0).isoformat()
    '1970-01-01T00:00:00+00:00'
    >>> from_epoch(1e12).isoformat()
    '9998-12-31T00:00:00+00:00'
    """
    return datetime.fromtimestamp(min(max(seconds, _FIRST_SECOND), _LAST_SECOND), UTC)


def to_epoch(moment: datetime) -> float:
    """Turn an aware datetime into epoch seconds.

    >>> to_epoch(datetime(1970, 1, 2, tzinfo=UTC))
    86400.0
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; Freshet's times are aware UTC")
    return moment.timestamp()


def visit_time_problem(moment: datetime, now: datetime) -> str:
    """Return why an outside history cannot have seen a page at that time; empty where it can.

    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> visit_time_problem(noon, noon)
    ''
    >>> visit_time_problem(datetime(9999, 1, 1, tzinfo=UTC), noon)
    'time 9999-01-01T00:00:00+00:00 is not between 1970-01-01 and a week from now'
    """
    if EARLIEST_VISIT <= moment <= now + MAX_CLOCK_ERROR:
        return ""
    return f"time {moment.isoformat()} is not between {EARLIEST_VISIT:%Y-%m-%d} and a week from now"
