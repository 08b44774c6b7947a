"""Metrics of a simulated crawl, on cycles computed by hand."""

from dataclasses import replace
from datetime import datetime
from math import isnan, log

import numpy as np
import pytest

from freshet.backtest.cycle_crawl import ChangeCounts, CycleResult, crawl_in_cycles
from freshet.backtest.metrics import BacktestMetrics, measure_crawl, measure_cycles
from freshet.backtest.trace import Trace
from freshet.core.tables import ChoiceTable, HostCaps, PageTable, VisitTable
from freshet.schedule.policies import make_policy
from tests.backtest.traces import by_chance, drawn, in_groups


def cycle(
    changed_flags: list[bool], stale_before: int, stale: list[bool], since: list[int]
) -> CycleResult:
    """Return what a cycle found, number 5."""
    return CycleResult(
        number=5,
        visited_pages=np.arange(len(changed_flags)),
        changed=np.array(changed_flags, np.bool_),
        stale_before=stale_before,
        stale=np.array(stale),
        stale_since=np.array(since, np.int32),
        unseen=np.zeros(len(stale), np.bool_),
        found_changes=ChangeCounts(),
        missed_changes=ChangeCounts(),
    )


def scored(*cycles: CycleResult, importance: list[float] | None = None) -> BacktestMetrics:
    """Return the score of cycles with two visits among four pages."""
    return measure_crawl(cycles, np.array(importance or [1.0] * 4), 2)


STILL = [False] * 4


def test_a_change_in_second_place_is_worth_less() -> None:
    first = scored(cycle([True, False], 1, STILL, [0] * 4))
    second = scored(cycle([False, True], 1, STILL, [0] * 4))
    assert (first.changerate, second.changerate) == (0.5, 0.5)
    assert first.ndcg == 1.0
    assert second.ndcg == pytest.approx(1 / log(3))


def test_the_ideal_order_knows_pages_that_were_not_visited() -> None:
    metrics = scored(cycle([True, False], 3, [False, False, True, True], [0] * 4))
    assert metrics.ndcg == pytest.approx(1 / (1 + 1 / log(3)))


def test_a_cycle_without_a_stale_page_is_left_out_of_the_order_alone() -> None:
    still = cycle([False, False], 0, STILL, [0] * 4)
    metrics = scored(still, cycle([True, True], 2, STILL, [0] * 4))
    assert (metrics.changerate, metrics.ndcg, metrics.freshness, metrics.unranked) == (
        0.5,
        1.0,
        1.0,
        1,
    )


def test_fresh_copies_are_counted_after_the_visits() -> None:
    metrics = scored(
        cycle([True, True], 3, [False, False, False, True], [0, 0, 0, 2]),
        importance=[1.0, 1.0, 1.0, 2.0],
    )
    assert metrics.freshness == 0.75
    assert metrics.weighted_freshness == pytest.approx(0.6)
    assert metrics.stale_age == 3.0


def test_a_change_of_an_important_page_counts_more() -> None:
    metrics = scored(cycle([False, True], 1, STILL, [0] * 4), importance=[1.0, 5.0, 1.0, 1.0])
    assert metrics.changerate == 0.5
    assert metrics.weighted_changerate == pytest.approx(5 / 2 / 2)


def test_fewer_visits_than_the_budget_are_scored_as_they_are() -> None:
    metrics = scored(cycle([True], 2, [False, True, False, False], [5] * 4))
    assert metrics.changerate == 1.0
    assert metrics.ndcg == pytest.approx(1 / (1 + 1 / log(3)))


def test_a_crawl_that_never_had_a_stale_copy_has_no_order_and_no_age() -> None:
    metrics = scored(cycle([False, False], 0, STILL, [0] * 4))
    assert isnan(metrics.ndcg)
    assert isnan(metrics.stale_age)


def test_a_stale_copy_ages_from_the_first_change_it_misses() -> None:
    trace = drawn("..x.x.", "xxxxxx")
    ages = [
        int(cycle.number - cycle.stale_since[0])
        for cycle in crawl_in_cycles(trace, make_policy("cg"), 1)
        if cycle.stale[0]
    ]
    assert ages == [0, 1, 2, 3]


def crawled(trace: Trace, name: str, k: int) -> BacktestMetrics:
    return measure_crawl(
        crawl_in_cycles(trace, make_policy(name, seed=1), k), trace.pages.importance, k
    )


def waits(trace: Trace, name: str, k: int) -> tuple[list[int], list[int]]:
    """Return how long every change waited to be found, and those that were not found so far."""
    changed = np.column_stack([trace.changed(cycle) for cycle in range(trace.cycles)])
    last_visits = [1] * len(trace.pages)
    found_waits = []
    for cycle in crawl_in_cycles(trace, make_policy(name, seed=1), k):
        for page in cycle.visited_pages.tolist():
            since = range(last_visits[page] + 1, cycle.number + 1)
            found_waits += [
                cycle.number - change_cycle for change_cycle in since if changed[page, change_cycle]
            ]
            last_visits[page] = cycle.number
    last = trace.cycles - 1
    missed = [
        last - change_cycle
        for page, after in enumerate(last_visits)
        for change_cycle in range(after + 1, trace.cycles)
        if changed[page, change_cycle]
    ]
    return found_waits, missed


