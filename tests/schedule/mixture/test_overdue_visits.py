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
    assert counter.count(now, 20, HostCaps()) == 0
    counter.visits_per_day = 0.5
    assert counter.max_days == 160.0
    assert counter.count(now, 20, HostCaps()) == 0
    counter.visits_per_day = 1.0
    assert counter.max_days == 80.0
    assert counter.count(now, 20, HostCaps()) == 1
    assert counter.count(now, 4, HostCaps()) == 0
    assert counter.count(now, 40, HostCaps()) == 1


def test_a_month_without_visits_makes_rounds_longer_and_released_visits_do_not_count() -> None:
    counter = overdue([0.0, 1.0])
    assert counter.max_days == np.inf
    counter.count(0.0, 1, HostCaps())
    counter.add_visits(60)
    assert counter.visits_per_day == 2.0
    counter.add_visits(-30)
    assert counter.visits_per_day == 1.0
    counter.count(overdue_visits.MEMORY_DAYS * DAY_SECONDS, 1, HostCaps())
    assert counter.visits_per_day == pytest.approx(np.exp(-1.0))
    counter.count(0.0, 1, HostCaps())
    assert counter.visits_per_day == pytest.approx(np.exp(-1.0))


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
