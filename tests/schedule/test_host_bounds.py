"""Bounds of the values of all pages of a host, and choices that need few exact values."""

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.schedule import value_threshold
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.host_bounds import host_bounds
from freshet.schedule.hosts.kernels.publication_times import DAY_HOURS, WEEK_DAYS, fill_profile
from freshet.schedule.kernels.due_pages import LATEST_DUE
from freshet.schedule.objectives import ObjectiveName
from freshet.schedule.value_threshold import ValueThreshold
from tests.schedule.bayes_samples import bayes_policy as new_policy
from tests.schedule.bayes_samples import pages, visits

HOST_PAGES, HOSTS, NOON_SHARE = 500, 3, 0.6
COUNT = HOSTS * HOST_PAGES
MAX_FACTOR = 4.0
each_objective = pytest.mark.parametrize("objective", ["changes", "freshness"])


def eventful_policy(objective: ObjectiveName) -> BayesPolicy:
    """Return a policy of three hosts, one with an event on day 12 and one that changes at noon."""
    policy, rng = new_policy(objective), np.random.default_rng(1)
    policy.add(pages(range(COUNT), host_pages=HOST_PAGES))
    own_chances = rng.beta(0.3, 2.0, COUNT)
    for step in range(60):
        day = step / 3
        ids = np.sort(rng.choice(COUNT, 150, replace=False))
        changed = rng.random(150) < own_chances[ids]
        changed |= (ids < HOST_PAGES) & (11.8 < day < 13) & (rng.random(150) < 0.8)
        is_noon = (ids >= 2 * HOST_PAGES) & (step % 3 == 2)
        changed |= is_noon & (rng.random(150) < NOON_SHARE)
        policy.learn(visits(ids, day, changed))
        policy.release(policy.choose(from_epoch(day * DAY_SECONDS), 1, HostCaps()).pages)
    factors = np.exp(rng.uniform(np.log(1 / MAX_FACTOR), np.log(MAX_FACTOR), COUNT))
    policy.set_value_factors(np.arange(COUNT), factors)
    return policy


@each_objective
def test_no_value_exceeds_its_bound_and_bounds_are_close(objective: ObjectiveName) -> None:
    policy, now = eventful_policy(objective), 20.2 * DAY_SECONDS
    policy.refit(from_epoch(now))
    states = policy.page_states
    states.pending[:3] = True
    assert policy._model.publication_times.profile(2) is not None
    for host in range(HOSTS):
        rows = np.flatnonzero(states.host == host)
        bounds = host_bounds(policy._model, host, rows, now)
        assert bounds is not None
        assert np.array_equal(bounds.bounds == -1.0, states.pending[rows])
        scores = policy.page_scores(rows, now)
        is_seen = np.isfinite(scores.values) & ~states.pending[rows]
        assert np.all(bounds.bounds[np.isinf(scores.values)] == np.inf)
        values = scores.values[is_seen]
        assert np.all(bounds.bounds[is_seen] >= values)
        assert np.median(bounds.bounds[is_seen] / values) < 1.05
        best = bounds.best_rows[0]
        assert bounds.bounds[rows == best] == bounds.bounds[is_seen].max()
        assert np.count_nonzero(bounds.bounds >= bounds.level_of(20)) >= 20
        assert bounds.level_of(COUNT) == 0.0


@each_objective
def test_bounds_fade_evidence_by_the_hours_of_the_host(objective: ObjectiveName) -> None:
    policy = eventful_policy(objective)
    policy.refit(from_epoch(20.2 * DAY_SECONDS))
    hours = np.full(DAY_HOURS, 0.01, np.float32)
    hours[4] = 1.0
    times = policy._model.publication_times
    reading = times._profiles["reading"][times._hosts["profile"][2]]
    fill_profile(reading, (hours, np.ones(WEEK_DAYS, np.float32)))
    rows = np.flatnonzero(policy.page_states.host == 2)
    for day in (20.1, 20.25, 20.5):
        bounds = host_bounds(policy._model, 2, rows, day * DAY_SECONDS)
        assert bounds is not None
        values = policy.page_scores(rows, day * DAY_SECONDS).values
        assert np.all(bounds.bounds >= values)


