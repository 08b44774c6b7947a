from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.content.posts import Post
from freshet.predict.threads.hazard_training import train_hazard, train_self_exciting
from freshet.predict.threads.kernels.post_rate import decayed_counts
from freshet.predict.threads.rate_model import (
    RateModel,
    hazard_document,
    hazard_from_document,
    kernel_rate,
    pooled_hazard,
    power_law_terms,
    rate_terms,
)
from freshet.predict.threads.rhythm import flat_prior
from freshet.predict.threads.thread_posts import ThreadPosts, thread_of_posts
from tests.predict.threads.generated_threads import MONDAY, generate_thread

MODELS = (pooled_hazard, kernel_rate)
YEAR = 525_600.0


def test_decayed_counts_are_the_sums_over_the_posts() -> None:
    times = np.array([0.0, 0.0, 7.0, 30.0])
    decays = np.array([0.1, 0.01])
    expected = [
        [sum(np.exp(-decay * (time - past)) for past in times[: index + 1]) for decay in decays]
        for index, time in enumerate(times)
    ]
    assert decayed_counts(times, decays) == pytest.approx(np.array(expected))


def test_the_exponentials_are_near_the_power_law() -> None:
    decays, weights = power_law_terms()
    ages = np.array([0.0, 5.0, 60.0, 1440.0, 43_200.0, YEAR])
    sums = (weights * np.exp(-np.outer(ages, decays))).sum(axis=1)
    assert sums == pytest.approx((ages + 10.0) ** -1.2, rel=0.15)


def constant_rate(rate: float) -> RateModel:
    return RateModel(
        rate_terms(np.zeros(0), np.zeros(0), rate),
        replace(flat_prior(), prior_hours=1e9, prior_days=1e9),
        frailty=1e-9,
    )


@pytest.mark.parametrize("foresight", [0.0, 0.5, 1.0])
def test_the_gap_of_a_constant_rate_is_the_root_of_twice_the_price_by_the_rate(
    foresight: float,
) -> None:
    thread = ThreadPosts(np.array([MONDAY]))
    visit = constant_rate(0.01).next_visit(thread, MONDAY, 200.0, foresight=foresight)
    assert visit - MONDAY == pytest.approx((2 * 200.0 / 0.01) ** 0.5, rel=0.02)


def test_the_forecast_of_a_constant_rate_is_exponential() -> None:
    forecast = constant_rate(0.01).forecast(ThreadPosts(np.array([MONDAY])), MONDAY + 50.0)
    assert forecast.median == pytest.approx(100.0 * np.log(2.0), rel=0.01)
    assert forecast.chance_within(100.0) == pytest.approx(1 - np.exp(-1), abs=0.01)


@pytest.mark.parametrize("model", MODELS)
@given(
    waited=st.floats(0.0, 10 * YEAR),
    price=st.floats(0.01, 1e6),
    intervals=st.lists(st.floats(0.0, 3 * YEAR), max_size=5),
)
def test_a_thread_is_never_visited_twice_in_a_minute_nor_left_out(
    model: object, waited: float, price: float, intervals: list[float]
) -> None:
    assert callable(model)
    thread = ThreadPosts(MONDAY + np.cumsum([0.0, *intervals]))
    now = thread.times[-1] + waited
    gap = model().next_visit(thread, now, price) - now
    assert 1.0 - 1e-6 <= gap <= YEAR + 1e-6


@pytest.mark.parametrize("model", MODELS)
def test_visits_of_a_silent_thread_become_rare(model: object) -> None:
    assert callable(model)
    thread = generate_thread(1)
    last = thread.times[-1]
    gaps = [
        model().next_visit(thread, last + waited, 50.0) - last - waited
        for waited in (0.0, 1440.0, 100_000.0, 2 * YEAR)
    ]
    assert gaps == sorted(gaps)
    assert gaps[-1] > 10 * gaps[0]


def test_a_dearer_visit_comes_later() -> None:
    thread = generate_thread(2)
    now = thread.times[-1] + 30.0
    visits = [pooled_hazard().next_visit(thread, now, price) for price in (1.0, 10.0, 100.0)]
    assert visits == sorted(visits)


def test_fifty_thousand_posts_and_equal_times_are_forecast() -> None:
    thread = ThreadPosts(MONDAY + np.arange(50_000) // 3)
    low, high = pooled_hazard().forecast(thread, thread.times[-1]).interval()
    assert 0.0 <= low < high < 1440.0


def test_posts_are_sorted_and_none_lies_in_the_future() -> None:
    posts = [Post(180.0, "a", "late", "1"), Post(60.0, None, "early", "2")]
    thread = thread_of_posts(posts, now=120.0)
    assert thread.times.tolist() == [1.0, 2.0]
    assert thread.texts == ("early", "late")


def test_the_hazard_learns_from_threads_and_is_stored_as_json() -> None:
    threads = [generate_thread(seed) for seed in range(12)]
    model = train_hazard(threads)
    stored = hazard_from_document(hazard_document(model))
    thread = generate_thread(99)
    now = thread.times[-1] + 20.0
    assert stored.rate(thread, now) == pytest.approx(model.rate(thread, now), rel=0.05)
    assert 1e-5 < model.rate(thread, now) < 0.1


def test_the_self_exciting_process_finds_the_level_of_the_rate() -> None:
    generator = np.random.default_rng(3)
    threads = [
        ThreadPosts(MONDAY + np.cumsum(generator.exponential(10_000.0, 400))) for _ in range(4)
    ]
    model = train_self_exciting(threads)
    rates = [model.rate(threads[0].first(count), threads[0].times[count]) for count in (100, 300)]
    assert rates == pytest.approx([1e-4, 1e-4], rel=0.5)


def test_posts_at_a_constant_rate_wait_half_the_gap_on_average() -> None:
    gaps = np.array([0.2, 10.0, 600.0, 50_000.0])
    thread = ThreadPosts(np.array([MONDAY]))
    waiting, accumulated = constant_rate(0.01).visit_values(thread, MONDAY, gaps, foresight=0.0)
    assert waiting == pytest.approx(0.01 * gaps, rel=0.01)
    assert accumulated == pytest.approx(0.005 * gaps**2, rel=0.01)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("foresight", [0.0, 0.5])
@given(seed=st.integers(0, 1_000), waited=st.floats(0.0, 1e5), price=st.floats(1.0, 1e5))
def test_the_value_of_a_visit_is_the_price_at_which_it_comes(
    model: object, foresight: float, seed: int, waited: float, price: float
) -> None:
    assert callable(model)
    posts, gaps = generate_thread(seed), np.geomspace(1.0, YEAR, 4_000)
    visit = float(posts.times[-1]) + waited
    waiting, values = model().visit_values(posts, visit, gaps, foresight=foresight)
    assert (np.diff(waiting) > 0.0).all()
    assert (np.diff(values) >= 0.0).all()
    by_value = gaps[min(np.searchsorted(values, price), len(gaps) - 1)]
    gap = model().next_visit(posts, visit, price, foresight=foresight) - visit
    assert by_value == pytest.approx(gap, rel=0.005)


@pytest.mark.parametrize("model", [kernel_rate, pooled_hazard])
def test_a_long_thread_fades_after_a_long_silence(model: Callable[[], RateModel]) -> None:
    times = 1e6 + 10.0 * np.arange(5_000)
    silence = 115 * 1440.0
    posts, now = ThreadPosts(times), times[-1] + silence
    assert model().rate(posts, now) <= 10.0 / silence
    assert model().forecast(posts, now).median > 0.05 * silence
    assert model().next_visit(posts, now, 1000.0) > now + 1440.0
