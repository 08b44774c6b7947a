"""The default policy with its safety net."""

from collections import Counter
from datetime import timedelta

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.policy import ReportingPolicy
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.schedule.cadence import CONTINUOUS_CADENCE
from freshet.schedule.mixture.guarded_policy import MIXED_POLICIES, GuardedPolicy
from freshet.schedule.objectives import ObjectiveName, PageScores
from tests.schedule.bayes_samples import pages, visits

PAGES = 200
NOW = from_epoch(10 * DAY_SECONDS)


def guarded_policy(objective: ObjectiveName = "changes") -> GuardedPolicy:
    """Return a policy that has looked at all pages twice; every third page changes."""
    policy = GuardedPolicy(f"guarded-{objective}", objective=objective, cadence=CONTINUOUS_CADENCE)
    policy.add(pages(range(PAGES)))
    everything = np.arange(PAGES)
    for day in (8.0, 9.0):
        policy.learn(visits(everything, day, everything % 3 == 0))
    return policy


def prefer(policy: GuardedPolicy, row: int) -> None:
    """Make an alternative look much better than the default."""
    policy.judge.sums[:, :4] = (100, 1, 1, 1), (50, 0.5, 0, 0), (50, 0.5, 0, 0)
    policy.judge.sums[row, :6] = 50, 0.5, 30, 30, 0, 0


def test_the_alternatives_choose_one_visit_in_a_hundred_each() -> None:
    choices = guarded_policy().choose(NOW, 100, HostCaps())
    assert choices.choosers is not None
    assert Counter(choices.choosers) == {"": 98, "nutch": 1, "round-robin": 1}
    assert choices.exploratory is not None
    is_probe = np.array([bool(name) for name in choices.choosers])
    assert choices.exploratory[is_probe].all()
    assert len(set(choices.pages.tolist())) == 100


def test_fractions_of_visits_are_owed() -> None:
    policy, choosers = guarded_policy(), Counter[str]()
    for hour in range(60):
        choices = policy.choose(NOW + timedelta(hours=hour), 2, HostCaps())
        choosers.update(choices.choosers or ())
        policy.learn(visits(choices.pages, 10.0 + hour / 24))
    assert choosers == {"": 118, "nutch": 1, "round-robin": 1}


def test_visits_that_were_chosen_and_released_are_owed_again() -> None:
    policy, choosers = guarded_policy(), Counter[str]()
    for hour in range(60):
        choices = policy.choose(NOW + timedelta(hours=hour), 50, HostCaps())
        policy.release(choices.pages)
        policy.release(choices.pages)
        assert policy._owed_visits == pytest.approx([0.0, 0.0], abs=0.1)
    for hour in range(60, 160):
        choices = policy.choose(NOW + timedelta(hours=hour), 20, HostCaps())
        assert len(choices) == 20
        choosers.update((choices.choosers or ())[:2])
        policy.release(choices.pages[2:])
        policy.learn(visits(choices.pages[:2], 10.0 + hour / 24))
    assert -1.0 <= policy._owed_visits.min() <= policy._owed_visits.max() <= 3.0


def test_a_probe_of_a_page_that_the_default_chose_too_is_not_exploratory() -> None:
    choices = guarded_policy().choose(NOW, PAGES, HostCaps())
    assert Counter(choices.choosers)["round-robin"] == 2
    assert choices.exploratory is not None
    assert not choices.exploratory.any()


