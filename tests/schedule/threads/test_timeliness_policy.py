"""The policy of the objective ``timeliness``: threads and pages share a budget."""

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.content.posts import NEXT_POST_CHANCES
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.core.types import FloatArray
from freshet.schedule.policies import make_policy
from freshet.schedule.threads.timeliness_policy import TimelinessPolicy
from freshet.schedule.threads.waiting_curves import CURVE_AGES, WaitingCurves
from tests.schedule.bayes_samples import pages, visits

DAY = 100.0


def steady_curves(*rates: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the curves of threads with so many posts a day."""
    posts = np.array(rates)[:, None] * CURVE_AGES
    waits = -np.log1p(-NEXT_POST_CHANCES) / np.array(rates)[:, None]
    return posts, posts * CURVE_AGES / 2, waits


def policy_of_threads(rates: list[float], others: int = 0) -> TimelinessPolicy:
    """Return a policy with threads 0, 1, … and pages after them, all looked at on one day."""
    policy = make_policy("bayes-timeliness", live=True)
    assert isinstance(policy, TimelinessPolicy)
    ids = list(range(len(rates) + others))
    policy.add(pages(ids))
    policy.learn(visits(ids, DAY))
    policy.learn_curves(np.arange(len(rates)), *steady_curves(*rates))
    return policy


def moment(day: float) -> float:
    return day * DAY_SECONDS


def test_threads_are_chosen_by_how_long_their_posts_have_waited() -> None:
    policy = policy_of_threads([1.0, 9.0, 3.0])
    choices = policy.choose(from_epoch(moment(DAY + 1)), 3, HostCaps())
    assert choices.pages.tolist() == [1, 2, 0]
    assert choices.values.tolist() == pytest.approx([4.5, 1.5, 0.5], rel=1e-3)
    assert choices.chances.tolist() == pytest.approx(
        [0.999, 1 - np.exp(-3), 1 - np.exp(-1)], abs=1e-3
    )


def test_gaps_between_visits_follow_the_square_root_of_the_rate() -> None:
    policy = policy_of_threads([1.0] * 5 + [16.0] * 5)
    slow_visits = fast_visits = 0
    for step in range(1_000):
        day = DAY + 1 + step / 50
        (page,) = policy.choose(from_epoch(moment(day)), 1, HostCaps()).pages.tolist()
        policy.learn(visits([page], day))
        slow_visits, fast_visits = slow_visits + (page < 5), fast_visits + (page >= 5)
    assert fast_visits / slow_visits == pytest.approx(4.0, rel=0.1)


def test_pages_and_threads_share_the_budget() -> None:
    policy = policy_of_threads([0.001], others=1)
    for day in range(1, 40):
        policy.learn(visits([1], DAY + day, day % 2 == 0))
    policy.learn(visits([0], DAY + 39))
    policy.learn_curves(np.array([0]), *steady_curves(0.001))
    chosen = policy.choose(from_epoch(moment(DAY + 42)), 1, HostCaps()).pages.tolist()
    assert chosen == [1]
    policy.learn(visits([1], DAY + 42))
    policy.learn_curves(np.array([0]), *steady_curves(50.0))
    assert policy.choose(from_epoch(moment(DAY + 43)), 1, HostCaps()).pages.tolist() == [0]


def test_a_thread_is_scored_at_every_choice_of_an_hour() -> None:
    policy = policy_of_threads([0.01], others=3_000)
    index = int(np.searchsorted(CURVE_AGES, 0.3))
    early, late = CURVE_AGES[index : index + 2].tolist()
    policy.learn(visits(list(range(3_001)), DAY + 1 - early))
    # The value rises from almost nothing to a billion within the hour.
    sudden = np.where(early >= CURVE_AGES, 1e-12, 1e9)[None]
    policy.learn_curves(np.array([0]), sudden, sudden, steady_curves(0.01)[2])
    for age in (early, early + 1 / 1440):
        choices = policy.choose(from_epoch(moment(DAY + 1 - early + age)), 1, HostCaps())
        assert 0 not in choices.pages
    choices = policy.choose(from_epoch(moment(DAY + 1 - early + late)), 1, HostCaps())
    assert choices.pages.tolist() == [0]


def test_why_has_the_posts_that_wait_and_when_the_visit_is_due() -> None:
    policy = policy_of_threads([2.0], others=1)
    now = from_epoch(moment(DAY + 0.5))
    explanation = policy.explain(0, now)
    assert explanation.waiting_posts == pytest.approx(1.0, rel=1e-3)
    assert explanation.value == pytest.approx(0.25, rel=1e-3)
    assert policy.explain(1, now).waiting_posts is None
    policy.multiplier = 4.0
    due = policy.explain(0, now).due
    assert due == pytest.approx(moment(DAY + 2), abs=1_000)


def test_forgotten_and_restored_threads_leave_their_curves() -> None:
    policy = policy_of_threads([1.0, 2.0])
    policy.forget(np.array([0]))
    assert policy.explain(1, from_epoch(moment(DAY + 1))).waiting_posts == pytest.approx(2.0)
    again = make_policy("bayes-timeliness", live=True)
    again.restore(policy.state())
    assert again.explain(1, from_epoch(moment(DAY + 1))).waiting_posts is None


def test_a_thread_that_was_never_looked_at_comes_first() -> None:
    policy = policy_of_threads([5.0])
    policy.add(pages([7]))
    policy.learn_curves(np.array([7, 99]), *steady_curves(1.0, 1.0))
    assert policy.choose(from_epoch(moment(DAY + 1)), 1, HostCaps()).pages.tolist() == [7]


def test_curves_are_interpolated_and_extended_to_shorter_and_longer_ages() -> None:
    curves = WaitingCurves()
    places = curves.take_places(1)
    curves.put(places, *steady_curves(3.0))
    for days in (1e-5, 0.3, 17.0):
        age = np.array([days])
        assert curves.expected_posts(places, age)[0] == pytest.approx(3 * days, rel=1e-3)
        assert curves.values(places, age)[0] == pytest.approx(1.5 * days**2, rel=1e-3)
    assert curves.expected_posts(places, np.array([0.0]))[0] == 0.0
    assert curves.expected_posts(places, np.array([1e6]))[0] == pytest.approx(3 * 3650, rel=1e-3)


def test_the_chance_of_a_thread_is_that_of_its_next_post_and_not_of_the_expected_posts() -> None:
    policy = policy_of_threads([0.2])
    posts, values, _ = steady_curves(0.2)
    # The next post comes within an hour around one day after the look.
    waits = (1.0 + (NEXT_POST_CHANCES - 0.5) / 24)[None]
    policy.learn_curves(np.array([0]), posts, values, waits)
    for hours, chance in ((23.0, 0.001), (24.0, 0.5), (25.0, 0.999)):
        explanation = policy.explain(0, from_epoch(moment(DAY + hours / 24)))
        assert explanation.chance == pytest.approx(chance, abs=0.002)


def test_chances_are_interpolated_and_stay_at_the_last_that_is_reached() -> None:
    curves = WaitingCurves()
    places = curves.take_places(2)
    waits = np.stack([
        10 * NEXT_POST_CHANCES,
        np.where(NEXT_POST_CHANCES <= 0.3, 10 * NEXT_POST_CHANCES, np.inf),
    ])
    curves.put(places, *steady_curves(1.0, 1.0)[:2], waits)
    for age, expected in ((0.0, 0.0), (0.005, 0.0005), (2.9, 0.29), (6.6, 0.66), (1e6, 0.999)):
        chances = curves.chances(places, np.full(2, age))
        assert chances.tolist() == pytest.approx([expected, min(expected, 0.3)], abs=1e-6)