@each_objective
def test_deferred_pages_stay_below_the_level_until_they_are_due(objective: ObjectiveName) -> None:
    policy, now = eventful_policy(objective), 20.2 * DAY_SECONDS
    policy.refit(from_epoch(now))
    states = policy.page_states
    for host in range(HOSTS):
        rows = np.flatnonzero(states.host == host)
        bounds = host_bounds(policy._model, host, rows, now)
        assert bounds is not None
        level = bounds.level_of(100)
        due = np.full(COUNT, LATEST_DUE, np.uint32)
        options = (0.9 * level, level, now)
        soon_rows = bounds.set_due_times(rows, due, options, int(now) + 60)
        assert soon_rows.tolist() == np.flatnonzero(due <= int(now) + 60).tolist()
        due = due[rows]
        assert np.array_equal(due > now, bounds.bounds < 0.9 * level)
        for hours in (0.2, 1.0, 6.0):
            later = now + hours * DAY_SECONDS / 24
            values = policy.page_scores(rows, later).values
            assert np.all(values[due > later] < level)


@each_objective
@pytest.mark.parametrize("k", [6, 60])
def test_choices_after_events_are_those_of_scoring_all_pages(
    objective: ObjectiveName, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best of all pages are chosen, while few pages are scored."""
    policy, rng, scored = eventful_policy(objective), np.random.default_rng(2), []
    original = ValueThreshold.rows_above

    def count_rows(threshold: ValueThreshold, rows: np.ndarray, now: float, reserve: int) -> object:
        scored.append(len(rows))
        return original(threshold, rows, now, reserve)

    monkeypatch.setattr(ValueThreshold, "rows_above", count_rows)
    monkeypatch.setattr(value_threshold, "MIN_RESERVE", 20)
    monkeypatch.setattr(value_threshold, "HOST_RESERVE", 10)
    monkeypatch.setattr(value_threshold, "RESERVE_SHARE", 15)
    monkeypatch.setattr(value_threshold, "MIN_BOUNDED_PAGES", 100)
    for step in range(60):
        moment = (20.01 + step / 2000) * DAY_SECONDS
        policy._refit_if_due(moment)
        rows = policy.page_states.eligible_rows(moment, HostCaps())
        best_values = np.sort(policy.page_scores(rows, moment).values)[-k:]
        choices = policy.choose(from_epoch(moment), k, HostCaps())
        own_values = choices.values[~choices.exploratory]
        are_best = np.isclose(own_values[:, np.newaxis], best_values, rtol=1e-9, atol=0.0)
        assert are_best.any(axis=1).all()
        assert np.all(choices.values[choices.exploratory] < best_values[0])
        seen = np.append(choices.pages, step % HOSTS * HOST_PAGES + rng.choice(HOST_PAGES, 8))
        changed = np.append(rng.random(k) < 0.3, np.ones(8, np.bool_))
        policy.learn(visits(seen, moment / DAY_SECONDS, changed))
    assert k > 6 or np.median(scored) < COUNT / 4


@each_objective
def test_known_bounds_of_a_host_are_not_computed_again(
    objective: ObjectiveName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(value_threshold, "MIN_BOUNDED_PAGES", 100)
    policy, now = eventful_policy(objective), 20.02 * DAY_SECONDS
    policy.release(policy.choose(from_epoch(now), 6, HostCaps()).pages)
    threshold, hosts = policy._threshold, np.array([0])
    threshold.mark_hosts(hosts)
    bounds = threshold.value_moved_hosts(now, HostCaps(), 20)
    levels, due = dict(threshold._host_levels), policy.page_states.column("due").copy()
    assert list(bounds) == list(levels) == [0]
    monkeypatch.delattr(value_threshold, "host_bounds")
    threshold.mark_hosts(hosts)
    threshold.value_moved_hosts(now, HostCaps(), 20, bounds)
    assert threshold._host_levels == levels
    assert np.array_equal(policy.page_states.column("due"), due)