class RoundRobin:
    """Visits one page after another, the last one first, and keeps the links it was told of."""

    name = "in-turn"

    def __init__(self) -> None:
        self.links: list[int] = []

    def add(self, pages: PageTable) -> None:
        self.turn = pages.ids[::-1]

    def learn(self, visits: VisitTable) -> None:
        self.links += visits.new_links.tolist()

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        chosen, self.turn = self.turn[:k], np.roll(self.turn, -k)
        return ChoiceTable(chosen, np.ones(k), np.ones(k), np.ones(k))


def test_every_change_since_the_last_visit_waits_for_the_visit_that_finds_it() -> None:
    trace = drawn("..xx...", "......x")
    metrics = measure_crawl(crawl_in_cycles(trace, RoundRobin(), 1), trace.pages.importance, 1)
    assert metrics.time_to_detection == pytest.approx((1 + 0 + 0) / 3)
    assert metrics.detected == 1.0
    assert metrics.time_waited == metrics.time_to_detection


def test_a_visit_finds_the_links_that_came_since_the_visit_before() -> None:
    links = np.array([[9, 8, 2, 3, 0, 1, 4], [7, 6, 1, 0, 5, 0, 2]], np.uint16)
    bare = drawn("xxxx.xx", "xxx.x.x")
    trace = replace(bare, new_links=np.ascontiguousarray(links.T))
    policy = RoundRobin()
    curves = measure_cycles(crawl_in_cycles(trace, policy, 1), trace.pages.importance, 1)
    assert policy.links == [9, 7, 8, 6, 1, 5, 5, 1, 2]
    assert curves.column("new_links").tolist() == [1, 5, 5, 1, 2]
    metrics = curves.overall()
    assert metrics.new_links == pytest.approx(14 / 5)
    assert metrics.links_found == 14
    assert metrics.links_detected == pytest.approx(14 / 18)


def test_a_visit_finds_no_more_new_links_than_the_page_has_links() -> None:
    links = np.array([[9, 8, 2, 3, 0, 1, 4], [7, 6, 1, 0, 5, 0, 2]], np.uint16)
    trace = replace(
        drawn("xxxx.xx", "xxx.x.x"),
        new_links=np.ascontiguousarray(links.T),
        most_links=np.array([3, 4], np.uint16),
    )
    curves = measure_cycles(crawl_in_cycles(trace, RoundRobin(), 1), trace.pages.importance, 1)
    assert curves.column("links_found").tolist() == [1, 3, 4, 1, 2]


def test_without_link_counts_the_link_metrics_are_undefined() -> None:
    policy = RoundRobin()
    trace = drawn("xxxx", "xx.x")
    metrics = measure_crawl(crawl_in_cycles(trace, policy, 1), trace.pages.importance, 1)
    assert isnan(metrics.new_links)
    assert isnan(metrics.links_detected)
    assert set(policy.links) == {-1}


def test_changes_that_no_visit_found_wait_until_the_last_cycle() -> None:
    metrics = crawled(drawn("..x...", "xxxxxx"), "cg", 1)
    assert metrics.time_to_detection == 0.0
    assert metrics.detected == pytest.approx(4 / 5)
    assert metrics.time_waited == pytest.approx(3 / 5)


@pytest.mark.parametrize("name", ["age", "cg", "rand", "bayes-freshness"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_times_to_detection_are_those_of_a_plain_loop_over_changes(name: str, seed: int) -> None:
    trace = in_groups(by_chance(61, 25, seed=seed))
    found_waits, missed = waits(trace, name, 4)
    metrics = crawled(trace, name, 4)
    assert metrics.time_to_detection == pytest.approx(np.mean(found_waits))
    assert metrics.time_waited == pytest.approx(np.mean(found_waits + missed))
    assert metrics.detected == pytest.approx(len(found_waits) / len(found_waits + missed))


def test_curves_have_every_cycle_and_their_means_are_the_score() -> None:
    trace = in_groups(by_chance(40, 20, seed=4))
    curves = measure_cycles(
        crawl_in_cycles(trace, make_policy("age"), 4), trace.pages.importance, 4
    )
    assert curves.column("cycle").tolist() == list(range(2, 20))
    assert set(curves.column("visits")) == {4.0}
    overall = curves.overall()
    for name in ("changerate", "freshness", "weighted_freshness", "stale_age", "ndcg"):
        assert getattr(overall, name) == pytest.approx(np.nanmean(curves.column(name)))
    assert np.all(np.diff(curves.column("changes_found").cumsum()) >= 0)


def test_a_trace_without_changes_to_find_has_no_time_to_detection() -> None:
    metrics = crawled(drawn("xx...", "....."), "age", 1)
    assert isnan(metrics.time_to_detection)
    assert isnan(metrics.detected)
    assert isnan(metrics.ndcg)
    assert metrics.unranked == 3


def test_a_trace_that_only_warms_up_has_no_measures() -> None:
    metrics = crawled(drawn("xx", ".x"), "age", 1)
    assert isnan(metrics.changerate)
    assert isnan(metrics.detected)