def test_hosts_keep_limits_above_the_default_when_alternatives_choose() -> None:
    policy = guarded_policy()
    prefer(policy, 2)
    hosts = np.array([0, 1], np.uint64)
    caps = HostCaps(hosts=hosts, limits=np.array([4, 3]), default_limit=1)
    choices = policy.choose(NOW, PAGES, caps)
    counts = Counter((choices.pages // 4).tolist())
    assert counts[0] == 4
    assert counts[1] == 3
    assert len(choices) == 7 + PAGES // 4 - 2


def test_the_default_gives_up_its_least_valuable_choices() -> None:
    policy, default = guarded_policy(), guarded_policy().default
    best = default.choose(NOW, 100, HostCaps())
    lowest = best.pages[best.values <= np.sort(best.values)[1]]
    chosen = policy.choose(NOW, 100, HostCaps())
    mine = [
        page for page, name in zip(chosen.pages, chosen.choosers or (), strict=True) if not name
    ]
    assert set(best.pages.tolist()) - set(mine) <= set(lowest.tolist())


def test_pages_that_were_never_seen_come_first_whoever_leads() -> None:
    policy = guarded_policy()
    prefer(policy, 2)
    policy.add(pages(range(PAGES, PAGES + 5)))
    choices = policy.choose(NOW, 10, HostCaps())
    assert set(choices.pages[:5].tolist()) == set(range(PAGES, PAGES + 5))
    assert Counter(choices.choosers)["round-robin"] >= 4


def test_an_alternative_that_leads_chooses_almost_all_visits_and_does_not_explore() -> None:
    policy = guarded_policy()
    prefer(policy, 1)
    choices = policy.choose(NOW, 50, HostCaps())
    assert Counter(choices.choosers)["nutch"] >= 47
    assert choices.exploratory is not None
    assert choices.exploratory.sum() <= 3


@pytest.mark.parametrize("row", [0, 1, 2])
def test_host_limits_hold_for_all_choosers_together(row: int) -> None:
    policy = guarded_policy()
    if row:
        prefer(policy, row)
    choices = policy.choose(NOW, 60, HostCaps(default_limit=1))
    hosts = Counter((choices.pages // 4).tolist())
    assert len(choices) == PAGES // 4
    assert set(hosts.values()) == {1}


def test_what_a_chosen_visit_found_is_credited_and_other_visits_are_not() -> None:
    policy = guarded_policy()
    assert policy.judge.sums.sum() == 0.0
    choices = policy.choose(NOW, 100, HostCaps())
    policy.release(choices.pages[50:])
    policy.learn(visits(choices.pages, 10.0, True))
    assert policy.judge.sums[:, 0].sum() == pytest.approx(50, rel=0.3)
    names = Counter(name or "default" for name in (choices.choosers or ())[:50])
    assert [round(looks) for looks in policy.judge.sums[1:, 0]] == [
        names[name] for name in MIXED_POLICIES[1:]
    ]


def test_a_restored_policy_chooses_as_before() -> None:
    first, second = (
        guarded_policy(),
        GuardedPolicy("guarded-changes", objective="changes", cadence=CONTINUOUS_CADENCE),
    )
    prefer(first, 2)
    first.choose(NOW, 3, HostCaps())
    second.restore(first.state())
    later = NOW + timedelta(hours=2)
    chosen, again = (policy.choose(later, 30, HostCaps()) for policy in (first, second))
    assert chosen.pages.tolist() == again.pages.tolist()
    assert chosen.choosers == again.choosers


def test_a_report_has_the_weights_and_brings_them_back() -> None:
    first, second = guarded_policy(), guarded_policy()
    assert isinstance(first, ReportingPolicy)
    prefer(first, 1)
    first.choose(NOW, 5, HostCaps())
    second.resume(first.report())
    assert second.report().weights == first.report().weights
    assert first.report().weights["nutch"] > 0.9
    assert second.default.multiplier == first.default.multiplier
    assert second.explain(3, NOW).weights == first.report().weights


def test_forecasts_are_those_of_the_default() -> None:
    policy, horizons, known = guarded_policy(), np.array([1.0, 7.0]), np.arange(5)
    expected = guarded_policy().default.forecast(known, NOW, horizons).survival
    assert np.array_equal(policy.forecast(known, NOW, horizons).survival, expected)


def crawl(policy: GuardedPolicy, days: int) -> float:
    """Return the share of visits that find a change; pages change daily, weekly or never."""
    rng = np.random.default_rng(5)
    rates = np.array([1.0, 1 / 7, 1e-3])[np.arange(PAGES) % 3]
    changed, found, count = np.zeros(PAGES, np.bool_), 0, 0
    for half_day in range(2 * days):
        changed |= rng.random(PAGES) < -np.expm1(-rates / 2)
        now = 10.0 + half_day / 2
        chosen = policy.choose(from_epoch(now * DAY_SECONDS), 10, HostCaps()).pages
        policy.learn(visits(chosen, now, changed[chosen]))
        found, count = found + int(changed[chosen].sum()), count + len(chosen)
        changed[chosen] = False
    return found / count


def test_a_default_that_fails_loses_its_visits_within_days(monkeypatch: pytest.MonkeyPatch) -> None:
    policy, failing = guarded_policy(), guarded_policy()
    scores = failing.default._model.page_scores

    def inverted(rows: np.ndarray, now: float) -> PageScores:
        true = scores(rows, now)
        return PageScores(true.ages, true.chances, 1.0 / (1e-3 + true.values))

    monkeypatch.setattr(failing.default._model, "page_scores", inverted)
    share, failing_share = crawl(policy, 30), crawl(failing, 30)
    assert policy.judge.weights[0] > 0.9
    assert failing.judge.weights[0] < 0.1
    assert failing_share > 0.4 * share
