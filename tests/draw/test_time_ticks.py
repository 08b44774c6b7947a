import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.draw.time_ticks import MAX_TICKS, time_ticks

START = datetime(2007, 5, 28, tzinfo=UTC)


def labels(span: timedelta, start: datetime = START) -> list[str]:
    return [label for _, label in time_ticks(start.timestamp(), (start + span).timestamp())]


def test_hours_are_those_of_24_hour_clocks():
    assert labels(timedelta(hours=24)) == [
        "28 May 2007", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00", "29",
    ]  # fmt: skip


def test_the_month_is_said_once():
    assert labels(timedelta(days=35)) == ["28 May 2007", "4 Jun", "11", "18", "25", "2 Jul"]


def test_the_year_is_said_once():
    assert labels(timedelta(days=360)) == [
        "Jul 2007", "Sep", "Nov", "Jan 2008", "Mar", "May",
    ]  # fmt: skip


def test_a_moment_has_one_tick():
    assert labels(timedelta(0), START + timedelta(hours=13)) == ["28 May 2007 13:00"]


@given(st.floats(0, 2e9), st.floats(0, 1e9))
def test_ticks_lie_within_the_axis_and_are_few(start: float, span: float):
    ticks = time_ticks(start, start + span)
    assert 1 <= len(ticks) <= MAX_TICKS + 1
    assert all(start - 1e-3 <= epoch <= start + span + 1e-3 for epoch, _ in ticks)
    assert sorted(epoch for epoch, _ in ticks) == [epoch for epoch, _ in ticks]


@pytest.mark.parametrize("hours", [1, 12, 24, 72, 960, 9600, 96_000])
def test_no_label_has_am_or_pm(hours: int):
    afternoon = START + timedelta(hours=13)
    for label in labels(timedelta(hours=hours), afternoon):
        assert not re.search(r"[ap]\.?m\b", label, re.IGNORECASE), label
