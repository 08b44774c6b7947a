"""The policies of a live crawl on unusual collections, sites and clocks."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.policy import Policy, ReportingPolicy
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.core.types import FloatArray
from freshet.schedule.policies import make_policy
from tests.schedule.bayes_samples import pages, visits

LIVE_POLICIES = ("guarded-changes", "guarded-freshness")
each_policy = pytest.mark.parametrize("name", LIVE_POLICIES)
START = 10


@dataclass
class Collection:
    """Pages with true change rates per day, crawled by a policy from nothing known."""

    policy: Policy
    rates: FloatArray
    stale: np.ndarray = field(init=False)
    looks: list[list[float]] = field(init=False)
    fresh_days: float = 0.0
    visit_count: int = 0
    found: int = 0
    history: list[tuple[float, int, bool]] = field(default_factory=list)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))

    def __post_init__(self) -> None:
        self.stale = np.ones(len(self.rates), np.bool_)
        self.looks = [[] for _ in self.rates]

    def crawl(self, days: Iterable[int], per_day: int) -> None:
        """Visit some pages a day in two batches, and check every choice."""
        for day in days:
            for now in (day + 0.0, day + 0.5):
                self.stale |= self.rng.random(len(self.rates)) < -np.expm1(-self.rates / 2)
                self._visit(now, per_day // 2)
                self.fresh_days += 0.5 * np.count_nonzero(~self.stale)

    def _visit(self, now: float, count: int) -> None:
        choices = self.policy.choose(from_epoch(now * DAY_SECONDS), count, HostCaps())
        assert len(set(choices.pages.tolist())) == len(choices) == min(count, len(self.rates))
        is_seen = np.isfinite(choices.ages)
        assert np.isfinite(choices.values[is_seen]).all()
        assert (choices.values[~is_seen] >= 1e12).all()
        chances = choices.chances[is_seen & ~np.isnan(choices.chances)]
        assert ((chances >= 0) & (chances <= 1)).all()
        assert len(chances) == is_seen.sum() or self.policy.name == "age"
        changed = self.stale[choices.pages] & np.array([bool(self.looks[p]) for p in choices.pages])
        self.policy.learn(visits(choices.pages, now, changed))
        self.history += [(now, *pair) for pair in zip(choices.pages, changed, strict=True)]
        self.stale[choices.pages] = False
        self.visit_count, self.found = self.visit_count + count, self.found + changed.sum()
        for page in choices.pages.tolist():
            self.looks[page].append(now)
        assert_finite(self.policy)

    def rebuild(self, now: float) -> None:
        """Build the policy again, as a crawl does after its clock was set back."""
        self.policy = make_policy(self.policy.name, seed=1, live=True)
        self.policy.add(pages(range(len(self.rates)), host_pages=20))
        days, ids, changed = zip(*sorted(self.history), strict=True)
        self.policy.learn(visits(ids, np.minimum(days, now).tolist(), changed))

    def longest_gap(self, since: float, until: float) -> float:
        """Return the longest time without a visit of any page."""
        return max(np.diff([since, *days, until]).max() for days in self.looks)


def assert_finite(policy: Policy) -> None:
    if isinstance(policy, ReportingPolicy):
        report = policy.report()
        numbers = [*report.weights.values(), *report.memory.values()]
        assert np.isfinite(numbers).all()
        assert not report.weights or sum(report.weights.values()) == pytest.approx(1.0)


def collection(name: str, rates: FloatArray, host_pages: int = 20) -> Collection:
    policy = make_policy(name, seed=1, live=True)
    policy.add(pages(range(len(rates)), host_pages=host_pages))
    return Collection(policy, rates)


@each_policy
@pytest.mark.parametrize("rate", [0.0, 0.3, 100.0])
def test_one_page_gets_every_visit(name: str, rate: float) -> None:
    crawled = collection(name, np.array([rate]))
    crawled.crawl(range(START, START + 20), 2)
    assert len(crawled.looks[0]) == 40


@each_policy
def test_one_site_of_all_kinds_is_no_less_fresh_than_by_round_robin(name: str) -> None:
    rates = np.geomspace(1e-3, 4.0, 80)
    crawled, in_turn = (collection(policy, rates, host_pages=80) for policy in (name, "age"))
    for each in (crawled, in_turn):
        each.crawl(range(START, START + 40), 10)
    assert all(crawled.looks)
    better = "found" if name == "guarded-changes" else "fresh_days"
    assert getattr(crawled, better) > 0.97 * getattr(in_turn, better)


@each_policy
def test_if_every_page_changes_at_every_look_all_are_visited_and_no_visit_is_wasted(
    name: str,
) -> None:
    crawled = collection(name, np.full(60, 100.0))
    crawled.crawl(range(START, START + 40), 10)
    assert crawled.found == crawled.visit_count - 60
    assert crawled.longest_gap(START, START + 40) <= 4 * 60 / 10


@each_policy
def test_if_nothing_ever_changes_all_pages_are_visited_in_turn(name: str) -> None:
    crawled = collection(name, np.zeros(60))
    crawled.stale[:] = False
    crawled.crawl(range(START, START + 40), 10)
    assert crawled.found == 0
    assert crawled.longest_gap(START, START + 40) <= 2 * 60 / 10


@each_policy
def test_a_thousand_pages_a_day_after_a_thousand_are_all_seen_first(name: str) -> None:
    policy = make_policy(name, seed=1, live=True)
    policy.add(pages(range(1_000), host_pages=50))
    seen: set[int] = set()
    for day in range(START, START + 8):
        if day == START + 1:
            policy.add(pages(range(1_000, 2_000), host_pages=50))
        chosen = policy.choose(from_epoch(day * DAY_SECONDS), 250, HostCaps()).pages
        assert len(chosen) == 250
        assert seen.isdisjoint(chosen.tolist())
        seen.update(chosen.tolist())
        policy.learn(visits(chosen, float(day)))
    assert len(seen) == 2_000


@each_policy
def test_a_site_that_is_redesigned_daily_is_known_to_be_and_leaves_visits_for_others(
    name: str,
) -> None:
    crawled = collection(name, np.where(np.arange(80) < 40, 1e6, 0.02), host_pages=40)
    crawled.crawl(range(START, START + 40), 8)
    redesigned = sum(map(len, crawled.looks[:40])) / crawled.visit_count
    if name == "guarded-changes":
        assert redesigned > 0.7
        assert crawled.found > 0.7 * crawled.visit_count
    else:
        assert redesigned < 0.65
        assert all(len(days) > 2 for days in crawled.looks[40:])
    assert all(crawled.looks)


@each_policy
@pytest.mark.parametrize("jump", [-3, 700, -20_000])
def test_a_clock_that_jumps_leaves_no_page_out_and_the_budget_is_spent(
    name: str, jump: int
) -> None:
    start, days = 25_000, 70
    crawled = collection(name, np.geomspace(0.01, 2.0, 40))
    crawled.crawl(range(start, start + 12), 10)
    crawled.crawl(range(start + jump, start + jump + 4), 10)
    crawled.fresh_days = 0.0
    if jump > 12:
        crawled.rebuild(start + 12.0)
    crawled.looks = [[start + 12.0] for _ in crawled.rates]
    crawled.crawl(range(start + 12, start + 12 + days), 10)
    assert sum(map(len, crawled.looks)) == 10 * days + len(crawled.looks)
    assert all(len(looks) > 1 for looks in crawled.looks)
    assert crawled.fresh_days > 0.5 * days * len(crawled.rates)


@each_policy
def test_a_restored_policy_goes_on_as_if_nothing_had_happened(name: str) -> None:
    crawled = collection(name, np.geomspace(0.01, 2.0, 60))
    crawled.crawl(range(START, START + 20), 10)
    restored = make_policy(name, seed=1, live=True)
    restored.restore(crawled.policy.state())
    for hour in range(30):
        now = from_epoch((START + 20 + hour / 24) * DAY_SECONDS)
        chosen, again = (p.choose(now, 2, HostCaps()).pages for p in (crawled.policy, restored))
        assert chosen.tolist() == again.tolist()
        for policy in (crawled.policy, restored):
            policy.learn(visits(chosen, START + 20 + hour / 24, chosen % 3 == 0))
