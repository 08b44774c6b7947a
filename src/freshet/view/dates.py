"""Dates as feeds and sitemaps write them → aware UTC datetimes."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_PARTIAL = re.compile(r"(\d{4})(?:-?(\d{2}))?")


def parse_date(written: str) -> datetime | None:
    """Read an ISO 8601, W3C or RFC 822 date; a date without a zone is taken as UTC.

    >>> parse_date("2005-01-01").isoformat()
    '2005-01-01T00:00:00+00:00'
    >>> parse_date("Thu, 01 Jan 2004 19:48:21 +0200").isoformat()
    '2004-01-01T17:48:21+00:00'
    >>> parse_date("yesterday") is None
    True
    """
    text = written.strip()
    for read in (datetime.fromisoformat, _partial, parsedate_to_datetime):
        try:
            return _in_utc(read(text))
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None


def _partial(text: str) -> datetime:
    """Read a year, or a year and a month."""
    match = _PARTIAL.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return datetime(int(match[1]), int(match[2] or 1), 1, tzinfo=UTC)


def _in_utc(time: datetime) -> datetime:
    """Return a time in UTC, taking one without a zone to be so already."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
