"""HTML pages of the dashboard: Jinja2 templates that escape every value."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from math import isfinite
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from freshet.core.humanize import (
    count_text,
    duration_text,
    format_size,
    percent_text,
    quantity_text,
)
from freshet.core.local_time import format_to_minute
from freshet.serve.documents.overview import activity_bars
from freshet.serve.documents.page_list import DayStrip
from freshet.serve.documents.versions import side_by_side

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WEB_SCHEMES = ("http://", "https://")
NOT_KNOWN = "—"
DAY = timedelta(days=1)


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return the HTML of a template; every value is escaped."""
    return environment().get_template(template).render(values)


@cache
def environment() -> Environment:
    """Return the templates, their filters and functions."""
    templates = Environment(
        loader=PackageLoader("freshet.serve"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        time=time_text,
        wait=wait_text,
        size=format_size,
        percent=percent_text,
        quantity=quantity_text,
        duration=duration_text,
        web_href=web_href,
        number=number_text,
        count=count_text,
        span=span_text,
    )
    templates.globals.update(
        weekdays=WEEKDAYS,
        activity_bars=activity_bars,
        side_by_side=side_by_side,
        strip_paths=strip_paths,
        calendar_days=calendar_days,
        isfinite=isfinite,
    )
    return templates


def time_text(moment: datetime | None) -> str:
    """Return a time to the minute, a dash if there is none.

    >>> time_text(None)
    '—'
    """
    return NOT_KNOWN if moment is None else format_to_minute(moment)


def wait_text(moment: datetime | None, now: datetime) -> str:
    """Return how long ago or ahead a time is.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> wait_text(noon, noon + 2 * DAY), wait_text(noon + DAY / 24, noon), wait_text(noon, noon)
    ('2 days ago', 'in 1 hour', 'now')
    """
    if moment is None:
        return NOT_KNOWN
    days = (moment - now) / DAY
    if abs(days) * 86_400 < 1:
        return "now"
    return f"in {duration_text(days)}" if days > 0 else f"{duration_text(-days)} ago"


def span_text(moment: datetime | None, now: datetime) -> str:
    """Return how far ahead a time is, for a sentence that says so already.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> span_text(noon + DAY, noon), span_text(noon, noon), span_text(None, noon)
    ('1 day', 'now', 'more than 10 years')
    """
    return "more than 10 years" if moment is None else wait_text(moment, now).removeprefix("in ")


def number_text(number: float | None) -> str:
    """Return a number with separators, a dash if it is not known.

    >>> number_text(12345), number_text(None), number_text(0.25)
    ('12,345', '—', '0.25')
    """
    if number is None or not isfinite(number):
        return NOT_KNOWN
    return f"{number:,}" if isinstance(number, int) else f"{number:.3g}"


def change_level(looks: int, changes: int) -> int:
    """Return the shade of a day: 0 without a look, 1 without a change, 2 to 4 by changes.

    >>> change_level(0, 0), change_level(3, 0), change_level(3, 1), change_level(9, 5)
    (0, 1, 2, 4)
    """
    if not looks:
        return 0
    return 1 + (changes > 0) + (changes > 1) + (changes > 3)


def strip_paths(strip: DayStrip) -> dict[int, str]:
    """Return a strip of days as one SVG path for each shade, which is shorter than a mark a day.

    A day without a look is a short mark.
    """
    paths: dict[int, str] = {}
    for index, level in enumerate(map(change_level, strip.looks, strip.changes)):
        mark = f"M{4 * index} 0h3v18h-3z" if level else f"M{4 * index} 8h3v2h-3z"
        paths[level] = paths.get(level, "") + mark
    return paths


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """A square of a calendar: its day, its column and row, and its shade."""

    day: date
    looks: int
    changes: int
    column: int
    row: int
    level: int


def calendar_days(strip: DayStrip) -> list[CalendarDay]:
    """Return the squares of a calendar, in columns of weeks that begin on Monday."""
    offset = strip.first_day.weekday()
    return [
        CalendarDay(
            strip.first_day + index * DAY, looks, changes,
            (index + offset) // 7, (index + offset) % 7, change_level(looks, changes),
        )
        for index, (looks, changes) in enumerate(zip(strip.looks, strip.changes, strict=True))
    ]  # fmt: skip


def web_href(url: str) -> str:
    """Return a URL that may be linked to: one of the web, else an empty text.

    >>> web_href("javascript:alert(1)"), web_href("https://example.org/")
    ('', 'https://example.org/')
    """
    return url if url.startswith(WEB_SCHEMES) else ""
