"""Times as pages write them, and their moments once the page's zone and day order are known."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

DAY = 86_400.0
NOON = DAY / 2
# A date without a year may lie this far ahead of the visit (zones) before it is of last year.
_MAX_AHEAD = 1.5 * DAY


@dataclass(frozen=True, slots=True)
class TimeContext:
    """What the times of one page have in common.

    ``visited`` is the moment of the visit in epoch seconds, ``offset`` the page's zone in seconds
    east of UTC, ``day_first`` the meaning of 03-04-2012.
    """

    visited: float
    offset: float = 0.0
    day_first: bool = False


class WrittenTime(Protocol):
    """A time as it is written; ``precision`` is in seconds."""

    @property
    def precision(self) -> float: ...

    def moment(self, context: TimeContext) -> float | None:
        """Return the epoch seconds; None if there is no such day."""
        ...


@dataclass(frozen=True, slots=True)
class ExactTime:
    """A moment that does not depend on the page's zone."""

    epoch: float
    precision: float = 1.0

    def moment(self, context: TimeContext) -> float | None:
        """Return the moment."""
        return self.epoch


@dataclass(frozen=True, slots=True)
class RelativeAge:
    """A time before the visit, such as "3 hours ago"."""

    age: float
    precision: float

    def moment(self, context: TimeContext) -> float | None:
        """Return the visit's moment less the age."""
        return context.visited - self.age


@dataclass(frozen=True, slots=True)
class ClockTime:
    """The time of day of a written time: seconds since midnight, and its zone if it has one.

    ``seconds`` is None for a date alone.
    """

    seconds: float | None = None
    offset: float | None = None
    has_half: bool = False
    has_seconds: bool = False

    @property
    def precision(self) -> float:
        """Return the precision of a date with this time of day."""
        if self.seconds is None:
            return DAY
        return 1.0 if self.has_seconds else 60.0

    def moment(self, year: int, month: int, day: int, context: TimeContext) -> float | None:
        """Return the moment of this time on a day of the calendar."""
        try:
            midnight = datetime(year, month, day, tzinfo=UTC).timestamp()
        except (ValueError, OverflowError):
            return None
        offset = context.offset if self.offset is None else self.offset
        return midnight + (self.seconds or 0.0) - offset


@dataclass(frozen=True, slots=True)
class CalendarTime:
    """A date with a named or unambiguous month; a missing year is the latest that is past."""

    year: int | None
    month: int
    day: int
    clock: ClockTime

    @property
    def precision(self) -> float:
        """Return a second, a minute or a day."""
        return self.clock.precision

    def moment(self, context: TimeContext) -> float | None:
        """Return the moment in the page's zone, unless the time has its own."""
        if self.year is not None:
            return self.clock.moment(self.year, self.month, self.day, context)
        this_year = _local_day(context).year
        for year in range(this_year + 1, this_year - 8, -1):
            moment = self.clock.moment(year, self.month, self.day, context)
            if moment is not None and moment <= context.visited + _MAX_AHEAD:
                return moment
        return None


@dataclass(frozen=True, slots=True)
class NumericTime:
    """A date of two numbers and a year, whose order of day and month the page decides."""

    first: int
    second: int
    year: int
    clock: ClockTime

    @property
    def precision(self) -> float:
        """Return a second, a minute or a day."""
        return self.clock.precision

    def moment(self, context: TimeContext) -> float | None:
        """Return the moment; a number above 12 is the day, whatever the page's order."""
        day_first = (context.day_first or self.first > 12) and self.second <= 12
        day, month = (self.first, self.second) if day_first else (self.second, self.first)
        return self.clock.moment(self.year, month, day, context)


@dataclass(frozen=True, slots=True)
class RecentDay:
    """Today, yesterday or a day of the last week, with a time of day.

    ``days_back`` counts from today; ``weekday`` (0 for Monday) is used if it is None.
    """

    clock: ClockTime
    days_back: int | None = None
    weekday: int = 0

    @property
    def precision(self) -> float:
        """Return a second, a minute or a day."""
        return self.clock.precision

    def moment(self, context: TimeContext) -> float | None:
        """Return the moment on that day of the page's zone."""
        today = _local_day(context)
        days_back = self.days_back
        if days_back is None:
            days_back = (today.weekday() - self.weekday) % 7 or 7
        day = today - timedelta(days=days_back)
        return self.clock.moment(day.year, day.month, day.day, context)


def _local_day(context: TimeContext) -> datetime:
    """Return the visit's moment as the clock of the page's zone shows it."""
    return datetime.fromtimestamp(context.visited + context.offset, UTC)
