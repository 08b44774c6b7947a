"""A policy that learns a history in the order of time chooses as the one that made the visits."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from freshet.core.clock import to_epoch
from freshet.core.policy import RefittingPolicy
from freshet.core.tables import HostCaps, PageTable, VisitTable, concatenate_tables
from freshet.crawl.history_replay import (
    MAX_REPLAYED_VISITS,
    first_replayed_time,
    replay_visits,
)
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.policies import make_policy
from freshet.schedule.visit_steps import select_visits

START = datetime(2026, 3, 1, tzinfo=UTC)
HOSTS, PAGES_PER_HOST, DAYS = 3, 20, 24
EVENT_DAYS = {0: (5.3, 11.7, 17.2), 1: (9.4,), 2: ()}
PAGES = HOSTS * PAGES_PER_HOST


def new_policy(name: str) -> BayesPolicy:
    policy = make_policy(name, live=True)
    hosts = np.repeat(np.arange(HOSTS, dtype=np.uint64), PAGES_PER_HOST)
    ones, unknown = np.ones(PAGES), np.full(PAGES, np.nan)
    policy.add(PageTable(np.arange(1, PAGES + 1), hosts, hosts, hosts, ones, unknown))
    assert isinstance(policy, BayesPolicy)
    return policy


def change_days(rng: np.random.Generator) -> list[np.ndarray]:
    """Return the days on which each page changes: by itself, and with its host."""
    return [
        np.sort(np.append(rng.uniform(0, DAYS, page % 4), EVENT_DAYS[page // PAGES_PER_HOST]))
        for page in range(PAGES)
    ]


def crawl(policy: BayesPolicy) -> list[VisitTable]:
    """Visit a few pages every two hours and return all visits."""
    changes, last_looks, visits = change_days(np.random.default_rng(1)), {}, []
    for step in range(12 * DAYS):
        day = step / 12
        pages = policy.choose(START + timedelta(days=day), 2, HostCaps()).pages
        changed = [
            page in last_looks
            and np.any((changes[page - 1] > last_looks[page]) & (changes[page - 1] <= day))
            for page in pages.tolist()
        ]
        measured = np.array([page in last_looks for page in pages.tolist()])
        last_looks.update(dict.fromkeys(pages.tolist(), day))
        times = np.full(len(pages), to_epoch(START) + 86_400 * day)
        looks, links = np.ones(len(pages), np.bool_), np.full(len(pages), -1, np.int32)
        visits.append(VisitTable(pages, times, looks, measured, np.array(changed), links))
        policy.learn(visits[-1])
    return visits


@pytest.mark.parametrize("name", ["bayes-changes", "bayes-freshness"])
def test_a_replayed_policy_makes_nearly_the_same_choices(name: str) -> None:
    policy, replayed = new_policy(name), new_policy(name)
    history = concatenate_tables(crawl(policy))
    history = select_visits(history, np.lexsort((history.times, history.pages)))
    replay_visits(replayed, history, PAGES, lambda visits, _: replayed.learn(visits))
    replayed.resume(policy.report())
    now = START + timedelta(days=DAYS)
    ids, horizons = np.arange(1, PAGES + 1), np.array([0.0, 7.0])
    before = policy.forecast(ids, now, horizons).survival
    np.testing.assert_allclose(replayed.forecast(ids, now, horizons).survival, before, atol=0.03)
    choices = policy.choose(now, 20, HostCaps()).pages
    assert len(np.intersect1d(choices, replayed.choose(now, 20, HostCaps()).pages)) >= 19


def test_steps_have_all_visits_in_the_order_of_time() -> None:
    policy, steps = new_policy("bayes-changes"), []
    history = concatenate_tables(crawl(new_policy("bayes-changes"))[:30])
    shuffled = select_visits(history, np.random.default_rng(2).permutation(len(history)))
    replay_visits(policy, shuffled, 10 * 20_000, lambda *step: steps.append(step))
    times = np.concatenate([visits.times for visits, _ in steps])
    np.testing.assert_array_equal(times, np.sort(history.times))
    assert 1 < len(steps) < 30
    for visits, so_far in steps:
        assert so_far.times[-1] == visits.times[-1]
        assert len(so_far) == np.count_nonzero(history.times <= visits.times[-1])


def test_a_very_long_history_is_replayed_in_its_last_days() -> None:
    policy, now = new_policy("bayes-changes"), 1e9
    assert first_replayed_time(policy, now, MAX_REPLAYED_VISITS) == -np.inf
    assert first_replayed_time(policy, now, MAX_REPLAYED_VISITS + 1) == now - 60 * 86_400
    rule = make_policy("age", live=True)
    assert not isinstance(rule, RefittingPolicy)
    assert first_replayed_time(rule, now, 1) == np.inf
