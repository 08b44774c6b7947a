"""Times in texts: the usual forms, zones, and the order of day and month."""

from datetime import UTC, datetime

import pytest

from freshet.view.posts.time_search import find_time, read_time
from freshet.view.posts.time_zone import stated_offset, zone_offset
from freshet.view.posts.written_time import TimeContext

VISITED = datetime(2025, 11, 16, 12, tzinfo=UTC).timestamp()
CONTEXT = TimeContext(VISITED)


def moment_of(text: str, context: TimeContext = CONTEXT) -> str | None:
    match = find_time(text)
    moment = match.written.moment(context) if match else None
    return moment and datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Tue Mar 03, 2009 4:12 pm", "2009-03-03 16:12:00"),
        ("03-04-2012, 07:15 PM", "2012-03-04 19:15:00"),
        ("Yesterday, 10:22", "2025-11-15 10:22:00"),
        ("Today at 3:15 AM", "2025-11-16 03:15:00"),
        ("Monday at 5:00 PM", "2025-11-10 17:00:00"),
        ("Thu, 1 Oct 2025 10:00:00 +0530", "2025-10-01 04:30:00"),
        ("Wed Oct  1 10:00:00 EDT 2025", "2025-10-01 14:00:00"),
        ("10:22, 3 March 2009 (UTC)", "2009-03-03 10:22:00"),
        ("Mar 4 '12 at 19:15", "2012-03-04 19:15:00"),
        ("Mar 4 at 19:15", "2025-03-04 19:15:00"),
        ("Dec 24 at 19:15", "2024-12-24 19:15:00"),
        ("2012-03-04 19:15:22Z", "2012-03-04 19:15:22"),
        ("2015-06-13T20:15:00.123+02:00", "2015-06-13 18:15:00"),
        ("From: Jane Doe @ 2025-10-01 10:00 UTC (", "2025-10-01 10:00:00"),
        ("Oct. 1, 2025, 10 a.m.", "2025-10-01 10:00:00"),
        ("1st of March, 2010 at 12am", "2010-03-01 00:00:00"),
        ("Posted 12 May 2023 - 03:45 PM", "2023-05-12 15:45:00"),
        ("20 Jan 2021, 08:05 GMT+2", "2021-01-20 06:05:00"),
        ("25/12/2020 18:30", "2020-12-25 18:30:00"),
        ("3 hours ago", "2025-11-16 09:00:00"),
        ("1 day, 3 hours ago", "2025-11-15 09:00:00"),
        ("an hour ago", "2025-11-16 11:00:00"),
        ("2d", "2025-11-14 12:00:00"),
        ("just now", "2025-11-16 12:00:00"),
    ],
)
def test_usual_forms_are_read(text: str, moment: str) -> None:
    assert moment_of(text) == moment


@pytest.mark.parametrize(
    "text",
    ["", "version 1.2.10", "March 2007", "you may 3 times do that", "5 days", "10:00 - 12",
     "Feb 30, 2020 10:00", "call 555-123-4567", "99/99/2020"],
)  # fmt: skip
def test_other_numbers_are_no_times(text: str) -> None:
    assert moment_of(text) is None


def test_numeric_dates_follow_the_order_of_the_page() -> None:
    day_first = TimeContext(VISITED, day_first=True)
    assert moment_of("03.04.2012 10:00", day_first) == "2012-04-03 10:00:00"
    assert moment_of("12/25/2020 18:30", day_first) == "2020-12-25 18:30:00"


def test_days_begin_at_midnight_of_the_pages_zone() -> None:
    far_east = TimeContext(VISITED, offset=13 * 3600.0)
    assert moment_of("Today at 0:30", far_east) == "2025-11-16 11:30:00"


@pytest.mark.parametrize(
    ("value", "epoch"),
    [("1236096720", 1236096720.0), ("1236096720000", 1236096720.0), ("42", None), ("PT2H", None)],
)
def test_attributes_hold_epoch_seconds_or_milliseconds(value: str, epoch: float | None) -> None:
    written = read_time(value)
    assert (written and written.moment(CONTEXT)) == epoch


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("All times are UTC + 1 hour [ DST ]", 2),
        ("All times are UTC-05:00", -5),
        ("All times are GMT +5.5. The time now is 07:15 PM.", 5.5),
        ("All times are EST", -5),
        ("Times are good these days", None),
    ],
)
def test_the_zone_of_a_page_is_read(text: str, hours: float | None) -> None:
    offset = stated_offset(text, VISITED)
    assert offset == (None if hours is None else hours * 3600.0)


def test_an_unknown_zone_has_no_offset() -> None:
    assert zone_offset("Mars/Olympus") is None
