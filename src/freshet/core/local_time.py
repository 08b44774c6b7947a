"""Times as people read them: in the zone of this machine (or of TZ), with the zone's name."""

import os
import time
from datetime import datetime


def to_second(moment: datetime) -> str:
    """Write a time to the second, with the name of its zone."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S %Z}"


def to_minute(moment: datetime) -> str:
    """Write a time to the minute, with the name of its zone."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M %Z}"


def time_of_day(moment: datetime) -> str:
    """Write the time of day to the second, with the name of its zone."""
    return f"{moment.astimezone():%H:%M:%S %Z}"


def time_to_minute(moment: datetime) -> str:
    """Write the time of day to the minute, with the name of its zone."""
    return f"{moment.astimezone():%H:%M %Z}"


def use_utc() -> None:
    """Write all times of this process in UTC."""
    os.environ["TZ"] = "UTC"
    time.tzset()
