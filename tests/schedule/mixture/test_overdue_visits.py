"""Visits of pages that have waited for very many rounds."""

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.schedule.cadence import CONTINUOUS_CADENCE
from freshet.schedule.mixture import overdue_visits
from freshet.schedule.mixture.candidate_ranking import CandidateRanking
from freshet.schedule.mixture.guarded_policy import GuardedPolicy
from freshet.schedule.mixture.overdue_visits import OverdueVisits
from freshet.schedule.page_states import PageStates
from tests.schedule.bayes_samples import pages, visits

PAGES, BUSY_PAGES, PER_DAY, DAYS = 100, 24, 5, 200


def overdue(looked_days: list[float]) -> OverdueVisits:
    """Return the counter for pages that were looked at on some days."""
    states = PageStates()
    states.add(pages(range(len(looked_days))))
    states.last_look[:] = np.array(looked_days) * DAY_SECONDS
    return OverdueVisits(states, CandidateRanking(states, PageStates.days_since_look, seed=0))


def test_only_pages_that_waited_for_more_than_twenty_rounds_are_overdue() -> None:
    counter, now = overdue([0.0, 95.0, 50.0, 96.0]), 100 * DAY_SECONDS
    assert counter.next_rows(now, 20, HostCaps()).tolist() == []
    counter.visits_per_day = 0.5
    assert counter.max_days == 160.0
    assert counter.next_rows(now, 20, HostCaps()).tolist() == []
    counter.visits_per_day = 1.0
    assert counter.max_days == 80.0
    assert counter.next_rows(now, 20, HostCaps()).tolist() == [0]
    assert counter.next_rows(now, 4, HostCaps()).tolist() == []
    assert counter.next_rows(now, 40, HostCaps()).tolist() == [0]
    assert counter._oldest_first._chosen_count == 0


def test_a_month_without_visits_makes_rounds_longer_and_released_visits_do_not_count() -> None:
    counter = overdue([0.0, 1.0])
    assert counter.max_days == np.inf
    counter.next_rows(0.0, 1, HostCaps())
    counter.add_visits(60)
    assert counter.visits_per_day == 2.0
    counter.add_visits(-30)
    assert counter.visits_per_day == 1.0
    counter.next_rows(overdue_visits.MEMORY_DAYS * DAY_SECONDS, 1, HostCaps())
    assert counter.visits_per_day == pytest.approx(np.exp(-1.0))
    counter.next_rows(0.0, 1, HostCaps())
    assert counter.visits_per_day == pytest.approx(np.exp(-1.0))


@pytest.mark.parametrize("limit", [5, 1])
def test_overdue_pages_are_visited_within_host_limits(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first host has room for few of its pages, and its busy pages fill it."""
    monkeypatch.setattr(overdue_visits, "MAX_ROUNDS", 2.0)
    policy = GuardedPolicy("guarded-changes", objective="changes", cadence=CONTINUOUS_CADENCE)
    policy.add(pages(range(40), host_pages=20))
    policy.learn(visits(range(40), 0.0))
    caps = HostCaps(default_limit=limit)
    last_visits = np.zeros(40)
    for day in range(1, 100):
        chosen = policy.choose(from_epoch(day * DAY_SECONDS), 10, caps).pages
        assert len(np.unique(chosen)) == 2 * limit
        assert np.bincount(chosen // 20).max() == limit
        policy.learn(visits(chosen, float(day), chosen < 2 * limit))
        last_visits[chosen] = day
    assert 100 - last_visits.min() <= 1.5 * 2.0 * 40 / (2 * limit)


def test_hosts_without_room_give_room_to_their_overdue_pages() -> None:
    policy = GuardedPolicy("guarded-changes", objective="changes", cadence=CONTINUOUS_CADENCE)
    policy.add(pages(range(40), host_pages=20))
    policy.learn(visits(range(40), 0.0))
    policy.learn(visits(range(40), 100.0))
    for day in range(191, 200):
        seen = np.delete(np.arange(40), 19)
        policy.learn(visits(seen, float(day), seen < 19))
    overdue, caps = policy._overdue_visits, HostCaps(default_limit=5)
    overdue.visits_per_day, overdue._owed_visits = 20.0, 1.0
    now = from_epoch(200 * DAY_SECONDS)
    by_default = policy.default.choose(now, 10, caps)
    policy.release(by_default.pages)
    assert by_default.values[by_default.pages < 20].min() > by_default.values.min()
    chosen = policy.choose(now, 10, caps).pages
    assert 19 in np.setdiff1d(chosen, by_default.pages)
    assert np.bincount(chosen // 20).tolist() == [5, 5]


def longest_wait(days: int) -> float:
    """Return the longest time without a visit if a few pages change at every look."""
    policy = GuardedPolicy("guarded-changes", objective="changes", cadence=CONTINUOUS_CADENCE)
    policy.add(pages(range(PAGES)))
    policy.learn(visits(range(PAGES), 0.0))
    last_visits = np.zeros(PAGES)
    for day in range(1, days):
        chosen = policy.choose(from_epoch(day * DAY_SECONDS), PER_DAY, HostCaps()).pages
        assert len(chosen) == PER_DAY
        policy.learn(visits(chosen, float(day), chosen < BUSY_PAGES))
        last_visits[chosen] = day
    return float(days - last_visits.min())


def test_pages_that_change_at_every_look_do_not_starve_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(overdue_visits, "MAX_ROUNDS", 5.0)
    assert longest_wait(DAYS) <= 1.5 * 5.0 * PAGES / PER_DAY
    monkeypatch.setattr(overdue_visits, "MAX_ROUNDS", 1e6)
    assert longest_wait(DAYS) == DAYS
