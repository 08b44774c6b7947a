"""Calendar of the days on which a page changed, or of months where there are many years; in UTC.

A day without a look has another colour than a day with looks and no change.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import numpy as np

from freshet.core.humanize import count_text
from freshet.draw.chart_library import alt
from freshet.draw.theme import (
    FAINT,
    PAPER,
    QUIET,
    Chart,
    EmptyChartError,
    chart_rows,
    shorten,
    with_title,
)
from freshet.measure.statistics.page_summary import LookTable

DAY_SECONDS = 86_400
MAX_WEEKS = 54
MAX_YEARS_OF_DAYS = 6
DAY_SIZE, MONTH_SIZE = 14, 34
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
NO_LOOK, NO_CHANGE = "no look", "no change"
CHANGE_LEVELS = ("1 change", "2 or 3", "4 to 9", "10 or more")
SHARE_LEVELS = ("up to 1 day in 10", "up to 1 in 3", "up to 2 in 3", "more")
BLUES = ("#b8d6ea", "#6aaed6", "#2878b8", "#08407e")


def change_calendar(looks: LookTable, *, page: str) -> Chart:
    """Draw the number of changes of a page on each day."""
    if not len(looks):
        raise EmptyChartError("no calendar: the page has no looks")
    days = (looks.times // DAY_SECONDS).astype(np.int64)
    first = int(days.min())
    look_counts = np.bincount(days - first).tolist()
    changes = np.bincount(days - first, weights=looks.changed == 1).astype(int).tolist()
    start = (datetime.fromtimestamp(0, UTC) + timedelta(days=first)).date()
    dates = [start + timedelta(days=number) for number in range(len(look_counts))]
    if dates[-1].year - dates[0].year >= MAX_YEARS_OF_DAYS:
        chart, unit = _months(dates, look_counts, changes), "month by its days with a change"
    elif len(dates) <= 7 * (MAX_WEEKS - 1):
        chart, unit = _weeks(dates, look_counts, changes), "day"
    else:
        chart, unit = _years(dates, look_counts, changes), "day"
    changed_days, observed_days = sum(map(bool, changes)), sum(map(bool, look_counts))
    return with_title(
        chart,
        f"The page changed on {changed_days:,} of {observed_days:,} days with a look",
        shorten(page),
        f"{count_text(sum(changes), 'change')} in {count_text(len(looks), 'look')} "
        f"from {dates[0]} to {dates[-1]}, a square a {unit} (UTC)",
    )


def _change_level(looks: int, changes: int) -> str:
    """Return the class of a day by its looks and changes.

    >>> _change_level(0, 0), _change_level(2, 0), _change_level(2, 1), _change_level(24, 11)
    ('no look', 'no change', '1 change', '10 or more')
    """
    if not looks:
        return NO_LOOK
    if not changes:
        return NO_CHANGE
    return CHANGE_LEVELS[int(changes > 1) + int(changes > 3) + int(changes > 9)]


def _share_level(observed_days: int, changed_days: int) -> str:
    """Return the class of a month by its days with a look and its days with a change.

    >>> _share_level(0, 0), _share_level(30, 3), _share_level(30, 30)
    ('no look', 'up to 1 day in 10', 'more')
    """
    if not observed_days or not changed_days:
        return NO_CHANGE if observed_days else NO_LOOK
    share = changed_days / observed_days
    return SHARE_LEVELS[int(share > 0.1) + int(share > 1 / 3) + int(share > 2 / 3)]


def _weeks(dates: Sequence[date], look_counts: list[int], changes: list[int]) -> Chart:
    """Draw one strip of weeks, with Monday in the first row."""
    monday = dates[0] - timedelta(days=dates[0].weekday())
    weeks = [(day - monday).days // 7 for day in dates]
    starts = dict(reversed(list(zip(weeks, dates, strict=True))))
    names = _month_names([starts[week] for week in sorted(starts)])
    data = chart_rows(
        column=weeks, weekday=[WEEKDAYS[day.weekday()] for day in dates],
        kind=list(map(_change_level, look_counts, changes)),
        day=[day.isoformat() for day in dates], changes=changes, looks=look_counts,
    )  # fmt: skip
    return _squares(data, _column_axis(names), _weekday_axis(), DAY_SIZE, (max(weeks) + 1, 7))


def _month_names(starts: Sequence[date]) -> dict[int, str]:
    """Return the names of months by their first column; January and the first have the year."""
    names: dict[int, str] = {}
    for column, day in enumerate(starts):
        before = starts[column - 1]
        if column and (day.year, day.month) == (before.year, before.month):
            continue
        year = f" {day.year}" if not column or day.month == 1 else ""
        names[column] = MONTHS[day.month - 1] + year
    if len(names) > 1 and sorted(names)[1] < 4:
        del names[0]
    return names


def _years(dates: Sequence[date], look_counts: list[int], changes: list[int]) -> Chart:
    """Draw a strip of weeks for each year, the newest first."""
    weeks = [(day.timetuple().tm_yday - 1 + date(day.year, 1, 1).weekday()) // 7
             for day in dates]  # fmt: skip
    data = chart_rows(
        year=[day.year for day in dates], column=weeks,
        weekday=[WEEKDAYS[day.weekday()] for day in dates],
        kind=list(map(_change_level, look_counts, changes)),
        day=[day.isoformat() for day in dates], changes=changes, looks=look_counts,
    )  # fmt: skip
    names = {round(4.348 * month): name for month, name in enumerate(MONTHS)}
    strip = _squares(data, _column_axis(names), _weekday_axis(), DAY_SIZE - 2, (54, 7))
    header = alt.Header(title=None, labelAngle=0, labelAlign="left", labelFontSize=13)
    return strip.facet(
        row=alt.Row("year:O", sort="descending", header=header), spacing=12
    ).resolve_scale(x="shared")


def _months(dates: Sequence[date], look_counts: list[int], changes: list[int]) -> Chart:
    """Draw a square for each month, coloured by the share of observed days with a change."""
    months = sorted({(day.year, day.month) for day in dates})
    number = {month: index for index, month in enumerate(months)}
    month_of_day = [number[day.year, day.month] for day in dates]
    observed_days = np.bincount(month_of_day, weights=np.minimum(look_counts, 1)).astype(int)
    changed_days = np.bincount(month_of_day, weights=np.minimum(changes, 1)).astype(int)
    data = chart_rows(
        column=[month - 1 for _, month in months], weekday=[str(year) for year, _ in months],
        kind=list(map(_share_level, observed_days.tolist(), changed_days.tolist())),
        day=[f"{year}-{month:02}" for year, month in months],
        changes=changed_days, looks=observed_days,
    )  # fmt: skip
    y = alt.Y("weekday:O", title=None, sort="descending", axis=alt.Axis(ticks=False, domain=False))
    rows = len({year for year, _ in months})
    return _squares(
        data, _column_axis(dict(enumerate(MONTHS))), y, MONTH_SIZE, (12, rows), SHARE_LEVELS
    )


def _column_axis(names: dict[int, str]) -> alt.X:
    labels = ", ".join(f"{column}: '{name}'" for column, name in names.items())
    return alt.X(
        "column:O", title=None,
        axis=alt.Axis(
            values=list(names), labelExpr=f"{{{labels}}}[datum.value]", orient="top", ticks=False,
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
    levels: Sequence[str] = CHANGE_LEVELS,
) -> Chart:
    kinds = [NO_LOOK, NO_CHANGE, *levels]
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
