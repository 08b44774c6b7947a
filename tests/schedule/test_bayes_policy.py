"""The default policy as a whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.cadence import CONTINUOUS_CADENCE
from freshet.schedule.objectives import ObjectiveName, PageScores, days_below_multiplier
from tests.schedule.bayes_samples import bayes_policy, choose, crawled_policy, pages, visits

OBJECTIVE_NAMES: tuple[ObjectiveName, ...] = ("changes", "freshness")
each_objective = pytest.mark.parametrize("objective", OBJECTIVE_NAMES)


def busy_policy(objective: ObjectiveName, count: int) -> BayesPolicy:
    """Return a live policy whose many pages were looked at twice each."""
    policy, rng = bayes_policy(objective), np.random.default_rng(7)
    policy.add(pages(range(count), host_pages=40, directory_pages=25))
    for start in (0.0, 10.0):
        ids = rng.permutation(count)
        days = start + np.sort(rng.uniform(0, 10, count))
        policy.learn(visits(ids, days, rng.random(count) < 0.3))
    return policy


@each_objective
def test_a_page_that_changes_is_chosen_before_one_that_does_not(objective: ObjectiveName) -> None:
    policy = bayes_policy(objective)
    policy.add(pages([0, 40]))
    for day in range(10):
        policy.learn(visits([0, 40], float(day), [True, False]))
    assert choose(policy, 9.5, 2).tolist() == [0, 40]


def test_freshness_ignores_a_page_that_changes_all_the_time() -> None:
    ids, days = [0, 40], np.arange(0, 6, 0.01)
    orders = {}
    for objective in OBJECTIVE_NAMES:
        policy = bayes_policy(objective)
        policy.add(pages(ids))
        for day in days:
            policy.learn(visits([0], float(day), True))
        for day in range(6):
            policy.learn(visits([40], float(day), day % 3 == 0))
        orders[objective] = choose(policy, 6.5, 1).tolist()
    assert orders == {"changes": [0], "freshness": [40]}


def test_importance_and_failures_scale_the_value() -> None:
    policy = bayes_policy()
    policy.add(pages([0, 1, 2], host_pages=1))
    for day in (0.0, 1.0):
        policy.learn(visits([0, 1, 2], day, True))
    table = pages([0])
    table.importance[:] = 3.0
    policy.add(table)
    policy.learn(visits([2], 1.0, looks=False))
    choices = policy.choose(from_epoch(2 * DAY_SECONDS), 3, HostCaps())
    values = dict(zip(choices.pages.tolist(), choices.values.tolist(), strict=True))
    assert values[0] == pytest.approx(3 * values[1])
    chance = (0.9**2 + 0.9 + 1) / (0.9**2 + 0.9 + 2)
    assert 0.7 < values[2] / values[1] < 0.8
    assert values[2] / values[1] == pytest.approx(chance, rel=0.05)


@each_objective
@pytest.mark.parametrize("live", [False, True])
def test_the_order_in_which_pages_were_added_does_not_matter(
    objective: ObjectiveName, live: bool
) -> None:
    shuffled = np.random.default_rng(5).permutation(40)
    first, second = bayes_policy(objective, live=live), bayes_policy(objective, live=live)
    first.add(pages(range(40), since_day=-1.0))
    second.add(pages(shuffled.tolist(), since_day=-1.0))
    for day in range(8):
        ids = np.arange(40) if day < 2 else choose(first, day, 9)
        if day >= 2:
            assert choose(second, day, 9).tolist() == ids.tolist()
        first.learn(visits(ids, float(day), ids % 3 == 0))
        reversed_ids = ids[::-1].copy()
        second.learn(visits(reversed_ids, float(day), reversed_ids % 3 == 0))


@each_objective
def test_learning_at_once_and_visit_by_visit_give_the_same_choices(
    objective: ObjectiveName,
) -> None:
    first, second = bayes_policy(objective), bayes_policy(objective)
    for policy in (first, second):
        policy.add(pages(range(30)))
    rng = np.random.default_rng(3)
    ids, changed = rng.integers(0, 30, 200), rng.random(200) < 0.4
    days, looks = np.sort(rng.uniform(0, 30, 200)), rng.random(200) < 0.9
    first.learn(visits(ids, days, changed, looks=looks))
    for position in range(200):
        visit = slice(position, position + 1)
        second.learn(visits(ids[visit], days[visit], changed[visit], looks=looks[visit]))
    first_choices, second_choices = (
        policy.choose(from_epoch(3e6), 30, HostCaps()) for policy in (first, second)
    )
    assert first_choices.pages.tolist() == second_choices.pages.tolist()
    assert first_choices.values.tolist() == second_choices.values.tolist()


@each_objective
@pytest.mark.parametrize("live", [False, True])
def test_a_restored_policy_goes_on_as_the_first_would(objective: ObjectiveName, live: bool) -> None:
    first, second = crawled_policy(objective, 60, 9, live=live), bayes_policy(objective, live=live)
    second.restore(first.state())
    for day in range(9, 14):
        ids = choose(first, day, 12)
        assert choose(second, day, 12).tolist() == ids.tolist()
        for policy in (first, second):
            policy.learn(visits(ids, float(day), ids % 4 == 0))


@each_objective
def test_pages_that_are_not_due_are_never_among_the_best(objective: ObjectiveName) -> None:
    """The choice among due pages is that of all pages, while few of them are scored."""
    policy, rng = busy_policy(objective, 6_000), np.random.default_rng(1)
    scored = []
    for step in range(60):
        moment = (20 + step / 100) * DAY_SECONDS
        policy._refit_if_due(moment)
        rows = policy.page_states.eligible_rows(moment, HostCaps())
        all_scores = policy._model.page_scores(rows, moment)
        scored.append(np.count_nonzero(policy.page_states.column("due") <= moment))
        choices = policy.choose(from_epoch(moment), 5, HostCaps())
        best_values = np.sort(all_scores.values)[len(rows) - 5 :]
        own_values = np.sort(choices.values[~choices.exploratory])
        assert np.all(own_values >= best_values[0] * (1 - 1e-9))
        assert np.all(choices.values[choices.exploratory] < best_values[0])
        policy.learn(visits(choices.pages, moment / DAY_SECONDS, rng.random(5) < 0.5))
    assert np.median(scored) < 2_000


@each_objective
def test_a_budget_that_grows_at_once_is_spent_in_full(objective: ObjectiveName) -> None:
    policy = busy_policy(objective, 6_000)
    assert len(choose(policy, 20.0, 1)) == 1
    assert len(choose(policy, 20.0, 4_000)) == 4_000
    assert len(choose(policy, 20.0, 4_000)) == 1_999


@settings(deadline=None, max_examples=30)
@given(
    k=st.integers(0, 60),
    limits=st.lists(st.integers(0, 6), min_size=2, max_size=2),
    excluded=st.sets(st.integers(0, 59), max_size=20),
)
def test_a_plan_stays_within_budget_and_caps(k: int, limits: list[int], excluded: set[int]) -> None:
    policy = crawled_policy("freshness", 60, 4)
    caps = HostCaps(
        np.array([0, 1], np.uint64),
        np.array(limits),
        default_limit=3,
        excluded_pages=np.array(list(excluded)),
    )
    chosen = choose(policy, 4, k, caps).tolist()
    free = [page for page in range(60) if page not in excluded]
    limit_by_host = {host: limits[host] if host < 2 else 3 for host in range(15)}
    possible = sum(
        min(limit_by_host[host], sum(page // 4 == host for page in free)) for host in limit_by_host
    )
    assert len(chosen) == len(set(chosen)) == min(k, possible)
    assert not excluded & set(chosen)
    assert all(
        sum(page // 4 == host for page in chosen) <= limit_by_host[host] for host in limit_by_host
    )


@each_objective
def test_a_released_page_can_be_chosen_again(objective: ObjectiveName) -> None:
    policy = crawled_policy(objective, 20, 4, live=True)
    first = choose(policy, 5.0, 20)
    assert len(first) == 20
    policy.release(first[3:4])
    assert choose(policy, 5.0, 20).tolist() == first[3:4].tolist()


@each_objective
def test_an_explanation_has_the_figures_of_the_choice(objective: ObjectiveName) -> None:
    policy = crawled_policy(objective, 40, 12, live=True)
    now = from_epoch(12.5 * DAY_SECONDS)
    choices = policy.choose(now, 1, HostCaps())
    page = int(choices.pages[0])
    explanation = policy.explain(page, now)
    assert (explanation.page, explanation.policy) == (page, f"bayes-{objective}")
    assert explanation.value == choices.values[0]
    assert explanation.chance == choices.chances[0]
    assert explanation.rate_low <= explanation.rate <= explanation.rate_high
    assert explanation.host_looks >= explanation.looks >= explanation.changes
    assert explanation.event_hazard == 0


def test_an_explained_page_is_due_when_its_value_reaches_the_multiplier() -> None:
    policy = crawled_policy("freshness", 40, 12, live=True)
    now = 12.5 * DAY_SECONDS
    policy.choose(from_epoch(now), 5, HostCaps())
    explanations = [policy.explain(page, from_epoch(now)) for page in range(40)]
    assert sum(explanation.due is not None for explanation in explanations) > 20
    for page, (due, value, chance) in enumerate(
        (figures.due, figures.value, figures.chance) for figures in explanations
    ):
        if due is None:
            assert value < policy.multiplier
            assert chance >= 0.95
        elif due == now:
            assert value >= policy.multiplier
        else:
            row = int(policy.page_states.find_rows(np.array([page]))[0])
            days = np.array([0.98, 1.0]) * (due - now) / DAY_SECONDS
            early, late = policy._model.scores_after_days(row, now, days).values
            assert early < policy.multiplier <= late * (1 + 1e-9)


def test_a_page_that_was_never_seen_is_explained_without_a_chance() -> None:
    policy = bayes_policy()
    policy.add(pages([3]))
    explanation = policy.explain(3, from_epoch(0))
    assert (explanation.chance, explanation.clock, explanation.value) == (None, None, np.inf)
    assert explanation.rate == pytest.approx(explanation.prior_rate)
    with pytest.raises(KeyError):
        policy.explain(4, from_epoch(0))


@settings(deadline=None)
@given(
    st.floats(0.1, 30), st.floats(0.1, 5), st.floats(1.01, 100), st.sampled_from(OBJECTIVE_NAMES)
)
def test_no_value_reaches_the_multiplier_sooner_than_the_bound(
    age: float, rate: float, times: float, objective: ObjectiveName
) -> None:
    def value(days: float) -> float:
        survival = np.exp(-rate * days)
        return 1 - survival if objective == "changes" else (1 - (1 + rate * days) * survival) / rate

    scores = PageScores(np.array([age]), np.array([0.5]), np.array([value(age)]))
    (days,) = days_below_multiplier(scores, times * value(age))
    assert days > 0
    assert value(age + days) <= times * value(age) * (1 + 1e-6)


def test_a_page_of_age_zero_is_scored_again_soon_and_one_of_value_zero_never() -> None:
    scores = PageScores(np.array([0.0, 2.0]), np.zeros(2), np.zeros(2))
    days = days_below_multiplier(scores, 0.5)
    assert days.tolist() == [1 / 1440, np.inf]


@each_objective
@pytest.mark.parametrize("step", [-1.0, -1e-4, 1.0])
def test_a_clock_that_jumps_leaves_no_page_out(objective: ObjectiveName, step: float) -> None:
    policy = crawled_policy(objective, 40, 6, live=True)
    policy.learn(visits(choose(policy, 7.0, 10), 7.0))
    assert sorted(choose(policy, 7.0 + step, 99).tolist()) == list(range(40))


def test_a_page_takes_less_than_two_hundred_bytes() -> None:
    policy = bayes_policy()
    for start in range(0, 20_000, 50):
        policy.add(pages(range(start, start + 50), host_pages=50, directory_pages=25))
    assert policy.page_states.nbytes / 20_000 < 200


@each_objective
def test_a_value_factor_scales_the_value_and_not_the_chance(objective: ObjectiveName) -> None:
    policy = busy_policy(objective, 80)
    now, rows = 21 * DAY_SECONDS, policy.page_states.find_rows(np.array([3, 7]))
    policy.refit(from_epoch(now))
    before = policy.page_scores(rows, now)
    policy.set_value_factors(np.array([3, 7]), np.array([2.0, 0.5]))
    after = policy.page_scores(rows, now)
    assert after.values == pytest.approx(before.values * [2.0, 0.5])
    assert after.chances.tolist() == before.chances.tolist()
    assert policy.explain(3, from_epoch(now)).learned_factor == 2.0


def test_chances_at_times_are_those_of_the_scores() -> None:
    policy = busy_policy("freshness", 80)
    policy.add(pages([500]))
    policy.refit(from_epoch(20 * DAY_SECONDS))
    ids = np.array([3, 7, 500])
    rows = policy.page_states.find_rows(ids)
    for day in (20.0, 20.03):
        now = day * DAY_SECONDS
        chances = policy.change_chances(ids, np.full(3, now))
        expected = policy.page_scores(rows, now).chances
        assert chances == pytest.approx(expected, rel=1e-4, nan_ok=True)
    later = policy.change_chances(ids[:2], np.array([21.0, 40.0]) * DAY_SECONDS)
    assert (later > chances[:2]).all()


def test_fresh_days_after_a_look_follow_from_the_rate_and_shared_events() -> None:
    policy = BayesPolicy("bayes", objective="freshness", cadence=CONTINUOUS_CADENCE)
    policy.add(pages(range(8)))
    everything = np.arange(8)
    for day in np.arange(0.0, 12.0, 0.5).tolist():
        policy.learn(visits(everything, day, everything < 4))
    policy.refit(from_epoch(12.0 * DAY_SECONDS))
    days = policy.forecast_model.fresh_days_after_look(everything, 30.0)
    assert days[:4].max() < 1.0
    assert days[4:].min() > 10.0
    assert policy.forecast_model.fresh_days_after_look(everything, 0.01) == pytest.approx(
        0.01, rel=0.1
    )
