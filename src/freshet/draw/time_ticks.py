"""Ticks of time axes in UTC: 24 hours a day, and the month and the year said once."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

MAX_TICKS = 9
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
HOUR_STEPS = (1, 2, 3, 6, 12)
DAY_STEPS = (1, 2, 3, 7, 14)
MONTH_STEPS = (1, 2, 3, 6, 12, 24, 60, 120)


def time_ticks(start: float, end: float) -> list[tuple[float, str]]:
    """Return the ticks of an axis between two times (epoch seconds), with their labels.

    >>> labels = [label for _, label in time_ticks(1_180_310_400.0, 1_180_310_400.0 + 7 * 86_400)]
    >>> labels
    ['28 May 2007', '29', '30', '31', '1 Jun', '2', '3', '4']
    >>> [label for _, label in time_ticks(0.0, 86_400.0)][:4]
    ['1 Jan 1970', '03:00', '06:00', '09:00']
    """
    first, last = (datetime.fromtimestamp(epoch, UTC) for epoch in (start, max(start, end)))
    moments = _moments(first, last)
    labels: list[tuple[float, str]] = []
    before: datetime | None = None
    by_month = len(moments) > 1 and (moments[1] - moments[0]) > timedelta(days=27)
    for moment in moments:
        labels.append((moment.timestamp(), _label(moment, before, by_month=by_month)))
        before = moment
    return labels


def _moments(first: datetime, last: datetime) -> list[datetime]:
    """Return round times, as many as fit, at the finest step."""
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    for hours in (*HOUR_STEPS, *(24 * days for days in DAY_STEPS)):
        if (last - first) / timedelta(hours=hours) < MAX_TICKS:
            return list(_every(midnight, timedelta(hours=hours), first, last)) or [first]
    month = midnight.replace(day=1)
    for months in MONTH_STEPS:
        moments = list(_every_month(month, months, first, last))
        if len(moments) <= MAX_TICKS:
            break
    return moments or [first]


def _every(begin: datetime, step: timedelta, first: datetime, last: datetime) -> Iterator[datetime]:
    moment = begin
    while moment <= last:
        if moment >= first:
            yield moment
        moment += step


def _every_month(
    begin: datetime, months: int, first: datetime, last: datetime
) -> Iterator[datetime]:
    """Yield the first days of every so many-th month; steps of years begin in January."""
    number = begin.year * 12 + (begin.month - 1)
    number -= number % months
    while True:
        moment = begin.replace(year=number // 12, month=number % 12 + 1)
        if moment > last:
            return
        if moment >= first:
            yield moment
        number += months


def _label(moment: datetime, before: datetime | None, *, by_month: bool) -> str:
    """Return the label of a tick; what it shares with the tick before is left out."""
    year = f" {moment.year}" if before is None or before.year != moment.year else ""
    if by_month:
        return MONTHS[moment.month - 1] + year
    if before is not None and moment.date() == before.date():
        return f"{moment:%H:%M}"
    if before is not None and moment.hour:
        return f"{moment.day} {MONTHS[moment.month - 1]}{year} {moment:%H:%M}"
    is_new_month = before is None or (before.year, before.month) != (moment.year, moment.month)
    hour = f" {moment:%H:%M}" if moment.hour or moment.minute else ""
    month = f" {MONTHS[moment.month - 1]}{year}" if is_new_month else ""
    return f"{moment.day}{month}{hour}"
