"""The default policy as a whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.objectives import OBJECTIVES, ObjectiveName, PageScores, days_below_multiplier
from tests.schedule.bayes_samples import choose, crawled, pages, policy, visits

AIMS: tuple[ObjectiveName, ...] = ("changes", "freshness")
each_aim = pytest.mark.parametrize("aim", AIMS)


def busy(aim: ObjectiveName, count: int) -> BayesPolicy:
    """Return a live policy whose many pages were each looked at twice."""
    made, rng = policy(aim), np.random.default_rng(7)
    made.add(pages(range(count), host_pages=40, directory_pages=25))
    for start in (0.0, 10.0):
        ids = rng.permutation(count)
        days = start + np.sort(rng.uniform(0, 10, count))
        made.learn(visits(ids, days, rng.random(count) < 0.3))
    return made


@each_aim
def test_a_page_that_changes_is_chosen_before_one_that_does_not(aim: ObjectiveName) -> None:
    made = policy(aim)
    made.add(pages([0, 40]))
    for day in range(10):
        made.learn(visits([0, 40], float(day), [True, False]))
    assert choose(made, 9.5, 2).tolist() == [0, 40]


def test_freshness_gives_up_a_page_that_changes_all_the_time() -> None:
    ids, days = [0, 40], np.arange(0, 6, 0.01)
    orders = {}
    for aim in AIMS:
        made = policy(aim)
        made.add(pages(ids))
        for day in days:
            made.learn(visits([0], float(day), True))
        for day in range(6):
            made.learn(visits([40], float(day), day % 3 == 0))
        orders[aim] = choose(made, 6.5, 1).tolist()
    assert orders == {"changes": [0], "freshness": [40]}


def test_importance_and_failures_scale_the_value() -> None:
    made = policy()
    made.add(pages([0, 1, 2], host_pages=1))
    for day in (0.0, 1.0):
        made.learn(visits([0, 1, 2], day, True))
    table = pages([0])
    table.importance[:] = 3.0
    made.add(table)
    made.learn(visits([2], 1.0, looks=False))
    found = made.choose(from_epoch(2 * DAY_SECONDS), 3, HostCaps())
    values = dict(zip(found.pages.tolist(), found.values.tolist(), strict=True))
    assert values[0] == pytest.approx(3 * values[1])
    chance = (0.9**2 + 0.9 + 1) / (0.9**2 + 0.9 + 2)
    assert 0.7 < values[2] / values[1] < 0.8
    assert values[2] / values[1] == pytest.approx(chance, rel=0.05)


@each_aim
@pytest.mark.parametrize("live", [False, True])
def test_the_order_in_which_pages_were_added_does_not_matter(
    aim: ObjectiveName, live: bool
) -> None:
    shuffled = np.random.default_rng(5).permutation(40)
    one, other = policy(aim, live=live), policy(aim, live=live)
    one.add(pages(range(40), since_day=-1.0))
    other.add(pages(shuffled.tolist(), since_day=-1.0))
    for day in range(8):
        ids = np.arange(40) if day < 2 else choose(one, day, 9)
        if day >= 2:
            assert choose(other, day, 9).tolist() == ids.tolist()
        one.learn(visits(ids, float(day), ids % 3 == 0))
        back = ids[::-1].copy()
        other.learn(visits(back, float(day), back % 3 == 0))


@each_aim
def test_learning_at_once_and_visit_by_visit_give_the_same_choices(aim: ObjectiveName) -> None:
    one, other = policy(aim), policy(aim)
    for made in (one, other):
        made.add(pages(range(30)))
    rng = np.random.default_rng(3)
    ids, changed = rng.integers(0, 30, 200), rng.random(200) < 0.4
    days, looked = np.sort(rng.uniform(0, 30, 200)), rng.random(200) < 0.9
    one.learn(visits(ids, days, changed, looks=looked))
    for place in range(200):
        here = slice(place, place + 1)
        other.learn(visits(ids[here], days[here], changed[here], looks=looked[here]))
    mine, its = (made.choose(from_epoch(3e6), 30, HostCaps()) for made in (one, other))
    assert mine.pages.tolist() == its.pages.tolist()
    assert mine.values.tolist() == its.values.tolist()


@each_aim
@pytest.mark.parametrize("live", [False, True])
def test_a_restored_policy_goes_on_as_the_first_would(aim: ObjectiveName, live: bool) -> None:
    one, other = crawled(aim, 60, 9, live=live), policy(aim, live=live)
    other.restore(one.state())
    for day in range(9, 14):
        ids = choose(one, day, 12)
        assert choose(other, day, 12).tolist() == ids.tolist()
        for made in (one, other):
            made.learn(visits(ids, float(day), ids % 4 == 0))


@each_aim
def test_pages_that_are_not_due_are_never_among_the_best(aim: ObjectiveName) -> None:
    """The choice among due pages is that of all pages, while few of them are scored."""
    made, rng = busy(aim, 6_000), np.random.default_rng(1)
    scored = []
    for step in range(60):
        moment = (20 + step / 100) * DAY_SECONDS
        made._plan(moment)
        rows = made.page_states.eligible_rows(moment, HostCaps())
        every = made._forecasts.page_scores(rows, moment)
        scored.append(np.count_nonzero(made.page_states.column("due") <= moment))
        found = made.choose(from_epoch(moment), 5, HostCaps())
        assert sorted(found.values) == pytest.approx(sorted(every.values)[-5:], rel=1e-9)
        made.learn(visits(found.pages, moment / DAY_SECONDS, rng.random(5) < 0.5))
    assert np.median(scored) < 2_000


@each_aim
def test_a_budget_that_grows_at_once_is_spent_in_full(aim: ObjectiveName) -> None:
    made = busy(aim, 6_000)
    assert len(choose(made, 20.0, 1)) == 1
    assert len(choose(made, 20.0, 4_000)) == 4_000
    assert len(choose(made, 20.0, 4_000)) == 1_999


@settings(deadline=None, max_examples=30)
@given(
    k=st.integers(0, 60),
    rooms=st.lists(st.integers(0, 6), min_size=2, max_size=2),
    barred=st.sets(st.integers(0, 59), max_size=20),
)
def test_a_plan_stays_within_budget_and_caps(k: int, rooms: list[int], barred: set[int]) -> None:
    made = crawled("freshness", 60, 4)
    caps = HostCaps(
        np.array([0, 1], np.uint64),
        np.array(rooms),
        default_limit=3,
        excluded_pages=np.array(list(barred)),
    )
    chosen = choose(made, 4, k, caps).tolist()
    free = [page for page in range(60) if page not in barred]
    room = {host: rooms[host] if host < 2 else 3 for host in range(15)}
    possible = sum(min(room[host], sum(page // 4 == host for page in free)) for host in room)
    assert len(chosen) == len(set(chosen)) == min(k, possible)
    assert not barred & set(chosen)
    assert all(sum(page // 4 == host for page in chosen) <= room[host] for host in room)


@each_aim
def test_a_released_page_can_be_chosen_again(aim: ObjectiveName) -> None:
    made = crawled(aim, 20, 4, live=True)
    first = choose(made, 5.0, 20)
    assert len(first) == 20
    made.release(first[3:4])
    assert choose(made, 5.0, 20).tolist() == first[3:4].tolist()


@each_aim
def test_an_explanation_names_what_the_choice_rests_on(aim: ObjectiveName) -> None:
    made = crawled(aim, 40, 12, live=True)
    now = from_epoch(12.5 * DAY_SECONDS)
    found = made.choose(now, 1, HostCaps())
    page = int(found.pages[0])
    told = made.explain(page, now)
    assert (told.page, told.policy) == (page, f"bayes-{aim}")
    assert told.value == found.values[0]
    assert told.chance == found.chances[0]
    assert told.rate_low <= told.rate <= told.rate_high
    assert told.host_looks >= told.looks >= told.changes
    assert told.effective_age_days == pytest.approx(told.clock * told.age_days)


def test_an_explained_page_is_due_when_its_value_reaches_the_multiplier() -> None:
    made = crawled("freshness", 40, 12, live=True)
    now = 12.5 * DAY_SECONDS
    made.choose(from_epoch(now), 5, HostCaps())
    told = [made.explain(page, from_epoch(now)) for page in range(40)]
    assert sum(each.due is not None for each in told) > 20
    for page, (due, value, chance) in enumerate((one.due, one.value, one.chance) for one in told):
        if due is None:
            assert value < made.multiplier
            assert chance >= 0.95
        elif due == now:
            assert value >= made.multiplier
        else:
            row = int(made.page_states.find_rows(np.array([page]))[0])
            days = np.array([0.98, 1.0]) * (due - now) / DAY_SECONDS
            early, late = made._forecasts.scores_after_days(row, now, days).values
            assert early < made.multiplier <= late * (1 + 1e-9)


def test_a_page_that_was_never_seen_is_explained_without_a_chance() -> None:
    made = policy()
    made.add(pages([3]))
    told = made.explain(3, from_epoch(0))
    assert (told.chance, told.clock, told.value) == (None, None, np.inf)
    assert told.rate == pytest.approx(told.prior_rate)
    with pytest.raises(KeyError):
        made.explain(4, from_epoch(0))


@settings(deadline=None)
@given(st.floats(0.1, 30), st.floats(0.1, 5), st.floats(1.01, 100), st.sampled_from(AIMS))
def test_no_value_reaches_the_multiplier_sooner_than_said(
    age: float, rate: float, times: float, aim: ObjectiveName
) -> None:
    def value(days: float) -> float:
        still = np.exp(-rate * days)
        return 1 - still if aim == "changes" else (1 - (1 + rate * days) * still) / rate

    scores = PageScores(np.array([age]), np.array([0.5]), np.array([value(age)]))
    (wait,) = days_below_multiplier(scores, times * value(age), OBJECTIVES[aim])
    assert wait > 0
    assert value(age + wait) <= times * value(age) * (1 + 1e-6)


def test_a_page_of_no_age_is_looked_into_soon_and_one_of_no_value_never() -> None:
    scores = PageScores(np.array([0.0, 2.0]), np.zeros(2), np.zeros(2))
    waits = days_below_multiplier(scores, 0.5, OBJECTIVES["freshness"])
    assert waits.tolist() == [1 / 1440, np.inf]


@each_aim
@pytest.mark.parametrize("step", [-1.0, -1e-4, 1.0])
def test_a_clock_that_jumps_leaves_no_page_out(aim: ObjectiveName, step: float) -> None:
    made = crawled(aim, 40, 6, live=True)
    made.learn(visits(choose(made, 7.0, 10), 7.0))
    assert sorted(choose(made, 7.0 + step, 99).tolist()) == list(range(40))


def test_a_page_takes_less_than_two_hundred_bytes() -> None:
    made = policy()
    for start in range(0, 20_000, 50):
        made.add(pages(range(start, start + 50), host_pages=50, directory_pages=25))
    assert made.page_states.nbytes / 20_000 < 200
