from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.clock import FixedClock, SystemClock, from_epoch, to_epoch


@given(st.integers(0, 4_000_000_000))
def test_epoch_seconds_and_datetimes_are_two_forms_of_one_time(seconds: int) -> None:
    assert to_epoch(from_epoch(seconds)) == seconds


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        to_epoch(datetime(2026, 1, 1))  # noqa: DTZ001


def test_the_system_clock_is_aware_and_a_fixed_clock_stands_still() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert SystemClock().now().tzinfo is UTC
    assert FixedClock(moment).now() == moment
