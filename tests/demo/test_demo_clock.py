"""The clock that stands still until it begins."""

from datetime import UTC, datetime, timedelta

import pytest

from freshet.demo.clock import DeferredClock

START = datetime(2026, 3, 2, tzinfo=UTC)


def test_a_clock_stands_still_until_it_begins_and_then_runs_fast() -> None:
    clock = DeferredClock(START, speed=1e6)
    assert clock.now() == clock.now() == START
    assert clock.seconds_until(START + timedelta(seconds=2e6)) == pytest.approx(2.0)
    clock.begin()
    first = clock.now()
    clock.begin()
    assert START <= first < clock.now()
    assert clock.seconds_until(START + timedelta(days=365)) < 365 * 86_400 / 1e6
    assert clock.seconds_until(START) == 0.0
