"""The continuous backtest, scored on the ground truth."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from freshet.backtest.continuous.comparison import run_policies_continuously
from freshet.backtest.continuous.crawler import CrawlerScore, SimulatedCrawler
from freshet.backtest.continuous.ground_truth import (
    GroundTruth,
    ground_truth,
    ground_truth_of_trace,
)
from freshet.backtest.continuous.oracles import CONTINUOUS_ORACLES
from freshet.core.clock import to_epoch
from freshet.core.tables import ChoiceTable, HostCaps, PageTable, VisitTable
from freshet.core.types import FloatArray
from freshet.schedule.policies import POLICY_NAMES, make_policy
from tests.backtest.traces import by_chance, in_groups

START = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def pages(count: int, importance: list[float] | None = None) -> PageTable:
    """Return live pages with ids that are no places."""
    keys = np.arange(count, dtype=np.uint64) // 5
    weights = np.array(importance) if importance else np.ones(count)
    ids = 100 + np.arange(count, dtype=np.int64)
    return PageTable(ids, keys, keys, keys, weights, np.full(count, np.nan))


def on_days(*days: float) -> FloatArray:
    return to_epoch(START) + 86_400 * np.array(days)


class RoundRobin:
    """Visits pages one after another, and keeps what it learnt."""

    name = "in-turn"

    def __init__(self) -> None:
        self.learnt: list[tuple[int, bool, bool]] = []

    def add(self, pages: PageTable) -> None:
        self.ids = pages.ids

    def learn(self, visits: VisitTable) -> None:
        columns = (visits.pages, visits.measured, visits.changed)
        self.learnt += zip(*(column.tolist() for column in columns), strict=True)

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        turn = len(self.learnt) + np.arange(k)
        chosen = self.ids[turn % len(self.ids)]
        return ChoiceTable(chosen, np.ones(k), np.ones(k), np.ones(k))


def random_truth(seed: int, count: int = 40, days: float = 20) -> GroundTruth:
    """Return pages of very different rates, about one change in three days."""
    rng = np.random.default_rng(seed)
    rates = np.minimum(50, np.exp(rng.normal(np.log(0.3), 2.5, count)))
    times = [np.sort(rng.uniform(0, days, rng.poisson(rate * days))) for rate in rates]
    return ground_truth(pages(count), [on_days(*page_days) for page_days in times])


def test_a_copy_is_fresh_from_its_look_to_the_next_change() -> None:
    crawler = SimulatedCrawler(
        RoundRobin(), ground_truth(pages(1), [on_days(1.25, 1.5)]), 0.5, START
    )
    assert crawler.advance(START).fresh_now == 1.0
    half = crawler.advance(START + 1.5 * DAY)
    assert (half.visits, half.fresh_now) == (1, 0.0)
    assert half.freshness == pytest.approx(1.25 / 1.5)
    score = crawler.advance(START + 4 * DAY)
    assert (score.visits, score.changes_found, score.fresh_now) == (3, 1, 1.0)
    assert score.freshness == pytest.approx((1.25 + 2) / 4)


def test_reading_the_score_often_does_not_change_it() -> None:
    at_once, often = (
        SimulatedCrawler(make_policy("age", live=True), random_truth(1), 30, START)
        for _ in range(2)
    )
    for hour in range(24 * 5):
        often.advance(START + hour * timedelta(hours=1))
    one, other = at_once.advance(START + 5 * DAY), often.advance(START + 5 * DAY)
    assert (one.visits, one.changes_found) == (other.visits, other.changes_found)
    assert one.visits == 151
    assert one.freshness == pytest.approx(other.freshness)


def test_the_first_look_is_only_the_reference() -> None:
    policy = RoundRobin()
    SimulatedCrawler(policy, ground_truth(pages(1), [on_days(-1, 0.5)]), 1, START).advance(
        START + DAY
    )
    assert policy.learnt == [(100, False, False), (100, True, True)]


def test_pages_that_seem_to_change_at_every_look_count_only_when_they_do() -> None:
    policy = RoundRobin()
    noisy = ground_truth(pages(1), [on_days(1.5)], is_noisy=np.array([True]))
    score = SimulatedCrawler(policy, noisy, 1, START).advance(START + 3 * DAY)
    assert [changed for _, _, changed in policy.learnt] == [False, True, True, True]
    assert score.changes_found == 1


def test_freshness_goes_by_importance() -> None:
    crawler = SimulatedCrawler(
        RoundRobin(), ground_truth(pages(2, [3.0, 1.0]), [on_days(), on_days()]), 1, START
    )
    assert crawler.advance(START).fresh_now == 0.75


def test_several_visits_at_once_spend_the_same_budget() -> None:
    one = SimulatedCrawler(make_policy("age", live=True), random_truth(2), 40, START)
    four = SimulatedCrawler(make_policy("age", live=True), random_truth(2), 40, START, batch_size=4)
    assert one.advance(START + 9.99 * DAY).visits == four.advance(START + 9.99 * DAY).visits


@pytest.mark.parametrize("name", POLICY_NAMES)
def test_every_policy_runs_in_continuous_time(name: str) -> None:
    crawler = SimulatedCrawler(make_policy(name, live=True), random_truth(3, count=10), 20, START)
    score = crawler.advance(START + 10 * DAY)
    assert (score.policy, score.visits) == (name, 201)
    assert 0 < score.changes_found <= 201
    assert 0 < score.freshness < 1


def test_the_default_policy_keeps_more_fresh_than_round_robin_and_nutch() -> None:
    fresh = {
        name: SimulatedCrawler(make_policy(name, live=True), random_truth(4), 60, START)
        .advance(START + 15 * DAY)
        .freshness
        for name in ("bayes-freshness", "age", "nutch")
    }
    assert fresh["bayes-freshness"] > max(fresh["age"], fresh["nutch"])


def test_every_change_waits_for_the_look_that_finds_it() -> None:
    crawler = SimulatedCrawler(
        RoundRobin(), ground_truth(pages(1), [on_days(-1, 0.25, 0.75, 1.5, 2.75)]), 0.5, START
    )
    crawler.advance(START + 3 * DAY)
    detections = crawler.detections()
    assert (detections.changes, detections.missed) == (3, 1)
    assert detections.time_to_detection == pytest.approx((1.75 + 1.25 + 0.5) / 3)
    assert detections.detected_share == pytest.approx(3 / 4)
    assert detections.time_waited == pytest.approx((1.75 + 1.25 + 0.5 + 0.25) / 4)


def test_a_continuous_crawl_without_changes_has_no_time_to_detection() -> None:
    crawler = SimulatedCrawler(
        RoundRobin(), ground_truth(pages(2), [on_days(), on_days()]), 1, START
    )
    crawler.advance(START + DAY)
    assert np.isnan([
        crawler.detections().time_to_detection,
        crawler.detections().detected_share,
    ]).all()
    assert crawler.unweighted_fresh_seconds() == pytest.approx(crawler.fresh_seconds())


def test_unweighted_freshness_ignores_importance() -> None:
    crawler = SimulatedCrawler(
        RoundRobin(), ground_truth(pages(2, [3.0, 1.0]), [on_days(0.5), on_days()]), 2, START
    )
    crawler.advance(START + DAY)
    assert crawler.fresh_seconds() == pytest.approx(86_400 * (3 * 0.5 + 0.5) / 4)
    assert crawler.unweighted_fresh_seconds() == pytest.approx(86_400 * (0.5 + 0.5) / 2)


@pytest.mark.parametrize("name", ["oracle-change", "oracle-life", "known-rate-changes"])
def test_continuous_oracles_visit_the_more_important_of_equal_pages(name: str) -> None:
    truth = ground_truth(pages(2, [1.0, 3.0]), [on_days(0.25), on_days(0.25)])
    oracle = CONTINUOUS_ORACLES[name](truth, seed=1)
    crawler = SimulatedCrawler(oracle, truth, 1, START + DAY)
    crawler.warm_up(truth.pages.ids, 1, batches_per_day=1)
    crawler.advance(START + DAY)
    assert crawler.importance_found == pytest.approx(3 / 2)


def test_policies_may_ignore_importance_while_measures_use_it() -> None:
    trace = in_groups(by_chance(60, 20, seed=3))
    importance = np.where(np.arange(60) % 3 == 0, 5.0, 1.0)
    weighted = replace(trace, pages=replace(trace.pages, importance=importance))
    known, ignored = (
        next(run_policies_continuously(told, ["oracle-change"], [0.1], seeds=1)).to_row(told)
        for told in (weighted, weighted.without_importance())
    )
    assert known.weighted_changerate > ignored.weighted_changerate
    assert (known.importance_ignored, ignored.importance_ignored) == (False, True)


def test_the_warm_up_does_not_count() -> None:
    policy = RoundRobin()
    crawler = SimulatedCrawler(policy, ground_truth(pages(3), [on_days(-1.9, -0.9)] * 3), 3, START)
    crawler.warm_up(pages(3).ids, 2, batches_per_day=3)
    assert len(policy.learnt) == 6
    score = crawler.score()
    assert (score.visits, score.changes_found, crawler.detections().changes) == (0, 0, 0)
    after = crawler.advance(START + DAY)
    assert 0 < after.freshness <= 1.0
    assert after.visits == 4


def test_changes_of_a_trace_lie_at_moments_of_their_cycles() -> None:
    trace = in_groups(by_chance(30, 12, seed=2))
    truth = ground_truth_of_trace(trace, seed=5)
    assert len(truth.times) == trace.change_counts().sum()
    for page in range(30):
        days = truth.times[truth.starts[page] : truth.starts[page + 1]] // 86_400
        changed = [cycle for cycle in range(12) if trace.changed(cycle)[page]]
        assert days.tolist() == changed
    assert np.isnan(truth.pages.known_since).all()
    assert (ground_truth_of_trace(trace, seed=5).times == truth.times).all()
    assert (ground_truth_of_trace(trace, seed=6).times != truth.times).any()


@pytest.mark.parametrize("name", CONTINUOUS_ORACLES)
def test_an_oracle_selects_pages_without_a_copy_first(name: str) -> None:
    crawler = SimulatedCrawler(
        CONTINUOUS_ORACLES[name](random_truth(5, count=8)), random_truth(5, count=8), 8, START
    )
    crawler.advance(START + 0.99 * DAY)
    assert crawler.score().fresh_now > 0
    assert crawler.visits == 8
    assert (crawler._copies.exists(np.arange(8))).all()


@pytest.mark.parametrize("name", ["known-rate", "known-rate-changes"])
def test_a_continuous_oracle_of_rates_prefers_important_pages(name: str) -> None:
    truth = random_truth(5, count=8)
    importance = np.where(np.arange(8) < 4, 1e-6, 1.0)
    weighted = replace(truth, pages=replace(truth.pages, importance=importance))
    oracle = CONTINUOUS_ORACLES[name](weighted)
    SimulatedCrawler(oracle, weighted, 8, START + 2 * DAY).warm_up(truth.pages.ids, 2)
    chosen = oracle.choose(START + 9 * DAY, 2, HostCaps())
    assert (np.searchsorted(truth.pages.ids, chosen.pages) >= 4).all()


def test_the_continuous_oracles_have_the_expected_order() -> None:
    def score_of(name: str) -> CrawlerScore:
        selector = (
            CONTINUOUS_ORACLES[name](random_truth(6), seed=1)
            if name in CONTINUOUS_ORACLES
            else make_policy(name, live=True)
        )
        crawler = SimulatedCrawler(selector, random_truth(6), 20, START + 2 * DAY)
        crawler.warm_up(pages(40).ids, 2)
        return crawler.advance(START + 18 * DAY)

    fresh = [score_of(name).freshness for name in ("age", "known-rate", "oracle-life")]
    assert fresh == sorted(fresh)
    change_counts = [
        score_of(name).changes_found for name in ("age", "known-rate-changes", "oracle-change")
    ]
    assert change_counts == sorted(change_counts)
