"""The laws that every policy obeys, live and in cycles."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.clock import to_epoch
from freshet.core.errors import SettingsError, UsageError
from freshet.core.policy import Policy
from freshet.core.setting_checks import FORMULA_WORDS, LIVE_POLICY_NAMES
from freshet.core.settings import Settings, merge_settings
from freshet.core.tables import (
    ChoiceTable,
    FormulaEvaluation,
    HostCaps,
    PageIdArray,
    PageTable,
    VisitTable,
)
from freshet.formula.expression import FUNCTIONS
from freshet.schedule.policies import (
    CYCLE_POLICY_NAMES,
    FORMULA_VARIABLES,
    LINK_POLICY_NAMES,
    POLICY_NAMES,
    THREAD_POLICY_NAMES,
    make_policy,
)

START = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
FORMULAS = ("t * X", "NAD - 1000 / (t + 1)", "pow(exp(n), t) * GAD", "X / 0",
            "chance * quiet - rate", "around + weekday")  # fmt: skip
LIVE_NAMES = (*POLICY_NAMES, *LINK_POLICY_NAMES, *THREAD_POLICY_NAMES)
ALL_NAMES = (*LIVE_NAMES, *CYCLE_POLICY_NAMES, *FORMULAS)

each_policy = pytest.mark.parametrize("name", ALL_NAMES)


def ids(*pages: int) -> PageIdArray:
    return np.array(pages, np.int64)


def pages(numbers: Sequence[int], *, hosts: int = 3, live: bool = True) -> PageTable:
    """Return pages spread over hosts by their number."""
    keys = np.array([1_000 + number % hosts for number in numbers], np.uint64)
    since = np.nan if live else to_epoch(START) - 86_400
    return PageTable(
        ids=ids(*numbers),
        hosts=keys,
        sites=keys,
        directories=keys,
        importance=np.ones(len(numbers)),
        known_since=np.full(len(numbers), since),
    )


def visits(
    chosen: PageIdArray,
    now: datetime,
    changed: bool | Sequence[bool] = False,
    *,
    looks: bool = True,
) -> VisitTable:
    count = len(chosen)
    return VisitTable(
        pages=chosen,
        times=np.full(count, to_epoch(now)),
        looks=np.full(count, looks),
        measured=np.full(count, looks),
        changed=np.broadcast_to(np.asarray(changed, np.bool_), count).copy(),
        new_links=np.full(count, -1, np.int32),
    )


def learned_policy(name: str, count: int = 12, *, hosts: int = 3, days: int = 2) -> Policy:
    """Return a live policy that looked at every page for some days; every third changes."""
    policy = make_policy(name, seed=3, live=True)
    policy.add(pages(range(count), hosts=hosts))
    everything = ids(*range(count))
    for day in range(-days, 0):
        policy.learn(visits(everything, START + day * DAY, everything % 3 == 0))
    return policy


def numbers(choices: ChoiceTable) -> list[int]:
    return choices.pages.tolist()


def test_the_settings_name_every_policy() -> None:
    assert sorted(LIVE_POLICY_NAMES) == sorted(LIVE_NAMES)


def test_the_settings_list_the_words_of_formulas() -> None:
    assert set(FORMULA_WORDS) == {*FORMULA_VARIABLES, *filter(str.isidentifier, FUNCTIONS)}


@pytest.mark.parametrize("name", ["aged", "Nad", "bayes_freshness", "nad-cycle", "news"])
def test_the_settings_refuse_what_is_neither_a_policy_nor_a_formula(name: str) -> None:
    with pytest.raises(SettingsError, match="must be one of guarded-freshness"):
        merge_settings(Settings(), {"policy": name}, origin="test")


def test_the_settings_take_every_name_of_a_formula_for_one() -> None:
    for name in FORMULA_VARIABLES:
        assert merge_settings(Settings(), {"policy": name}, origin="test").policy == name


def test_a_policy_that_does_not_exist_is_named_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="did you mean bayes-freshness"):
        make_policy("bayes-fresh")


@each_policy
def test_a_policy_knows_its_name(name: str) -> None:
    assert make_policy(name).name == name


@each_policy
def test_a_policy_without_pages_chooses_none(name: str) -> None:
    policy = make_policy(name, live=True)
    assert len(policy.choose(START, 5, HostCaps())) == 0
    assert policy.next_time(START) is None


@each_policy
def test_a_chosen_page_is_pending_until_it_is_learnt_or_released(name: str) -> None:
    policy = learned_policy(name, 4)
    assert sorted(numbers(policy.choose(START, 9, HostCaps()))) == [0, 1, 2, 3]
    assert numbers(policy.choose(START, 9, HostCaps())) == []
    assert policy.next_time(START) is None
    policy.release(ids(2))
    assert policy.next_time(START) == START
    assert numbers(policy.choose(START, 9, HostCaps())) == [2]
    policy.learn(visits(ids(1), START))
    assert numbers(policy.choose(START + DAY, 9, HostCaps())) == [1]


@each_policy
def test_a_failed_visit_ends_pending_and_backs_off(name: str) -> None:
    policy = learned_policy(name, 1)
    policy.choose(START, 1, HostCaps())
    policy.learn(visits(ids(0), START, looks=False))
    assert numbers(policy.choose(START + 0.5 * HOUR, 1, HostCaps())) == []
    due = policy.next_time(START + 0.5 * HOUR)
    assert due == START + HOUR
    assert numbers(policy.choose(due, 1, HostCaps())) == [0]


@each_policy
def test_back_off_ends(name: str) -> None:
    policy = make_policy(name, live=True, longest_backoff_days=2)
    policy.add(pages([0]))
    for _ in range(300):
        policy.learn(visits(ids(0), START, looks=False))
    assert policy.next_time(START) == START + 2 * DAY
    assert not np.isnan(policy.explain(0, START).value)


@each_policy
def test_a_page_is_not_chosen_within_its_interval(name: str) -> None:
    policy = make_policy(name, live=True, page_interval=600.0)
    policy.add(pages([0]))
    policy.learn(visits(ids(0), START))
    assert policy.next_time(START) == START + timedelta(seconds=600)
    assert numbers(policy.choose(START + timedelta(seconds=599), 1, HostCaps())) == []
    assert numbers(policy.choose(START + timedelta(seconds=600), 1, HostCaps())) == [0]


@each_policy
def test_a_forgotten_page_is_not_chosen_and_the_others_keep_what_was_learnt(name: str) -> None:
    policy = learned_policy(name, 6)
    before = {page: policy.explain(page, START) for page in (1, 4, 5)}
    policy.forget(ids(0, 2, 3, 77))
    assert sorted(numbers(policy.choose(START, 9, HostCaps()))) == [1, 4, 5]
    for page, explanation in before.items():
        assert policy.explain(page, START).changes == explanation.changes
        assert policy.explain(page, START).looks == explanation.looks
    with pytest.raises(KeyError):
        policy.explain(0, START)


@each_policy
def test_visits_of_unknown_pages_are_ignored(name: str) -> None:
    policy, second_policy = learned_policy(name, 6), learned_policy(name, 6)
    policy.learn(visits(ids(99, -1), START, True))
    policy.release(ids(99))
    assert numbers(policy.choose(START + DAY, 3, HostCaps())) == numbers(
        second_policy.choose(START + DAY, 3, HostCaps())
    )


@each_policy
def test_a_page_never_seen_comes_before_all_others(name: str) -> None:
    policy = learned_policy(name, 6)
    policy.add(pages([40, 41]))
    assert sorted(numbers(policy.choose(START + 30 * DAY, 2, HostCaps()))) == [40, 41]


@each_policy
def test_adding_a_known_page_again_keeps_what_was_learnt(name: str) -> None:
    policy = learned_policy(name, 6)
    before = policy.explain(3, START)
    policy.add(pages(range(6)))
    after = policy.explain(3, START)
    assert (after.looks, after.changes) == (before.looks, before.changes)
    assert len(policy.choose(START, 99, HostCaps())) == 6


@each_policy
@pytest.mark.parametrize("k", [-1, 0, 1, 5, 12, 99])
def test_a_plan_has_the_budget_or_all_pages(name: str, k: int) -> None:
    chosen = numbers(learned_policy(name).choose(START, k, HostCaps()))
    assert len(chosen) == len(set(chosen)) == max(0, min(k, 12))


@each_policy
@settings(max_examples=25)
@given(
    k=st.integers(0, 40),
    limits=st.lists(st.integers(0, 8), min_size=3, max_size=3),
    default_limit=st.integers(0, 5),
    excluded=st.sets(st.integers(0, 39), max_size=10),
)
def test_no_host_is_visited_beyond_its_limit_and_the_budget_is_spent_on_the_others(
    name: str, k: int, limits: list[int], default_limit: int, excluded: set[int]
) -> None:
    policy = learned_policy(name, 40, hosts=5, days=1)
    hosts = np.array([1_000, 1_001, 1_002], np.uint64)
    caps = HostCaps(hosts, np.array(limits, np.int64), default_limit, ids(*excluded))
    chosen = numbers(policy.choose(START, k, caps))
    limit_by_host = dict(enumerate([*limits, default_limit, default_limit]))
    free = Counter(page % 5 for page in range(40) if page not in excluded)
    visit_counts = Counter(page % 5 for page in chosen)
    assert not excluded & set(chosen)
    assert all(visit_counts[host] <= limit_by_host[host] for host in limit_by_host)
    assert len(chosen) == min(
        k, sum(min(free[host], limit_by_host[host]) for host in limit_by_host)
    )


@each_policy
@pytest.mark.parametrize("live", [True, False])
def test_a_restored_policy_chooses_and_explains_the_same(name: str, live: bool) -> None:
    first_policy = make_policy(name, seed=3, live=live)
    first_policy.add(pages(range(30), live=live))
    everything = ids(*range(30))
    for day in range(3):
        first_policy.learn(visits(everything, START + day * DAY, everything % (day + 2) == 0))
    first_policy.choose(START + 2 * DAY, 4, HostCaps())
    second_policy = make_policy(name, seed=3, live=live)
    second_policy.restore(first_policy.state())
    for day in range(3, 8):
        now = START + day * DAY
        choices, second_choices = (
            policy.choose(now, 6, HostCaps()) for policy in (first_policy, second_policy)
        )
        assert numbers(choices) == numbers(second_choices)
        assert choices.values.tolist() == second_choices.values.tolist()
        for policy in (first_policy, second_policy):
            policy.learn(visits(choices.pages, now, choices.pages % 2 == 0))
    assert first_policy.explain(5, START + 9 * DAY) == second_policy.explain(5, START + 9 * DAY)


@each_policy
def test_a_state_does_not_change_with_its_policy(name: str) -> None:
    policy, second_policy = learned_policy(name), make_policy(name, seed=3, live=True)
    state = policy.state()
    first = numbers(policy.choose(START, 5, HostCaps()))
    policy.learn(visits(ids(*range(12)), START + DAY, True))
    second_policy.restore(state)
    assert numbers(second_policy.choose(START, 5, HostCaps())) == first


@each_policy
def test_the_order_in_which_pages_arrive_does_not_matter(name: str) -> None:
    rows = np.random.default_rng(1).permutation(12)
    policy, second_policy = learned_policy(name), make_policy(name, seed=3, live=True)
    second_policy.add(pages(rows.tolist()))
    for day in (-2, -1):
        shuffled = ids(*rows.tolist())
        second_policy.learn(visits(shuffled, START + day * DAY, shuffled % 3 == 0))
    assert numbers(policy.choose(START, 12, HostCaps())) == numbers(
        second_policy.choose(START, 12, HostCaps())
    )


@each_policy
@pytest.mark.parametrize("live", [True, False])
def test_values_are_always_numbers(name: str, live: bool) -> None:
    """Failures, clocks that jump a day either way, visits in the same second, long silence."""
    policy = make_policy(name, live=live)
    policy.add(pages(range(8), live=live))
    rng = np.random.default_rng(4)
    now = START
    for step in (0, 24, -24, 0, 1e-6, 24, 48, -12, 24 * 400, 24 * 4000):
        now += step * HOUR
        chosen = policy.choose(now, 5, HostCaps())
        assert not np.isnan(chosen.values).any()
        assert np.all((chosen.ages >= 0) & ~np.isnan(chosen.ages))
        assert np.all(np.isnan(chosen.chances) | ((chosen.chances >= 0) & (chosen.chances <= 1)))
        changed = (rng.random(len(chosen)) < 0.5).tolist()
        policy.learn(visits(chosen.pages, now, changed, looks=bool(rng.random() < 0.7)))
        for page in range(8):
            explanation = policy.explain(page, now)
            assert not np.isnan([
                explanation.value,
                explanation.multiplier,
                explanation.age_days,
            ]).any()
            assert 0 < explanation.look_chance <= 1


@each_policy
def test_choices_are_ordered_best_first(name: str) -> None:
    chosen = learned_policy(name, 30).choose(START, 30, HostCaps())
    if name == "bayes-freshness":
        assert chosen.chances.tolist() == sorted(chosen.chances.tolist(), reverse=True)
    else:
        assert chosen.values.tolist() == sorted(chosen.values.tolist(), reverse=True)


def test_a_failing_page_has_less_value_also_if_scores_are_negative() -> None:
    policy = make_policy("X - 10", live=True)
    policy.add(pages(range(2)))
    policy.learn(visits(ids(0, 1), START))
    policy.learn(visits(ids(0), START, looks=False))
    failing, succeeding = (policy.explain(page, START + DAY) for page in (0, 1))
    assert failing.value < succeeding.value == -10.0
    assert failing.reckoning == succeeding.reckoning


def test_the_state_of_a_formula_is_refused_by_another() -> None:
    state = learned_policy("NAD * t").state()
    for name in ("SAD * t", "X"):
        with pytest.raises(UsageError, match=r"learned for NAD \* t, by visit cannot be used"):
            make_policy(name).restore(state)
    with pytest.raises(UsageError, match="another policy"):
        make_policy("NAD * t").restore(learned_policy("nad").state())


def test_a_formula_is_explained_by_the_values_of_its_variables() -> None:
    explanation = learned_policy("t * (X + 0.5)", 4, days=3).explain(3, START)
    assert explanation.reckoning == FormulaEvaluation("t * (X + 0.5)", {"X": 2.0, "t": 1.0}, 2.5)
    assert explanation.value == 2.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t *", "something is missing"),
        ("t-nad", "'nad' is unknown"),
        ("__import__('os')", "cannot read"),
        ("((t", "')' is missing"),
        ("bayes-change", "did you mean bayes-changes"),
        ("a" * 100_000, "is not a policy"),
        ("t+" * 100_000, "shorten it"),
    ],
)
def test_an_unknown_policy_is_refused_with_a_short_message(text: str, message: str) -> None:
    with pytest.raises(
        UsageError, match=message.replace("(", r"\(").replace(")", r"\)")
    ) as refused:
        make_policy(text)
    assert len(str(refused.value)) < 500


@each_policy
def test_the_log_of_a_crawl_replayed_gives_the_same_choices(name: str) -> None:
    """A live crawl with failures, releases and new pages, replayed to a fresh policy."""
    rng = np.random.default_rng(8)
    policy, fresh = (make_policy(name, seed=6, live=True) for _ in range(2))
    for current in (policy, fresh):
        current.add(pages(range(25)))
    for turn in range(120):
        now = START + turn * 2.5 * HOUR
        if turn == 60:
            for current in (policy, fresh):
                current.add(pages(range(25, 30)))
        chosen = policy.choose(now, 3, HostCaps())
        assert numbers(fresh.choose(now, 3, HostCaps())) == numbers(chosen)
        visited, released = (
            chosen.pages[: len(chosen) - turn % 2],
            chosen.pages[len(chosen) - turn % 2 :],
        )
        is_look = bool(rng.random() < 0.85)
        log = visits(visited, now, (rng.random(len(visited)) < 0.4).tolist(), looks=is_look)
        for current in (policy, fresh):
            current.learn(log)
            current.release(released)
