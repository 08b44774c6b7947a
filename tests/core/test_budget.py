"""Budgets: what is written, what a day holds, and how it is spread."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.budget import MAX_REQUESTS_PER_DAY, Budget, RequestPace, next_midnight, utc_day
from freshet.core.errors import SettingsError

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "per_day"),
    [("500/day", 500), ("500", 500), ("20/hour", 480), ("5%", 5), (" 2.5 % / day", 2), ("1%", 1)],
)
def test_a_budget_is_a_number_or_a_share_a_day(text: str, per_day: int) -> None:
    assert Budget.parse(text).requests_per_day(pages=100) == per_day


@pytest.mark.parametrize("text", ["", "0", "0%", "-5", "many", "5/minute", "1e9", "5%%"])
def test_a_text_that_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="budget"):
        Budget.parse(text)


@pytest.mark.parametrize("text", ["1000000001", "41666667/hour", "999999999999999", "9" * 400])
def test_a_budget_above_the_maximum_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="above 1,000,000,000 a day"):
        Budget.parse(text)


def test_a_large_share_of_many_pages_is_limited_too() -> None:
    assert Budget.parse("100000000000%").requests_per_day(pages=1_000_000) == MAX_REQUESTS_PER_DAY


@given(st.integers(0, 86_400_000_000 - 1), st.integers(0, 86_400_000_000))
def test_the_largest_budget_has_a_pace_at_any_moment(start: int, later: int) -> None:
    midnight = datetime(2026, 3, 1, tzinfo=UTC)
    pace = RequestPace(
        midnight + timedelta(microseconds=start), spent=0, total=MAX_REQUESTS_PER_DAY
    )
    assert 0 <= pace.allowed_by(midnight + timedelta(microseconds=later)) <= MAX_REQUESTS_PER_DAY
    assert pace.due_time(MAX_REQUESTS_PER_DAY) >= pace.start
    assert pace.restart_at(pace.start, spent=5).allowed_by(next_midnight(pace.start)) > 5


def test_a_share_of_few_pages_allows_one_request() -> None:
    assert Budget.parse("5%").requests_per_day(pages=3) == 1


def test_a_day_ends_at_utc_midnight() -> None:
    assert utc_day(NOON) == "2026-03-01"
    moment = NOON + timedelta(minutes=3, seconds=5, microseconds=7)
    assert next_midnight(moment) == datetime(2026, 3, 2, tzinfo=UTC)


def test_no_request_is_due_after_the_budget_is_spent() -> None:
    assert RequestPace(NOON, spent=10, total=10).allowed_by(NOON + timedelta(hours=5)) == 10


def test_a_budget_below_what_is_spent_allows_no_more_requests() -> None:
    assert RequestPace(NOON, spent=10, total=4).allowed_by(NOON + timedelta(hours=5)) == 4


@given(st.integers(0, 86_399), st.integers(0, 50), st.integers(0, 500), st.integers(0, 2 * 86_400))
def test_a_pace_spends_a_share_of_the_day_and_never_more_than_is_left(
    second: int, spent: int, more: int, later: int
) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=second)
    total = spent + more
    pace = RequestPace(start, spent, total)
    moment = start + timedelta(seconds=later)
    assert pace.allowed_by(moment) <= min(total, spent + 1 + total * later / 86_400)
    share = total * (86_400 - second) / 86_400
    last = next_midnight(start) - timedelta(microseconds=1000)
    assert abs(pace.allowed_by(last) - min(total, spent + share)) <= 1


def test_a_pace_from_midnight_on_spends_everything() -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    last = next_midnight(start) - timedelta(milliseconds=1)
    for total in (1, 7, 500, 100_003):
        assert RequestPace(start, 0, total).allowed_by(last) == total


@given(st.integers(0, 86_399), st.integers(1, 500), st.integers(0, 400))
def test_a_request_counts_from_the_moment_it_is_due(second: int, total: int, number: int) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=second)
    pace = RequestPace(start, 0, total)
    due = pace.due_time(min(number, total - 1))
    assert pace.allowed_by(due + timedelta(milliseconds=1)) >= min(number, total - 1) + 1


def test_a_request_is_due_by_how_many_of_the_day_are_spent() -> None:
    assert RequestPace(NOON, spent=36, total=48).due_time(38) == NOON + timedelta(hours=2)


def test_a_day_spent_out_of_turn_has_its_next_request_due_at_midnight() -> None:
    assert RequestPace(NOON, spent=0, total=10).restart_at(NOON, spent=10).due_time(
        10
    ) == next_midnight(NOON)


def test_after_requests_out_of_turn_the_next_one_is_a_step_away() -> None:
    pace = RequestPace(NOON, spent=0, total=27).restart_at(NOON, spent=16)
    assert pace.allowed_by(NOON + timedelta(minutes=59)) == 16
    assert pace.allowed_by(NOON + timedelta(minutes=61)) == 17
    assert pace.allowed_by(next_midnight(NOON) - timedelta(minutes=1)) == 27


def test_after_few_requests_out_of_turn_the_pace_stays_a_share_of_the_day() -> None:
    pace = RequestPace(NOON, spent=0, total=48).restart_at(NOON, spent=6)
    assert pace.allowed_by(NOON + timedelta(minutes=29)) == 6
    assert pace.allowed_by(NOON + timedelta(minutes=31)) == 7
    assert pace.allowed_by(next_midnight(NOON) - timedelta(minutes=1)) == 6 + 23


def test_requests_added_as_spent_delay_no_other_request() -> None:
    pace = RequestPace(NOON, spent=10, total=48).add_spent(4)
    assert pace.allowed_by(NOON) == 10 + 4 + 1
    assert pace.allowed_by(NOON + timedelta(minutes=31)) == 10 + 4 + 2
    assert pace.allowed_by(next_midnight(NOON) - timedelta(minutes=1)) == 10 + 4 + 24
