"""When a page changes: a square a day, or a month where there are many years; times are UTC.

Days without a look are told apart from days without a change: on those, nobody knows.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import altair as alt
import numpy as np

from freshet.core.types import FloatArray, IndexArray
from freshet.draw.theme import (
    FAINT,
    PAPER,
    QUIET,
    Chart,
    EmptyChartError,
    chart_rows,
    count_phrase,
    shorten,
    with_title,
)

SECONDS_A_DAY = 86_400
MOST_WEEKS = 54
MOST_YEARS_OF_DAYS = 6
SQUARE, MONTH = 14, 34
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
UNSEEN, STILL = "no look", "no change"
LEVELS = ("1 change", "2 or 3", "4 to 9", "10 or more")
SHARES = ("up to 1 day in 10", "up to 1 in 3", "up to 2 in 3", "more")
BLUES = ("#b8d6ea", "#6aaed6", "#2878b8", "#08407e")


def change_calendar(looks: FloatArray, changed: IndexArray, *, page: str) -> Chart:
    """Draw when a page changed: the times of its looks (epoch seconds), 1 where it had changed."""
    if not len(looks):
        raise EmptyChartError("no calendar: the page has not been looked at")
    days = (np.asarray(looks) // SECONDS_A_DAY).astype(np.int64)
    first, last = int(days.min()), int(days.max())
    seen = np.bincount(days - first).tolist()
    changes = (
        np.bincount(days - first, weights=np.asarray(changed, np.float64)).astype(int).tolist()
    )
    dates = [_date(first + number) for number in range(last - first + 1)]
    if dates[-1].year - dates[0].year >= MOST_YEARS_OF_DAYS:
        picture, unit = _months(dates, seen, changes), "month by its days with a change"
    elif len(dates) <= 7 * (MOST_WEEKS - 1):
        picture, unit = _weeks(dates, seen, changes), "day"
    else:
        picture, unit = _years(dates, seen, changes), "day"
    busy, watched = sum(map(bool, changes)), sum(map(bool, seen))
    return with_title(
        picture,
        f"The page changed on {busy:,} of {watched:,} days with a look",
        shorten(page),
        f"{count_phrase(sum(changes), 'change')} in {count_phrase(len(looks), 'look')} "
        f"from {dates[0]} to {dates[-1]}, a square a {unit} (UTC)",
    )


def _date(day: int) -> date:
    return (datetime.fromtimestamp(0, UTC) + timedelta(days=day)).date()


def _level(looks: int, changes: int) -> str:
    """Return the class of a day by its looks and changes.

    >>> _level(0, 0), _level(2, 0), _level(2, 1), _level(24, 11)
    ('no look', 'no change', '1 change', '10 or more')
    """
    if not looks:
        return UNSEEN
    if not changes:
        return STILL
    return LEVELS[int(changes > 1) + int(changes > 3) + int(changes > 9)]


def _share_level(watched: int, busy: int) -> str:
    """Return the class of a month by its days with a look, and how many of them had a change.

    >>> _share_level(0, 0), _share_level(30, 3), _share_level(30, 30)
    ('no look', 'up to 1 day in 10', 'more')
    """
    if not watched or not busy:
        return STILL if watched else UNSEEN
    share = busy / watched
    return SHARES[int(share > 0.1) + int(share > 1 / 3) + int(share > 2 / 3)]


def _weeks(dates: Sequence[date], seen: list[int], changes: list[int]) -> Chart:
    """Draw one strip of weeks, Monday on top."""
    monday = dates[0] - timedelta(days=dates[0].weekday())
    weeks = [(each - monday).days // 7 for each in dates]
    starts = dict(reversed(list(zip(weeks, dates, strict=True))))
    names = _month_names([starts[week] for week in sorted(starts)])
    data = chart_rows(
        column=weeks, weekday=[WEEKDAYS[each.weekday()] for each in dates],
        kind=list(map(_level, seen, changes)),
        day=[each.isoformat() for each in dates], changes=changes, looks=seen,
    )  # fmt: skip
    return _squares(data, _columns(names), _weekday_axis(), SQUARE, (max(weeks) + 1, 7))


def _month_names(starts: Sequence[date]) -> dict[int, str]:
    """Return which columns begin a month, and its name (with the year at a January and first)."""
    names: dict[int, str] = {}
    for column, each in enumerate(starts):
        if column and (each.year, each.month) == (
            starts[column - 1].year,
            starts[column - 1].month,
        ):
            continue
        year = f" {each.year}" if not column or each.month == 1 else ""
        names[column] = MONTHS[each.month - 1] + year
    if len(names) > 1 and sorted(names)[1] < 4:
        del names[0]
    return names


def _years(dates: Sequence[date], seen: list[int], changes: list[int]) -> Chart:
    """Draw a strip of weeks for every year, the newest on top."""
    weeks = [(each.timetuple().tm_yday - 1 + date(each.year, 1, 1).weekday()) // 7
             for each in dates]  # fmt: skip
    data = chart_rows(
        year=[each.year for each in dates], column=weeks,
        weekday=[WEEKDAYS[each.weekday()] for each in dates],
        kind=list(map(_level, seen, changes)),
        day=[each.isoformat() for each in dates], changes=changes, looks=seen,
    )  # fmt: skip
    names = {round(4.348 * month): name for month, name in enumerate(MONTHS)}
    strip = _squares(data, _columns(names), _weekday_axis(), SQUARE - 2, (54, 7))
    header = alt.Header(title=None, labelAngle=0, labelAlign="left", labelFontSize=13)
    return strip.facet(
        row=alt.Row("year:O", sort="descending", header=header), spacing=12
    ).resolve_scale(x="shared")


def _months(dates: Sequence[date], seen: list[int], changes: list[int]) -> Chart:
    """Draw a square a month: on which share of its days with a look there was a change."""
    keys = [(each.year, each.month) for each in dates]
    months = sorted(set(keys))
    number = {key: place for place, key in enumerate(months)}
    places = [number[key] for key in keys]
    watched = np.bincount(places, weights=np.minimum(seen, 1)).astype(int)
    busy = np.bincount(places, weights=np.minimum(changes, 1)).astype(int)
    data = chart_rows(
        column=[month - 1 for _, month in months], weekday=[str(year) for year, _ in months],
        kind=list(map(_share_level, watched.tolist(), busy.tolist())),
        day=[f"{year}-{month:02}" for year, month in months], changes=busy, looks=watched,
    )  # fmt: skip
    y = alt.Y("weekday:O", title=None, sort="descending", axis=alt.Axis(ticks=False, domain=False))
    rows = len({year for year, _ in months})
    return _squares(data, _columns(dict(enumerate(MONTHS))), y, MONTH, (12, rows), SHARES)


def _columns(names: dict[int, str]) -> alt.X:
    spelt = ", ".join(f"{column}: '{name}'" for column, name in names.items())
    return alt.X(
        "column:O", title=None,
        axis=alt.Axis(
            values=list(names), labelExpr=f"{{{spelt}}}[datum.value]", orient="top", ticks=False,
            domain=False, labelAngle=0, labelAlign="left", labelOverlap=False, grid=False,
        ),
    )  # fmt: skip


def _weekday_axis() -> alt.Y:
    return alt.Y(
        "weekday:O", title=None, sort=list(WEEKDAYS),
        axis=alt.Axis(values=["Mon", "Wed", "Fri", "Sun"], ticks=False, domain=False, grid=False),
    )  # fmt: skip


def _squares(
    data: alt.InlineData,
    x: alt.X,
    y: alt.Y,
    side: int,
    shape: tuple[int, int],
    levels: Sequence[str] = LEVELS,
) -> Chart:
    kinds = [UNSEEN, STILL, *levels]
    scale = alt.Scale(domain=kinds, range=[PAPER, FAINT, *BLUES])
    legend = alt.Legend(title=None, orient="bottom", symbolType="square", symbolStrokeColor=QUIET)
    columns, rows = shape
    return (
        alt
        .Chart(data)
        .mark_rect(stroke=FAINT, strokeWidth=1, cornerRadius=2, width=side - 2, height=side - 2)
        .encode(
            x=x.scale(domain=list(range(columns))),
            y=y,
            color=alt.Color("kind:N", sort=kinds, scale=scale, legend=legend),
            tooltip=["day:N", "changes:Q", "looks:Q"],
        )
        .properties(width=columns * side, height=rows * side)
    )
