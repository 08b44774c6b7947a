"""Publication times: the hours and weekdays at which hosts change, learned from looks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.core.types import FloatArray
from freshet.schedule.hosts.event_columns import MIN_SHORT_CHANGES
from freshet.schedule.hosts.kernels import publication_times as kernels
from freshet.schedule.hosts.publication_times import PublicationTimes
from freshet.schedule.page_states import LookBatch
from tests.schedule.bayes_samples import bayes_policy, pages, visits

EVEN = (np.ones(24, np.float32), np.ones(7, np.float32))
HOST = np.zeros(1, np.int32)


def look_batch(begins: FloatArray, ends: FloatArray, changed: list[bool]) -> LookBatch:
    count = len(begins)
    return LookBatch(
        np.zeros(count, np.int32),
        ends * DAY_SECONDS,
        ends - begins,
        np.ones(count, np.bool_),
        np.array(changed),
    )


def looks_at_daily_changes(hour: float, count: int = 400) -> LookBatch:
    """Return looks at random times at pages that change every day at an hour."""
    rng = np.random.default_rng(1)
    ends = 100 + np.sort(rng.uniform(0, 30, count))
    begins = ends - rng.uniform(0.2, 1.5, count)
    changes = np.floor(ends - hour / 24) > np.floor(begins - hour / 24)
    return look_batch(begins, ends, changes.tolist())


def fitted(looks: LookBatch, rate: float = 1.0) -> PublicationTimes:
    times = PublicationTimes()
    times.add_hosts(1)
    for _ in range(10):
        times.fit(0, looks, np.full(len(looks), rate), 130.0)
    return times


def elapsed(times: PublicationTimes, begin: float, end: float) -> float:
    return float(times.elapsed_days(HOST, np.array([begin]), np.array([end]))[0])


def test_a_host_that_changes_at_noon_is_found_out() -> None:
    times = fitted(looks_at_daily_changes(12.5))
    profile = times.profile(0)
    assert profile is not None
    hours = profile.reshape(7, 24).mean(axis=0)
    assert hours.argmax() == 12
    assert hours[12] > 5
    assert np.delete(hours, range(10, 16)).max() < 0.5
    assert elapsed(times, 200 + 12 / 24, 200 + 13 / 24) > 10 * elapsed(times, 200.0, 200 + 1 / 24)


def test_a_week_counts_as_seven_days_and_elapsed_days_add_up() -> None:
    times = fitted(looks_at_daily_changes(7.0))
    assert elapsed(times, 101.3, 108.3) == pytest.approx(7, rel=1e-5)
    whole = elapsed(times, 101.3, 105.9)
    assert elapsed(times, 101.3, 103.0) + elapsed(times, 103.0, 105.9) == pytest.approx(whole)


def test_changes_at_any_hour_support_no_profile() -> None:
    rng = np.random.default_rng(2)
    ends = 100 + np.sort(rng.uniform(0, 30, 400))
    begins = ends - rng.uniform(0.2, 1.5, 400)
    looks = look_batch(begins, ends, (rng.random(400) < 1 - np.exp(begins - ends)).tolist())
    profile = fitted(looks).profile(0)
    assert profile is not None
    assert profile == pytest.approx(np.ones(168), abs=1e-4)


def test_one_event_of_many_pages_is_no_profile() -> None:
    rng = np.random.default_rng(6)
    ends = 100 + np.sort(rng.uniform(0, 6, 400))
    begins = ends - rng.uniform(0.2, 0.8, 400)
    looks = look_batch(begins, ends, ((begins < 102.6) & (ends > 102.6)).tolist())
    profile = fitted(looks).profile(0)
    assert profile == pytest.approx(np.ones(168), abs=1e-4)


def test_shared_events_are_expected_at_the_hour_of_publication() -> None:
    """Pages that all change at noon are not taken for changed again in the afternoon."""
    policy = bayes_policy("freshness", live=True)
    policy.add(pages(range(20), host_pages=20))
    rng, last = np.random.default_rng(7), np.full(20, 100.0)
    for hour in range(24 * 10):
        day = 100 + (hour + 0.5) / 24
        ids = np.flatnonzero(rng.random(20) < day - last - 0.2)
        changed = np.floor(day - 0.5) > np.floor(last[ids] - 0.5)
        policy.learn(visits(ids.tolist(), day, changed.tolist()))
        policy.refit(from_epoch(day * DAY_SECONDS))
        last[ids] = day
    ids = np.arange(20)
    policy.learn(visits(ids.tolist(), 110.55, True))
    policy.refit(from_epoch(110.56 * DAY_SECONDS))
    afternoon, next_noon = (
        policy.change_chances(ids, np.full(20, day * DAY_SECONDS)).mean() for day in (110.95, 111.6)
    )
    assert afternoon < 0.15
    assert next_noon > 0.5


def test_quiet_weekends_are_found_out() -> None:
    rng = np.random.default_rng(3)
    ends = 98 + np.sort(rng.uniform(0, 70, 2_000))
    begins = ends - rng.uniform(0.2, 1.0, 2_000)
    # Days 2 and 3 of a week that starts on Thursday are Saturday and Sunday.
    midpoints = (begins + ends) / 2
    is_weekend = np.isin(np.floor(midpoints) % 7, [2, 3])
    changed = (rng.random(2_000) < 1 - np.exp(2 * (begins - ends))) & ~is_weekend
    profile = fitted(look_batch(begins, ends, changed.tolist()), rate=2.0).profile(0)
    assert profile is not None
    days = profile.reshape(7, 24).mean(axis=1)
    assert days[[2, 3]].max() < 0.5 < days[[0, 1, 4, 5, 6]].min()


def test_a_host_without_a_profile_has_calendar_days() -> None:
    times = PublicationTimes()
    times.add_hosts(1)
    assert times.profile(0) is None
    assert elapsed(times, 10.25, 12.0) == 1.75


def test_hosts_with_enough_changes_are_fitted_every_few_hours() -> None:
    times = fitted(looks_at_daily_changes(12.5))
    times.add_hosts(3)
    changes = np.array([MIN_SHORT_CHANGES, MIN_SHORT_CHANGES, MIN_SHORT_CHANGES - 1], np.int32)
    assert times.hosts_to_fit(changes, 130.1).tolist() == [1]
    assert times.hosts_to_fit(changes, 130.3).tolist() == [1, 0]


def test_restored_profiles_are_the_same() -> None:
    times, copy = fitted(looks_at_daily_changes(12.5)), PublicationTimes()
    copy.restore(times.state())
    assert elapsed(copy, 101.3, 104.1) == elapsed(times, 101.3, 104.1)


@settings(deadline=None, max_examples=50)
@given(begin=st.floats(0, 30_000), gap=st.floats(1e-3, 3.0))
def test_passed_days_are_the_sum_over_hours(begin: float, gap: float) -> None:
    rng = np.random.default_rng(4)
    factors = (rng.random(24).astype(np.float32), rng.random(7).astype(np.float32))
    minutes = begin + gap * (np.arange(2_000) + 0.5) / 2_000
    hour = np.floor(minutes * 24).astype(int)
    expected = float(np.mean(factors[0][hour % 24] * factors[1][hour // 24 % 7])) * gap
    passed = kernels.passed_days((begin, begin + gap), factors)
    assert passed == pytest.approx(expected, rel=0.02, abs=2e-3)


def test_the_likelihood_is_that_of_a_poisson_process() -> None:
    looks = (
        np.array([1.0, 2.0]),
        np.array([1.5, 3.0]),
        np.array([True, False]),
        np.array([2.0] * 2),
        1.0,
    )
    expected = math.log(1 - math.exp(-1.0)) - 2.0
    assert kernels.log_likelihood(looks, EVEN) == pytest.approx(expected)


def test_a_page_that_changes_at_noon_is_visited_after_noon() -> None:
    policy = bayes_policy("changes", live=True)
    policy.add(pages(range(10), host_pages=10))
    rng = np.random.default_rng(5)
    last = np.full(10, 100.0)
    for day in np.sort(rng.uniform(100, 160, 600)).tolist():
        ids = np.flatnonzero(rng.random(10) < 0.15)
        changed = np.floor(day - 0.5) > np.floor(last[ids] - 0.5)
        policy.learn(visits(ids.tolist(), day, changed.tolist()))
        policy.release(policy.choose(from_epoch(day * DAY_SECONDS), 1, HostCaps()).pages)
        last[ids] = day
    policy.learn(visits(list(range(10)), 160.0, False))

    def lowest_chance(day: float) -> float:
        choice = policy.choose(from_epoch(day * DAY_SECONDS), 10, HostCaps())
        policy.release(choice.pages)
        return float(choice.chances.min())

    assert 1.5 * lowest_chance(160.45) < lowest_chance(160.6)
    assert 12 in policy.explain(0, from_epoch(160.6 * DAY_SECONDS)).publication_hours
