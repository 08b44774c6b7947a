"""Feeds with a steady pace: the next post is expected at the next regular moment."""

import numpy as np
import pytest

from freshet.core.types import FloatArray
from freshet.predict.threads import rate_model
from freshet.predict.threads.rate_model import kernel_rate, pooled_hazard
from freshet.predict.threads.regular_gaps import regular_gaps
from freshet.predict.threads.thread_posts import ThreadPosts
from tests.predict.threads.generated_threads import MONDAY, generate_thread

HOUR, DAY, WEEK = 60.0, 1_440.0, 10_080.0
MODELS = (pooled_hazard, kernel_rate)


def steady_times(period: float, posts: int, spread: float, seed: int = 1) -> FloatArray:
    return MONDAY + period * np.arange(posts) + np.random.default_rng(seed).normal(0, spread, posts)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("period", "posts", "spread", "before"),
    [
        (DAY, 20, 5.0, 2 * HOUR),
        (DAY, 5, 5.0, 2 * HOUR),
        (DAY, 20, 5.0, 23 * HOUR),
        (WEEK, 10, 30.0, DAY),
        (HOUR, 40, 1.0, 40.0),
    ],
)
def test_the_next_post_of_a_steady_feed_is_expected_at_the_regular_moment(
    model: object, period: float, posts: int, spread: float, before: float
) -> None:
    assert callable(model)
    times = steady_times(period, posts, spread)
    due = times[-1] + period
    forecast = model().forecast(ThreadPosts(times), due - before)
    assert forecast.median == pytest.approx(before, abs=4 * spread + 0.01 * period)
    low, high = forecast.interval()
    assert before - 0.12 * period < low < high < before + 0.12 * period


def test_a_feed_of_weekdays_is_expected_on_monday() -> None:
    days = np.array([day for day in range(33) if day % 7 < 5])
    times = MONDAY + DAY * days + np.random.default_rng(2).normal(0.0, 10.0, len(days))
    friday = ThreadPosts(times)
    assert days[-1] % 7 == 4
    forecast = pooled_hazard().forecast(friday, float(times[-1]) + HOUR)
    assert forecast.median == pytest.approx(3 * DAY - HOUR, rel=0.02)


def test_several_entries_at_once_count_as_one_moment() -> None:
    times = np.sort(np.concatenate([steady_times(DAY, 15, 4.0) + shift for shift in (0, 1, 3)]))
    forecast = pooled_hazard().forecast(ThreadPosts(times), float(times[-1]) + 22 * HOUR)
    assert forecast.median == pytest.approx(2 * HOUR, abs=20.0)


def test_a_feed_that_left_a_day_out_is_expected_at_the_same_time_of_the_next_day() -> None:
    times = steady_times(DAY, 20, 5.0)
    forecast = pooled_hazard().forecast(ThreadPosts(times), float(times[-1]) + 1.5 * DAY)
    assert forecast.median == pytest.approx(0.5 * DAY, rel=0.1)


def test_a_feed_that_ended_is_forecast_as_any_thread() -> None:
    times = steady_times(DAY, 20, 5.0)
    low, high = pooled_hazard().forecast(ThreadPosts(times), float(times[-1]) + 60 * DAY).interval()
    assert high > 30 * DAY
    assert low < high


def test_threads_in_bursts_have_no_regular_gaps() -> None:
    regular_posts = [
        int((regular_gaps(generate_thread(seed, 150).times, 5).rows >= 0).sum())
        for seed in range(20)
    ]
    assert sum(regular_posts) < 0.02 * 20 * 145


def test_regular_gaps_use_the_posts_up_to_each_post_only() -> None:
    times = steady_times(DAY, 30, 20.0)
    known, cut = regular_gaps(times, 10), regular_gaps(times[:20], 10)
    assert (known.rows[:20] == cut.rows).all()
    row = cut.rows[19]
    assert known.shares[row] == pytest.approx(cut.shares[row])
    assert known.atoms[row] == pytest.approx(cut.atoms[row])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_short_threads_and_equal_times_are_not_regular(count: int) -> None:
    assert (regular_gaps(MONDAY + DAY * np.arange(count), count - 1).rows < 0).all()
    assert (regular_gaps(np.full(50, MONDAY), 10).rows < 0).all()


def test_visits_and_rates_do_not_look_for_regular_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    thread = ThreadPosts(steady_times(DAY, 20, 5.0))
    now = float(thread.times[-1]) + 22 * HOUR
    hazard, searches = pooled_hazard(), []

    def counted_search(times: FloatArray, first_post: int) -> object:
        searches.append(first_post)
        return regular_gaps(times, first_post)

    monkeypatch.setattr(rate_model, "regular_gaps", counted_search)
    assert hazard.rate(thread, now) > 0.0
    assert hazard.next_visit(thread, now, 50.0) > now
    hazard.visit_values(thread, now, np.array([60.0]))
    assert searches == []
    assert hazard.forecast(thread, now).median < 3 * HOUR
    assert searches == [19]


@pytest.mark.parametrize("model", MODELS)
def test_a_feed_that_missed_two_days_may_have_stopped(model: object) -> None:
    assert callable(model)
    times = steady_times(DAY, 30, 1.0)
    low, high = model().forecast(ThreadPosts(times), times[-1] + 3 * DAY).interval()
    assert low < HOUR
    assert high > 30 * DAY
