"""Parse the dates of feeds and sitemaps into aware UTC datetimes."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_PARTIAL_DATE = re.compile(r"(\d{4})(?:-?(\d{2}))?")


def parse_date(date_text: str) -> datetime | None:
    """Parse an ISO 8601, W3C or RFC 822 date; a date without a zone is in UTC.

    >>> parse_date("2005-01-01").isoformat()
    '2005-01-01T00:00:00+00:00'
    >>> parse_date("Thu, 01 Jan 2004 19:48:21 +0200").isoformat()
    '2004-01-01T17:48:21+00:00'
    >>> parse_date("yesterday") is None
    True
    """
    text = date_text.strip()
    for parse in (datetime.fromisoformat, _parse_partial_date, parsedate_to_datetime):
        try:
            time = parse(text)
            return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None


def _parse_partial_date(text: str) -> datetime:
    """Parse a year, or a year and a month."""
    match = _PARTIAL_DATE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return datetime(int(match[1]), int(match[2] or 1), 1, tzinfo=UTC)
