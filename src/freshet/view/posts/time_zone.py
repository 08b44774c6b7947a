"""Zones: the offset of a written zone, and the zone that a page states for all its times."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

_HOUR = 3600.0
_NAMED_HOURS = {
    "utc": 0.0, "gmt": 0.0, "wet": 0.0, "bst": 1.0, "cet": 1.0, "west": 1.0, "cest": 2.0,
    "eet": 2.0, "eest": 3.0, "msk": 3.0, "ist": 5.5, "jst": 9.0, "kst": 9.0, "aest": 10.0,
    "aedt": 11.0, "nzst": 12.0, "est": -5.0, "edt": -4.0, "cst": -6.0, "cdt": -5.0, "mst": -7.0,
    "mdt": -6.0, "pst": -8.0, "pdt": -7.0, "z": 0.0,
}  # fmt: skip
_NAMES = "|".join(sorted(_NAMED_HOURS, key=len, reverse=True))
_SHIFT = r"[+-]\s*\d{1,2}(?::?\d\d|\.\d{1,2})?"

# A zone behind a time of day; a shift alone needs four digits, so that "10:00 - 12" has none.
ZONE_PATTERN = rf"\(?(?P<zone>(?:UTC|GMT)\s*{_SHIFT}(?!\d)|[+-]\d\d:?\d\d(?!\d)|(?:{_NAMES})\b)\)?"

_PARTS = re.compile(rf"(?P<name>{_NAMES})?\s*(?P<shift>{_SHIFT})?", re.IGNORECASE)
_STATED = re.compile(
    r"\btimes? (?:zone )?(?:(?:shown|displayed|given|listed) )?(?:are|is|in)\b[:\s]*"
    r"(?:(?:shown|displayed|given|in|the)\s+)*"
    rf"(?P<zone>(?:{_NAMES})\b(?:\s*{_SHIFT})?|[+-]\d\d:?\d\d(?!\d)|[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+)"
    r"(?P<summer>(?:\s*hours?)?\s*\[\s*DST\s*\])?",
    re.IGNORECASE,
)


def zone_offset(zone: str) -> float | None:
    """Return the offset of a zone in seconds east of UTC, None if it is not known.

    >>> zone_offset("+0530"), zone_offset("UTC + 1"), zone_offset("EST"), zone_offset("GMT-3:30")
    (19800.0, 3600.0, -18000.0, -12600.0)
    """
    match = _PARTS.fullmatch(zone.strip())
    if match is None or not match[0]:
        return None
    hours = _NAMED_HOURS[match["name"].lower()] if match["name"] else 0.0
    return hours * _HOUR + _shift_seconds(match["shift"] or "")


def stated_offset(text: str, visited: float) -> float | None:
    """Return the offset of the zone that a page states for its times, None if it states none.

    A zone of the time zone database has the offset of the visit's moment.

    >>> stated_offset("All times are UTC + 1 hour [ DST ]", 0.0)
    7200.0
    """
    match = _STATED.search(text)
    if match is None:
        return None
    if "/" in match["zone"]:
        return _database_offset(match["zone"], visited)
    offset = zone_offset(match["zone"])
    return offset + _HOUR if offset is not None and match["summer"] else offset


def _shift_seconds(shift: str) -> float:
    """Return the seconds of a shift such as +0530, + 1 or -3:30."""
    if "." in shift:
        return float(shift.replace(" ", "")) * _HOUR
    digits = "".join(char for char in shift if char.isdecimal())
    if not digits:
        return 0.0
    hours, minutes = (digits, "0") if len(digits) <= 2 else (digits[:-2], digits[-2:])
    seconds = int(hours) * _HOUR + int(minutes) * 60.0
    return -seconds if "-" in shift else seconds


def _database_offset(name: str, visited: float) -> float | None:
    try:
        zone = ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
    offset = datetime.fromtimestamp(visited, UTC).astimezone(zone).utcoffset()
    return offset.total_seconds() if offset is not None else None
