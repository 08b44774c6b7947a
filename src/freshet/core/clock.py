"""The only module that reads the clock, and conversions between the two forms of a time.

Times are aware UTC datetimes at the edges and float epoch seconds in arrays and tables.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

CYCLE_SECONDS = 86_400

# Imported visits lie between the epoch, where generated traces begin, and about now.
EARLIEST_VISIT = datetime(1970, 1, 1, tzinfo=UTC)
MAX_CLOCK_ERROR = timedelta(days=7)

# Times are kept a year inside the calendar, so that zones and durations can be added to them.
_FIRST_SECOND = datetime(2, 1, 1, tzinfo=UTC).timestamp()
_LAST_SECOND = datetime(9998, 12, 31, tzinfo=UTC).timestamp()


class Clock(Protocol):
    """Tells the time; the demo and the tests have their own clocks."""

    @property
    def speed(self) -> float:
        """Return how many seconds of this clock pass in one second of real time."""
        ...

    def now(self) -> datetime:
        """Return the current time, aware and in UTC."""
        ...

    def seconds_until(self, moment: datetime) -> float:
        """Return the seconds of real time until this clock shows a time; 0 if it is past."""
        ...


class SystemClock:
    """The clock of the machine."""

    speed = 1.0

    def now(self) -> datetime:
        """Return the machine's time in UTC."""
        return datetime.now(UTC)

    def seconds_until(self, moment: datetime) -> float:
        """Return the seconds until a time; 0 if it is past."""
        return max(0.0, (moment - self.now()).total_seconds())


class ScaledClock:
    """A clock that starts at a given time and runs ``speed`` times as fast as real time."""

    def __init__(self, start: datetime, speed: float) -> None:
        self.start = start
        self.speed = speed
        self._started = time.monotonic()

    def now(self) -> datetime:
        """Return the time that this clock has reached."""
        return self.start + timedelta(seconds=(time.monotonic() - self._started) * self.speed)

    def seconds_until(self, moment: datetime) -> float:
        """Return the seconds of real time until this clock shows a time; 0 if it is past."""
        return max(0.0, (moment - self.now()).total_seconds() / self.speed)


class FixedClock:
    """A clock that stands still until it is set."""

    speed = 1.0

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        """Return the time to which this clock is set."""
        return self.at

    def seconds_until(self, moment: datetime) -> float:
        """Return the seconds until a time, as if this clock ran; 0 if it is past."""
        return max(0.0, (moment - self.at).total_seconds())


def monotonic_seconds() -> float:
    """Return seconds that never decrease, to measure how long something takes."""
    return time.monotonic()


def from_epoch(seconds: float) -> datetime:
    """Convert epoch seconds to an aware UTC datetime, limited to the years 2 to 9998.

    >>> from_epoch(0).isoformat()
    '1970-01-01T00:00:00+00:00'
    >>> from_epoch(1e12).isoformat()
    '9998-12-31T00:00:00+00:00'
    """
    return datetime.fromtimestamp(min(max(seconds, _FIRST_SECOND), _LAST_SECOND), UTC)


def to_epoch(moment: datetime) -> float:
    """Convert an aware datetime to epoch seconds.

    >>> to_epoch(datetime(1970, 1, 2, tzinfo=UTC))
    86400.0
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; Freshet's times are aware UTC")
    return moment.timestamp()


def visit_time_problem(moment: datetime, now: datetime) -> str:
    """Return why the time of an imported visit is not plausible; empty if it is.

    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> visit_time_problem(noon, noon)
    ''
    >>> visit_time_problem(datetime(9999, 1, 1, tzinfo=UTC), noon)
    'time 9999-01-01T00:00:00+00:00 is not between 1970-01-01 and a week from now'
    """
    if EARLIEST_VISIT <= moment <= now + MAX_CLOCK_ERROR:
        return ""
    return f"time {moment.isoformat()} is not between {EARLIEST_VISIT:%Y-%m-%d} and a week from now"
