"""The published rules, on visits computed by hand."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps, PageTable, VisitTable
from freshet.formula.variables import WEIGHTED_ESTIMATES, WeightClock
from freshet.schedule.page_states import RevisitDelays
from freshet.schedule.rules.basic_rules import AgeRule, RandomRule
from freshet.schedule.rules.interval_rules import (
    NUTCH_STEPS,
    STORMCRAWLER_STEPS,
    AdaptiveIntervalRule,
)
from freshet.schedule.rules.ranking_rule import RankingRule
from freshet.schedule.rules.rate_rules import ChangeRateRule, SmoothedRateRule, WeightedEstimateRule

HISTORY = {0: True, 1: False, 2: True, 5: True}
"""Visits of first page: the cycle, and whether it had changed since the first before."""


def pages(count: int, *, since: float = -DAY_SECONDS) -> PageTable:
    keys = np.zeros(count, np.uint64)
    ids = np.arange(count, dtype=np.int64)
    return PageTable(ids, keys, keys, keys, np.ones(count), np.full(count, since))


def visits(rows: Sequence[tuple[int, float, bool]], *, looks: bool = True) -> VisitTable:
    """Return visits of page, day and whether the page had changed."""
    count = len(rows)
    return VisitTable(
        pages=np.array([row[0] for row in rows], np.int64),
        times=np.array([row[1] * DAY_SECONDS for row in rows]),
        looks=np.full(count, looks),
        measured=np.full(count, looks),
        changed=np.array([row[2] for row in rows], np.bool_),
        new_links=np.full(count, -1, np.int32),
    )


def rule_after(
    rule: RankingRule, history: dict[int, bool] = HISTORY, count: int = 1
) -> RankingRule:
    """Return a rule that has learnt the history of each page."""
    rule.add(pages(count))
    rule.learn(
        visits([(page, day, changed) for page in range(count) for day, changed in history.items()])
    )
    return rule


def value(rule: RankingRule, day: float, page: int = 0) -> float:
    return rule.explain(page, from_epoch(day * DAY_SECONDS)).value


def test_age_is_the_time_since_the_last_look() -> None:
    assert value(rule_after(AgeRule("age")), 7) == 2.0


def test_a_smoothed_rate_ranks_pages_without_a_change_by_their_age() -> None:
    rule = rule_after(SmoothedRateRule("smoothed-rate"), {0: False, 1: False})
    assert value(rule, 11) == pytest.approx(1 - exp(-0.5 / 3 * 10))


def test_a_smoothed_rate_counts_changes_and_days() -> None:
    rule = rule_after(SmoothedRateRule("smoothed-rate"))
    assert value(rule, 7) == pytest.approx(1 - exp(-3.5 / 7 * 2))


@pytest.mark.parametrize(
    ("rule", "factor"),
    [
        (AgeRule("age"), 1.0),
        (ChangeRateRule("cg"), 3.0),
        (WeightedEstimateRule("nad", estimate="NAD"), 3.0),
        (SmoothedRateRule("smoothed-rate"), 3.0),
        (AdaptiveIntervalRule("nutch", NUTCH_STEPS), 3.0),
    ],
)
def test_rules_with_an_estimate_weigh_it_by_importance(rule: RankingRule, factor: float) -> None:
    rule_after(rule, count=2)
    rule.add(replace(pages(2), importance=np.array([1.0, 3.0])))
    assert value(rule, 7, page=1) == pytest.approx(factor * value(rule, 7, page=0))


def test_cho_ranks_by_the_bias_reduced_rate() -> None:
    assert value(rule_after(ChangeRateRule("cg")), 7) == pytest.approx(-log(1.5 / 4.5))


@pytest.mark.parametrize(
    ("estimate", "clock", "rate"),
    [
        ("NAD", "visit", 3 / 4),
        ("SAD", "visit", 1.0),
        ("AAD", "visit", (1 + 3 + 4) / 10),
        ("GAD", "visit", (2 + 8 + 16) / (2 + 4 + 8 + 16)),
        ("NAD", "cycle", 3 / 7),
        ("SAD", "cycle", 0.0),
        ("AAD", "cycle", (1 + 3 + 6) / 28),
        ("GAD", "cycle", (2 + 8 + 64) / sum(2**i for i in range(1, 8))),
    ],
)
def test_rates_are_weighted_means_of_the_changes_seen(
    estimate: str, clock: WeightClock, rate: float
) -> None:
    rule = rule_after(WeightedEstimateRule("any", estimate=estimate, clock=clock))
    assert value(rule, 7) == pytest.approx(1 - exp(-rate * 2))


def test_the_last_cycle_alone_counts_for_sad_by_cycle() -> None:
    assert value(
        rule_after(WeightedEstimateRule("sad", estimate="SAD", clock="cycle")), 6
    ) == pytest.approx(1 - exp(-1))


@pytest.mark.parametrize("estimate", WEIGHTED_ESTIMATES)
def test_a_page_without_a_measured_look_has_no_rate(estimate: str) -> None:
    rule = WeightedEstimateRule("any", estimate=estimate)
    rule.add(pages(1))
    assert value(rule, 3) == 0.0


@pytest.mark.parametrize("estimate", WEIGHTED_ESTIMATES)
def test_a_thousand_visits_overflow_nothing(estimate: str) -> None:
    history = dict.fromkeys(range(3000), True)
    rule = rule_after(WeightedEstimateRule("any", estimate=estimate), history)
    assert value(rule, 3000) == pytest.approx(1 - exp(-1), rel=1e-3)


def test_nutch_shortens_by_a_fifth_and_lengthens_by_two() -> None:
    rule = rule_after(AdaptiveIntervalRule("nutch", NUTCH_STEPS))
    assert value(rule, 7) == pytest.approx(2 / (0.8 * 1.4 * 0.8 * 0.8))


def test_stormcrawler_halves_and_adds_a_half() -> None:
    rule = rule_after(AdaptiveIntervalRule("stormcrawler", STORMCRAWLER_STEPS))
    assert value(rule, 7) == pytest.approx(2 / (0.5 * 1.5 * 0.5 * 0.5))


@pytest.mark.parametrize(
    ("steps", "changed", "days"),
    [
        (NUTCH_STEPS, True, 60 / DAY_SECONDS),
        (NUTCH_STEPS, False, 365.0),
        (STORMCRAWLER_STEPS, True, 1 / 24),
        (STORMCRAWLER_STEPS, False, 14.0),
    ],
)
def test_intervals_stay_within_their_bounds(steps: object, changed: bool, days: float) -> None:
    rule = rule_after(AdaptiveIntervalRule("any", steps), dict.fromkeys(range(100), changed))  # type: ignore[arg-type]
    assert value(rule, 100) == pytest.approx(1 / days)


def test_an_adaptive_rule_leaves_its_interval_at_the_first_look_of_a_live_page() -> None:
    rule = AdaptiveIntervalRule("nutch", NUTCH_STEPS)
    rule.add(pages(1, since=np.nan))
    rule.learn(visits([(0, 0, False)]))
    assert value(rule, 1) == 1.0


def test_random_values_differ_by_page_seed_and_moment() -> None:
    first, second = (rule_after(RandomRule("rand", seed=seed), count=2) for seed in (0, 1))
    values = {value(first, 7), value(first, 8), value(first, 7, page=1), value(second, 7)}
    assert len(values) == 4
    assert all(0 <= number < 1 for number in values)


def test_random_visits_are_even() -> None:
    rule = rule_after(RandomRule("rand"), {0: False}, count=50)
    counts = np.zeros(50)
    for day in range(1, 401):
        chosen = rule.choose(from_epoch(day * DAY_SECONDS), 5, HostCaps()).pages
        counts[chosen] += 1
        rule.release(chosen)
    assert counts.min() > 15
    assert counts.max() < 70


@pytest.mark.parametrize(
    "rule",
    [
        RandomRule("rand"),
        AgeRule("age"),
        ChangeRateRule("cg"),
        WeightedEstimateRule("nad", estimate="NAD"),
    ],
)
def test_a_page_never_seen_comes_first(rule: RankingRule) -> None:
    rule.add(pages(2, since=np.nan))
    rule.learn(visits([(0, 0, False), (0, 1, True)]))
    assert rule.choose(from_epoch(90 * DAY_SECONDS), 1, HostCaps()).pages.tolist() == [1]


def test_a_failing_page_has_less_value_and_backs_off() -> None:
    rule = rule_after(
        AgeRule("age", delays=RevisitDelays(longest_backoff_seconds=7200.0)), {0: False}, count=2
    )
    for hour in range(3):
        rule.learn(visits([(0, 1 + hour / 24, False)], looks=False))
    soon, later = (from_epoch(86_400 + hours * 3600.0) for hours in (3.5, 4.5))
    assert rule.choose(soon, 2, HostCaps()).pages.tolist() == [1]
    rule.release(np.array([1]))
    assert rule.choose(later, 2, HostCaps()).pages.tolist() == [1, 0]
    explanation = rule.explain(0, later)
    assert explanation.value == pytest.approx(explanation.age_days * explanation.look_chance)
    assert explanation.look_chance < 0.5


def test_an_explanation_has_the_chance_if_the_rule_estimates_one() -> None:
    now = from_epoch(7 * DAY_SECONDS)
    assert rule_after(WeightedEstimateRule("nad", estimate="NAD")).explain(
        0, now
    ).chance == pytest.approx(1 - exp(-1.5))
    assert rule_after(AgeRule("age")).explain(0, now).chance is None


def test_learning_at_once_equals_learning_visit_by_visit() -> None:
    rules = [
        lambda: WeightedEstimateRule("aad", estimate="AAD"),
        lambda: WeightedEstimateRule("gad", estimate="GAD"),
        lambda: AdaptiveIntervalRule("n", NUTCH_STEPS),
    ]
    for make in rules:
        at_once, one_by_one = rule_after(make(), count=3), make()
        one_by_one.add(pages(3))
        for day, changed in HISTORY.items():
            for page in range(3):
                one_by_one.learn(visits([(page, day, changed)]))
        assert value(at_once, 9) == value(one_by_one, 9)
