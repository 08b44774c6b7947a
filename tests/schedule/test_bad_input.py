"""The default policy on unusual collections, clocks and visits."""

from collections.abc import Callable

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps, PageIdArray
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.objectives import ObjectiveName
from tests.schedule.bayes_samples import bayes_policy, choose, pages, visits

Truth = Callable[[PageIdArray, float], np.ndarray]
each_objective = pytest.mark.parametrize("objective", ["changes", "freshness"])
each_clock = pytest.mark.parametrize("live", [False, True])


def crawl(policy: BayesPolicy, truth: Truth, days: range, per_day: int) -> dict[int, list[float]]:
    """Return the days of the visits of each page; check every choice."""
    days_by_page: dict[int, list[float]] = {}
    for day in days:
        choices = policy.choose(from_epoch(day * DAY_SECONDS), per_day, HostCaps())
        is_unseen = np.isnan(choices.chances)
        assert np.all(np.isinf(choices.values[is_unseen]))
        assert np.all(np.isfinite(choices.values[~is_unseen]) & (choices.values[~is_unseen] >= 0))
        assert np.all((choices.chances[~is_unseen] >= 0) & (choices.chances[~is_unseen] <= 1))
        assert len(set(choices.pages.tolist())) == len(choices.pages)
        for page in choices.pages.tolist():
            days_by_page.setdefault(page, []).append(float(day))
        policy.learn(visits(choices.pages, float(day), truth(choices.pages, float(day))))
    assert np.isfinite(policy.page_states.column("likelihood")).all()
    return days_by_page


def never(pages: PageIdArray, day: float) -> np.ndarray:
    return np.zeros(len(pages), np.bool_)


def always(pages: PageIdArray, day: float) -> np.ndarray:
    return np.ones(len(pages), np.bool_)


def longest_gap(days_by_page: dict[int, list[float]], end: float) -> float:
    """Return the longest time between two visits of a page, the start and the end included."""
    return max(np.diff([0.0, *days, end]).max() for days in days_by_page.values())


@each_objective
@each_clock
@pytest.mark.parametrize("truth", [never, always])
def test_a_single_page_is_visited_on_every_day(
    objective: ObjectiveName, live: bool, truth: Truth
) -> None:
    policy = bayes_policy(objective, live=live)
    policy.add(pages([7]))
    assert crawl(policy, truth, range(30), 1) == {7: [float(day) for day in range(30)]}


@each_objective
@each_clock
def test_pages_that_never_change_are_visited_in_turn(objective: ObjectiveName, live: bool) -> None:
    policy = bayes_policy(objective, live=live)
    policy.add(pages(range(60), host_pages=20))
    days_by_page = crawl(policy, never, range(100), 6)
    assert len(days_by_page) == 60
    assert longest_gap(days_by_page, 100.0) <= 2 * 60 / 6


@each_objective
@each_clock
def test_a_site_that_is_redesigned_daily_wastes_no_visit(
    objective: ObjectiveName, live: bool
) -> None:
    policy = bayes_policy(objective, live=live)
    policy.add(pages(range(60), host_pages=60))
    days_by_page = crawl(policy, always, range(100), 6)
    assert len(days_by_page) == 60
    assert longest_gap(days_by_page, 100.0) <= 4 * 60 / 6
    (rate,) = policy._model.events.event_rates(np.zeros(1, np.int32))
    assert 0 < rate < 10


@each_clock
def test_freshness_visits_every_page_again_within_eight_rounds(live: bool) -> None:
    policy, rng = bayes_policy("freshness", live=live), np.random.default_rng(0)
    rates, seen = np.geomspace(0.001, 3, 60), np.zeros(60)
    policy.add(pages(range(60), host_pages=20))

    def at_random(ids: PageIdArray, day: float) -> np.ndarray:
        chances = -np.expm1(-rates[ids] * (day - seen[ids]))
        seen[ids] = day
        return rng.random(len(ids)) < chances

    days_by_page = crawl(policy, at_random, range(200), 6)
    assert len(days_by_page) == 60
    assert longest_gap(days_by_page, 200.0) <= 8 * 60 / 6


