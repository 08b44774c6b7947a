"""Change processes have the requested rates, rhythms and bursts."""

import numpy as np
import pytest

from freshet.world.change_processes import (
    DAY,
    HOUR,
    TimeSpan,
    bursty_changes,
    hour_of_week,
    no_changes,
    regular_changes,
    rhythmic_changes,
)

MONDAY = 1_767_571_200.0  # 2026-01-05
YEAR = TimeSpan(MONDAY, MONDAY + 364 * DAY)


def dispersion(times: np.ndarray, span: TimeSpan) -> float:
    """Return the variance of daily counts over their mean: 1 for changes at random."""
    counts = np.histogram(times, np.arange(span.start, span.end + 1, DAY))[0]
    return float(counts.var() / counts.mean())


def test_the_week_begins_on_monday() -> None:
    assert hour_of_week(np.array([MONDAY, MONDAY + 25 * HOUR])).tolist() == [0, 25]


def test_changes_at_random_have_their_rate_and_no_rhythm() -> None:
    times = rhythmic_changes(5)(np.random.default_rng(1), YEAR)
    assert len(times) / 364 == pytest.approx(5, rel=0.07)
    assert dispersion(times, YEAR) == pytest.approx(1, abs=0.25)


def test_a_rhythm_keeps_the_rate_and_spares_nights_and_weekends() -> None:
    times = rhythmic_changes(8, night=0.05, weekend=0.3)(np.random.default_rng(2), YEAR)
    hours = hour_of_week(times)
    assert len(times) / 364 == pytest.approx(8, rel=0.07)
    assert np.mean(hours % 24 < 5) < 0.05
    assert np.mean(hours >= 120) == pytest.approx(0.6 / 5.6, abs=0.03)


def test_bursts_keep_the_rate_and_come_in_crowds() -> None:
    times = bursty_changes(4, branching=0.75, delay_hours=2)(np.random.default_rng(3), YEAR)
    assert len(times) / 364 == pytest.approx(4, rel=0.25)
    assert dispersion(times, YEAR) > 3


def test_regular_changes_come_at_about_their_hour() -> None:
    times = regular_changes(7, hour=17, jitter_hours=1)(np.random.default_rng(4), YEAR)
    assert 51 <= len(times) <= 53
    assert np.abs(times % DAY / HOUR - 17).max() < 5
    assert np.diff(times).mean() == pytest.approx(7 * DAY, rel=0.01)


def test_some_regular_changes_can_be_missed() -> None:
    times = regular_changes(1, hour=8, jitter_hours=0.1, missed=0.25)(
        np.random.default_rng(5), YEAR
    )
    assert len(times) == pytest.approx(0.75 * 364, rel=0.1)


def test_a_process_without_changes_has_no_times() -> None:
    assert len(no_changes(np.random.default_rng(6), YEAR)) == 0
