"""Sentinel visits: one page of a host is looked at to notice shared events."""

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.schedule.bayes_policy import SMOOTHING_VISITS, BayesPolicy
from freshet.schedule.objectives import ObjectiveName
from freshet.schedule.sentinels import GAINING_SHARE
from tests.schedule.bayes_samples import bayes_policy, choose, pages, visits

HOST_PAGES, NOW = 40, 10.0 * DAY_SECONDS
each_objective = pytest.mark.parametrize("objective", ["changes", "freshness"])


def quiet_policy(objective: ObjectiveName) -> BayesPolicy:
    """Return a policy whose two hosts were looked at daily and never changed, until day 4."""
    policy = bayes_policy(objective)
    policy.add(pages(range(2 * HOST_PAGES), host_pages=HOST_PAGES))
    for day in range(5):
        policy.learn(visits(range(2 * HOST_PAGES), float(day)))
    policy._refit_if_due(NOW)
    return policy


@each_objective
def test_the_best_page_of_each_host_is_its_sentinel(objective: ObjectiveName) -> None:
    policy = quiet_policy(objective)
    rows = np.arange(2 * HOST_PAGES)
    values = np.linspace(0.1, 0.2, len(rows))
    values[[7, 50]] = 0.9, np.inf
    policy._sentinels.consider(rows, values)
    bonuses = policy._sentinels.bonuses(rows, NOW, 0.25)
    assert np.flatnonzero(bonuses).tolist() == [7, 79]
    hazard = policy._model.events.unconfirmed_hazards(
        np.zeros(1, np.int32), np.array([4.0]), np.array([10.0])
    )[0]
    assert hazard > 0.01
    gain = 1 - 0.25 if objective == "changes" else 0.25
    assert bonuses[7] == pytest.approx(GAINING_SHARE * HOST_PAGES * gain * -np.expm1(-hazard))


@each_objective
def test_pages_are_exploratory_if_others_have_a_higher_value(objective: ObjectiveName) -> None:
    policy = quiet_policy(objective)
    rows, values = np.array([7, 8, 79]), np.array([0.3, 0.2, 0.2])
    policy._sentinels.consider(np.array([7, 79]), np.array([0.3, 0.2]))
    explore = policy._sentinels.exploratory
    assert explore(rows, values, 0.25).tolist() == [False, False, True]
    assert explore(rows, values, 0.2).tolist() == [False, False, False]
    assert explore(rows, values, np.inf).tolist() == [True, False, True]


@each_objective
def test_a_host_limit_that_keeps_better_pages_out_makes_no_visit_exploratory(
    objective: ObjectiveName,
) -> None:
    policy = quiet_policy(objective)
    policy.learn(visits(range(HOST_PAGES), 9.0, True))
    policy.multiplier = 1e-3
    limited = HostCaps(default_limit=1)
    choices = policy.choose(from_epoch(NOW), 2, limited)
    assert sorted((choices.pages // HOST_PAGES).tolist()) == [0, 1]
    assert choices.exploratory is not None
    assert not choices.exploratory.any()


@each_objective
def test_the_multiplier_moves_if_every_chosen_page_is_a_sentinel(objective: ObjectiveName) -> None:
    policy = quiet_policy(objective)
    best_value = policy.page_scores(np.arange(2 * HOST_PAGES), NOW).values.max()
    policy.multiplier = before = 0.05
    chosen = policy.choose(from_epoch(NOW), 1, HostCaps())
    assert policy._sentinels._are_among(policy.page_states.find_rows(chosen.pages)).all()
    assert policy.multiplier == pytest.approx(before + (best_value - before) / SMOOTHING_VISITS)


def test_an_explanation_does_not_move_the_bounds_of_sentinels() -> None:
    policy = quiet_policy("changes")
    policy.choose(from_epoch(NOW), 2, HostCaps())
    before = policy._sentinels._bounds.copy()
    assert np.isfinite(before).any()
    values = [
        policy.explain(page, from_epoch(NOW + DAY_SECONDS)).exploration_value
        for page in range(2 * HOST_PAGES)
    ]
    assert max(values) > 0
    assert np.array_equal(policy._sentinels._bounds, before)


def test_sentinels_stay_the_same_pages_when_others_are_forgotten() -> None:
    policy = quiet_policy("changes")
    policy._sentinels.consider(np.array([7, 50]), np.array([0.3, 0.2]))
    policy.forget(np.array([3, 50, 60]))
    rows = np.arange(len(policy.page_states))
    bonuses = policy._sentinels.bonuses(rows, NOW, 0.1)
    assert policy.page_states.ids[np.flatnonzero(bonuses)].tolist() == [7]


@each_objective
def test_an_event_that_a_few_looks_reveal_makes_the_other_pages_due(
    objective: ObjectiveName,
) -> None:
    policy = quiet_policy(objective)
    before = policy.choose(from_epoch(NOW), 0, HostCaps())
    assert len(before.pages) == 0
    chances = [policy._model.page_scores(np.array([20, 60]), NOW).chances]
    policy.learn(visits(range(10), 10.0, True))
    chosen = choose(policy, 10.001, 20)
    chances.append(policy._model.page_scores(np.array([20, 60]), NOW).chances)
    assert set(chosen.tolist()) <= set(range(10, HOST_PAGES))
    assert chances[0].max() < 0.2
    assert chances[1][0] > 0.5
    assert chances[1][1] == pytest.approx(chances[0][1], abs=0.1)


@each_objective
def test_a_look_under_way_counts_as_made_until_it_is_released(objective: ObjectiveName) -> None:
    policy = quiet_policy(objective)
    rows = np.arange(2 * HOST_PAGES)
    policy._sentinels.consider(rows, np.linspace(0.1, 0.2, len(rows)))
    before = policy._sentinels.bonuses(rows, NOW, 0.25)[[39, 79]]
    policy.page_states.mark_pending(rows[:1])
    policy._sentinels.await_looks(rows[:1], NOW)
    under_way = policy._sentinels.bonuses(rows, NOW, 0.25)[[39, 79]]
    assert under_way.tolist() == [0.0, before[1]]
    later = policy._sentinels.bonuses(rows, NOW + 0.5 * DAY_SECONDS, 0.25)[39]
    assert 0.0 < later < before[0]
    policy.release(np.array([0]))
    assert policy._sentinels.bonuses(rows, NOW, 0.25)[[39, 79]].tolist() == before.tolist()


@each_objective
def test_choices_without_answers_take_sentinels_of_the_hosts_in_turn(
    objective: ObjectiveName,
) -> None:
    policy = quiet_policy(objective)
    policy.multiplier = 0.05
    chosen = [
        policy.choose(from_epoch(NOW + 3600.0 * hour), 1, HostCaps()).pages for hour in range(6)
    ]
    hosts = [int(page_ids[0]) // HOST_PAGES for page_ids in chosen]
    assert hosts in ([0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0])