@each_objective
@each_clock
def test_pages_added_at_once_and_again_later_are_seen_before_others_return(
    objective: ObjectiveName, live: bool
) -> None:
    policy = bayes_policy(objective, live=live)
    policy.add(pages(range(1_000), host_pages=50))
    crawl(policy, never, range(4), 250)
    policy.add(pages(range(1_000, 2_000), host_pages=50))
    days_by_page = crawl(policy, always, range(4, 8), 250)
    assert sorted(days_by_page) == list(range(1_000, 2_000))
    assert len(crawl(policy, always, range(8, 9), 250)) == 250


@each_objective
@each_clock
def test_clocks_that_jump_leave_no_page_out(objective: ObjectiveName, live: bool) -> None:
    policy = bayes_policy(objective, live=live)
    policy.add(pages(range(40), host_pages=20))
    crawl(policy, always, range(10), 10)
    crawl(policy, always, range(5_000, 5_003), 10)
    days_by_page = crawl(policy, never, range(10, 30), 10)
    assert sorted(days_by_page) == list(range(40))
    rates = policy._model.events.event_rates(np.arange(2, dtype=np.int32))
    assert np.all((rates > 0) & (rates < 1))


@each_objective
@each_clock
def test_visits_out_of_order_twice_or_of_unknown_pages_do_no_harm(
    objective: ObjectiveName, live: bool
) -> None:
    policy = bayes_policy(objective, live=live)
    policy.add(pages(range(20), host_pages=20))
    crawl(policy, always, range(5), 10)
    policy.learn(visits([3, 3, 3, 999, 4], [4.0, 2.0, 4.0, 4.0, 1.0], True))
    policy.learn(visits([], 4.0))
    days_by_page = crawl(policy, never, range(5, 15), 10)
    assert sorted(days_by_page) == list(range(20))


@each_objective
@each_clock
def test_a_host_whose_pages_are_all_forgotten_can_come_back(
    objective: ObjectiveName, live: bool
) -> None:
    policy = bayes_policy(objective, live=live)
    policy.add(pages(range(40), host_pages=20))
    crawl(policy, always, range(6), 20)
    policy.forget(np.arange(20))
    assert set(choose(policy, 6.001, 40).tolist()) == set(range(20, 40))
    policy.release(np.arange(20, 40))
    policy.add(pages(range(20), host_pages=20))
    days_by_page = crawl(policy, never, range(7, 12), 20)
    assert sorted(days_by_page) == list(range(40))
    policy.forget(np.arange(40))
    assert len(choose(policy, 12.001, 5)) == 0


@each_objective
def test_pages_forgotten_within_the_hour_are_not_chosen(objective: ObjectiveName) -> None:
    policy = bayes_policy(objective)
    policy.add(pages(range(40), host_pages=20))
    crawl(policy, always, range(5), 40)
    choose(policy, 5.0, 1)
    policy.forget(np.arange(30))
    assert set(choose(policy, 5.001, 40).tolist()) <= set(range(30, 40))


@each_objective
def test_hosts_added_between_two_choices_are_chosen_and_explained(objective: ObjectiveName) -> None:
    policy = bayes_policy(objective)
    policy.add(pages(range(20), host_pages=20))
    policy.choose(from_epoch(10 * DAY_SECONDS), 20, HostCaps())
    policy.learn(visits(range(20), 10.0))
    policy.add(pages(range(20, 40), host_pages=20))
    assert policy.explain(25, from_epoch(10.001 * DAY_SECONDS)).shared_event is None
    for day in (10.001, 10.002, 10.003):
        policy.learn(visits(range(20, 40), day, day > 10.002))
    chosen = policy.choose(from_epoch(10.004 * DAY_SECONDS), 40, HostCaps())
    assert sorted(chosen.pages.tolist()) == list(range(40))


def test_a_page_that_was_never_looked_at_has_no_report_of_a_shared_event() -> None:
    policy = bayes_policy("changes")
    policy.add(pages(range(20), host_pages=20))
    for day in range(10, 20):
        policy.learn(visits(range(10), float(day), day == 19))
        policy.release(policy.choose(from_epoch(day * DAY_SECONDS), 1, HostCaps()).pages)
    now = from_epoch(19.1 * DAY_SECONDS)
    policy.release(policy.choose(now, 1, HostCaps()).pages)
    assert policy.explain(15, now).shared_event is None
    assert policy.explain(5, now).shared_event is not None
