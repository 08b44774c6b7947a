"""Find a time in a text: absolute in the usual English forms, or relative to the visit.

Every form is one regular expression with the same group names. A search tries only the forms that
the text can have, and takes the match that begins first.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from freshet.view.posts.month_names import MONTH_NUMBERS, MONTH_PATTERN
from freshet.view.posts.time_zone import ZONE_PATTERN, zone_offset
from freshet.view.posts.written_time import (
    DAY,
    CalendarTime,
    ClockTime,
    ExactTime,
    NumericTime,
    RecentDay,
    RelativeAge,
    WrittenTime,
)

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = rf"(?P<month>{MONTH_PATTERN})\b\.?"
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b"
_DAY_OF_MONTH = r"(?P<day>[0-3]?\d)(?!\d)(?:st|nd|rd|th)?"
_CLOCK = (
    r"(?P<hour>[0-2]?\d)(?::(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,]\d+)?)?)?(?!\d)"
    r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?)?"
)
_GAP = r"(?:\s|,|·|\|)*(?:\b(?:at|um|à|om|alle|às|a las)\b|@|-|\u2013|\u2014|T)?\s*"
_AFTER = rf"(?:{_GAP}{_CLOCK}(?:\s*{ZONE_PATTERN})?)?"
_YEAR = r"(?P<year>(?:19|20)\d\d(?!\d)|['\u2019]\d\d(?!\d))"
_FLAGS = re.IGNORECASE

_ISO = re.compile(
    r"(?<![\d.])(?P<year>(?:19|20)\d\d)(?P<mark>[-/.])(?P<month_number>[01]?\d)(?P=mark)"
    rf"(?P<day>[0-3]?\d)(?!\d){_AFTER}",
    _FLAGS,
)
_MONTH_FIRST = re.compile(
    rf"(?:\b{_WEEKDAY}\.?,?\s+)?\b{_MONTH}\s*{_DAY_OF_MONTH}(?:,?\s*{_YEAR})?{_AFTER}"
    r"(?:\s+(?P<late_year>(?:19|20)\d\d)\b)?",
    _FLAGS,
)
_DAY_FIRST = re.compile(
    rf"(?:\b{_WEEKDAY}\.?,?\s+)?(?<![\d:]){_DAY_OF_MONTH}(?:\s+(?:of|de))?[\s.-]*{_MONTH}(?:\s+de\b)?[\s.,-]*"
    rf"(?:{_YEAR}|(?P<short_year>\d\d)(?=[\s,]+\d?\d:))?{_AFTER}",
    _FLAGS,
)
_NUMERIC = re.compile(
    r"(?<![\d./-])(?P<first>[0-3]?\d)(?P<mark>[-/.])(?P<day>[0-3]?\d)(?P=mark)"
    rf"(?P<year>(?:19|20)\d\d|\d\d)(?![\d./-]|:){_AFTER}",
    _FLAGS,
)
_RECENT = re.compile(
    rf"\b(?:(?P<recent>today|yesterday)|(?P<weekday>{_WEEKDAY}))\.?"
    rf"(?:(?:\s|,|·)*(?:\bat\b|@|-)?\s*{_CLOCK}(?:\s*{ZONE_PATTERN})?)",
    _FLAGS,
)
_RECENT_DAY_ALONE = re.compile(r"\s*(today|yesterday)\s*", _FLAGS)
_CLOCK_BEFORE = re.compile(
    rf"(?<![\d:]){_CLOCK}(?:\s*{ZONE_PATTERN})?[\s,]*(?:on\s+)?\s*\Z", _FLAGS
)
_ZONE_AFTER = re.compile(rf"\s*{ZONE_PATTERN}", _FLAGS)

_UNIT_SECONDS = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0,
    "hr": 3600.0, "hour": 3600.0, "d": DAY, "day": DAY, "w": 7 * DAY, "wk": 7 * DAY,
    "week": 7 * DAY, "mo": 30.44 * DAY, "mon": 30.44 * DAY, "mth": 30.44 * DAY,
    "month": 30.44 * DAY, "y": 365.25 * DAY, "yr": 365.25 * DAY, "year": 365.25 * DAY,
}  # fmt: skip
_UNIT = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|wks?|months?|mths?|mons?|mo"
_UNIT += r"|years?|yrs?|[smhdwy])"
_NUMBER_WORDS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "few": 3, "couple": 2}
_NUMBER = r"(?:\d{1,4}|an?|one|two|three|(?:a\s+)?few|(?:a\s+)?couple(?:\s+of)?)"
_AGO = re.compile(
    rf"\b(?P<parts>{_NUMBER}\s?{_UNIT}\b\.?(?:,?\s*(?:and\s+)?{_NUMBER}\s?{_UNIT}\b\.?)*)\s+ago\b",
    _FLAGS,
)
_AGE_PART = re.compile(rf"({_NUMBER})\s?({_UNIT})\b", _FLAGS)
_SHORT_AGE = re.compile(r"\s*(\d{1,4})\s?(s|m|min|h|hr|d|w|wk|mo|y|yr)s?\.?\s*", _FLAGS)
_NOW = re.compile(
    r"\b(?:just now|(?:a )?(?:few )?moments? ago|(?:a few )?seconds ago|less than a minute ago"
    r"|right now)\b",
    _FLAGS,
)
_HAS_MONTH = re.compile(rf"\b(?:\d+(?:st|nd|rd|th)?)?(?:{MONTH_PATTERN})\b", _FLAGS)
_HINT = re.compile(r"\d|\bago\b|\bnow\b|yesterday|today", _FLAGS)
# A day without year and time of day must be all of a text: "you may 3 times" has none.
_MAX_BARE_CHARS = 16
# In a longer text, "two years ago" is what somebody tells.
_MAX_AGE_TEXT_CHARS = 60
_EPOCH_DIGITS = {9: 1.0, 10: 1.0, 13: 1e3, 16: 1e6}


@dataclass(frozen=True, slots=True)
class TimeMatch:
    """A time found in a text, and its position there."""

    written: WrittenTime
    start: int
    end: int


@lru_cache(maxsize=4096)
def find_time(text: str) -> TimeMatch | None:
    """Return the first time in a text, None if there is none.

    >>> find_time("by Ann, Tue Mar 03, 2009 4:12 pm").written.day
    3
    >>> find_time("3 hours ago").written.age
    10800.0
    """
    if not _HINT.search(text):
        return None
    if (iso := _ISO.match(text)) and iso["hour"]:
        return _calendar_match(iso, int(iso["year"]), int(iso["month_number"]))
    matches = [match for search in _searches(text) if (match := search(text)) is not None]
    return min(matches, key=lambda match: (match.start, -match.end), default=None)


def read_time(value: str) -> WrittenTime | None:
    """Return the time that an attribute holds: a written time or a number of epoch seconds.

    >>> read_time("1236096720000").epoch
    1236096720.0
    """
    stripped = value.strip()
    whole = stripped.partition(".")[0]
    if whole.isdecimal() and whole.isascii():
        unit = _EPOCH_DIGITS.get(len(whole))
        return ExactTime(float(stripped if whole != stripped else whole) / unit) if unit else None
    match = find_time(stripped[:80])
    return match.written if match else None


def _searches(text: str) -> list[Callable[[str], TimeMatch | None]]:
    """Return the searches for the forms that a text can have."""
    searches: list[Callable[[str], TimeMatch | None]] = []
    if _HAS_MONTH.search(text):
        searches += [_find_month_first, _find_day_first]
    if "-" in text or "/" in text or "." in text:
        searches += [_find_iso, _find_numeric]
    searches += [_find_recent, _find_age]
    return searches


def _find_iso(text: str) -> TimeMatch | None:
    match = _ISO.search(text)
    return match and _calendar_match(match, int(match["year"]), int(match["month_number"]))


def _find_month_first(text: str) -> TimeMatch | None:
    match = _MONTH_FIRST.search(text)
    if match is None:
        return None
    return _calendar_match(match, _year(match["year"] or match["late_year"]), _month(match))


def _find_day_first(text: str) -> TimeMatch | None:
    match = _DAY_FIRST.search(text)
    return match and _calendar_match(
        match, _year(match["year"] or match["short_year"]), _month(match)
    )


def _find_numeric(text: str) -> TimeMatch | None:
    match = _NUMERIC.search(text)
    if match is None:
        return None
    start, end, clock = _clock_around(match)
    if clock.seconds is None and len(match["year"]) == 2:
        return None
    first, second = int(match["first"]), int(match["day"])
    if not (1 <= first <= 31 and 1 <= second <= 31) or (first > 12 and second > 12):
        return None
    year = _year(match["year"])
    return TimeMatch(NumericTime(first, second, year or 0, clock), start, end)


def _find_recent(text: str) -> TimeMatch | None:
    if alone := _RECENT_DAY_ALONE.fullmatch(text):
        return TimeMatch(RecentDay(ClockTime(), _days_back(alone[1])), 0, len(text))
    match = _RECENT.search(text)
    if match is None:
        return None
    clock = _clock(match)
    if clock.seconds is None:
        return None
    if match["recent"]:
        day = RecentDay(clock, _days_back(match["recent"]))
    else:
        day = RecentDay(clock, None, _WEEKDAYS.index(match["weekday"][:3].lower()))
    return TimeMatch(day, match.start(), match.end())


def _find_age(text: str) -> TimeMatch | None:
    if len(text) > _MAX_AGE_TEXT_CHARS:
        return None
    if match := _AGO.search(text):
        parts = [(_number(n), _unit(unit)) for n, unit in _AGE_PART.findall(match["parts"])]
        age = sum(number * unit for number, unit in parts)
        return TimeMatch(RelativeAge(age, parts[-1][1]), match.start(), match.end())
    if match := _NOW.search(text):
        return TimeMatch(RelativeAge(0.0, 60.0), match.start(), match.end())
    if match := _SHORT_AGE.fullmatch(text):
        unit = _unit(match[2])
        return TimeMatch(RelativeAge(int(match[1]) * unit, unit), 0, len(text))
    return None


def _calendar_match(match: re.Match[str], year: int | None, month: int) -> TimeMatch | None:
    """Return a date with its time of day, which may also stand before it."""
    day = int(match["day"])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return None
    start, end, clock = _clock_around(match)
    if year is None and clock.seconds is None and len(match.string) > _MAX_BARE_CHARS:
        return None
    return TimeMatch(CalendarTime(year, month, day, clock), start, end)


def _clock_around(match: re.Match[str]) -> tuple[int, int, ClockTime]:
    """Return the start and end of a date with its time of day, and the time of day."""
    clock = _clock(match)
    if clock.seconds is not None:
        return match.start(), match.end(), clock
    before = _CLOCK_BEFORE.search(match.string, 0, match.start())
    if before is None or _clock(before).seconds is None:
        return match.start(), match.end(), ClockTime()
    clock = _clock(before)
    zone = _ZONE_AFTER.match(match.string, match.end()) if clock.offset is None else None
    if zone is None or not zone["zone"]:
        return before.start(), match.end(), clock
    offset = zone_offset(zone["zone"])
    clock = ClockTime(clock.seconds, offset, clock.has_half, clock.has_seconds)
    return before.start(), zone.end(), clock


def _clock(match: re.Match[str]) -> ClockTime:
    """Return the time of day of a match; a number alone is none."""
    half = (match["half"] or "").lower()
    if match["hour"] is None or not (match["minute"] or half):
        return ClockTime()
    hour = int(match["hour"])
    if hour > 24 or (half and hour > 12):
        return ClockTime()
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    seconds = 3600.0 * hour + 60.0 * int(match["minute"] or 0) + int(match["second"] or 0)
    zone = match["zone"]
    offset = zone_offset(zone) if zone else None
    return ClockTime(seconds, offset, bool(half), match["second"] is not None)


def _year(text: str | None) -> int | None:
    """Return a year of four digits, or of two with a pivot at 70.

    >>> _year("2009"), _year("'12"), _year("98"), _year(None)
    (2009, 2012, 1998, None)
    """
    if not text:
        return None
    number = int(text.lstrip("'\u2019"))
    if number >= 100:
        return number
    return 1900 + number if number >= 70 else 2000 + number


def _month(match: re.Match[str]) -> int:
    return MONTH_NUMBERS[match["month"].lower()]


def _days_back(word: str) -> int:
    return 0 if word.lower() == "today" else 1


def _number(text: str) -> int:
    if text.isdecimal():
        return int(text)
    return next(
        (_NUMBER_WORDS[word] for word in reversed(text.lower().split()) if word in _NUMBER_WORDS), 1
    )


def _unit(text: str) -> float:
    """Return the seconds of a unit of time, singular, plural or short."""
    name = text.lower().rstrip(".")
    return _UNIT_SECONDS.get(name) or _UNIT_SECONDS[name.removesuffix("s")]
