"""The hours of the day in which a page may be visited."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

HOURS_PATTERN = re.compile(r"(\d\d):(\d\d)-(\d\d):(\d\d)(?: (\S+))?")


@dataclass(frozen=True, slots=True)
class ActiveHours:
    """A daily time window; one that ends before it begins runs over midnight."""

    start: time
    end: time
    zone: tzinfo = UTC

    @classmethod
    def parse(cls, text: str) -> "ActiveHours | None":
        """Parse ``08:00-20:00`` or ``22:00-06:00 Europe/Paris``; empty text means always.

        >>> ActiveHours.parse("08:00-20:00").contains(datetime(2026, 1, 1, 9, tzinfo=UTC))
        True
        >>> ActiveHours.parse("22:00-06:00").contains(datetime(2026, 1, 1, 9, tzinfo=UTC))
        False
        """
        if not text:
            return None
        match = HOURS_PATTERN.fullmatch(text)
        if not match:
            raise ValueError("must look like 08:00-20:00 or 08:00-20:00 Europe/Paris")
        numbers = [int(digits) for digits in match.groups()[:4]]
        try:
            start, end = time(numbers[0], numbers[1]), time(numbers[2], numbers[3])
        except ValueError:
            raise ValueError("must be hours from 00:00 to 23:59") from None
        return cls(start, end, _zone(match[5] or "UTC"))

    def contains(self, moment: datetime) -> bool:
        """Whether a time lies in the window."""
        local = moment.astimezone(self.zone).time()
        if self.start <= self.end:
            return self.start <= local < self.end
        return local >= self.start or local < self.end

    def next_start(self, after: datetime) -> datetime:
        """Return when the window next begins after a time.

        >>> ActiveHours.parse("08:00-20:00").next_start(datetime(2026, 1, 1, 9, tzinfo=UTC)).day
        2
        """
        today = after.astimezone(self.zone).date()
        days = (today + timedelta(days=ahead) for ahead in range(3))
        starts = (datetime.combine(day, self.start, self.zone).astimezone(UTC) for day in days)
        return next(start for start in starts if start > after)


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"names a time zone that is not known here: {name}") from None
