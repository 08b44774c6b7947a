"""Times as people read and write them: in the zone of this machine (or of TZ)."""

import os
import re
import time
from datetime import UTC, datetime, timedelta

_DATE = re.compile(r"\d{4}-?\d\d-?\d\d")
_TIME_TO_SECOND = re.compile(r"\S+[T ]\d\d:\d\d:\d\d")


def parse_local_time(text: str) -> datetime:
    """Parse a date or time; one without a zone is in this machine's zone. May raise ValueError.

    A date means its end, and a time to the second means the end of that second, so that a time
    copied from a table includes its visit.

    >>> parse_local_time("2026-03-01T12:00+01:00").isoformat()
    '2026-03-01T12:00:00+01:00'
    """
    moment = datetime.fromisoformat(text)
    if _DATE.fullmatch(text):
        moment += timedelta(days=1, microseconds=-1)
    elif _TIME_TO_SECOND.fullmatch(text):
        moment += timedelta(seconds=1, microseconds=-1)
    return assume_local_zone(moment)


def assume_local_zone(moment: datetime) -> datetime:
    """Return an aware time as it is, and a naive one as a time in this machine's zone."""
    if moment.tzinfo is not None:
        return moment
    try:
        return to_local(moment)
    except OverflowError:
        raise ValueError(f"{moment} is out of range") from None


def to_local(moment: datetime) -> datetime:
    """Return a time in the zone of this machine; in UTC if TZ names no possible zone.

    Python supports no zone that is a day or more away from UTC, such as TZ=UTC+99.
    """
    try:
        return moment.astimezone()
    except ValueError:
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


def format_to_second(moment: datetime) -> str:
    """Format a time to the second, with the name of its zone."""
    return f"{to_local(moment):%Y-%m-%d %H:%M:%S %Z}"


def format_to_minute(moment: datetime) -> str:
    """Format a time to the minute, with the name of its zone."""
    return f"{to_local(moment):%Y-%m-%d %H:%M %Z}"


def format_time_of_day(moment: datetime) -> str:
    """Format the time of day to the second, with the name of its zone."""
    return f"{to_local(moment):%H:%M:%S %Z}"


def format_time_to_minute(moment: datetime) -> str:
    """Format the time of day to the minute, with the name of its zone."""
    return f"{to_local(moment):%H:%M %Z}"


def format_recent(moment: datetime, now: datetime) -> str:
    """Format a time to the minute, by its weekday if it is less than a week ago."""
    if timedelta(0) <= now - moment < timedelta(days=6):
        return f"{to_local(moment):%A %H:%M %Z}"
    return format_to_minute(moment)


def use_utc() -> None:
    """Format all times of this process in UTC."""
    os.environ["TZ"] = "UTC"
    time.tzset()
