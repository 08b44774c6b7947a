"""The oracles of the crawl in cycles."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from freshet.backtest.cycle_crawl import crawl_in_cycles, visits_per_cycle
from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.backtest.metrics import BacktestMetrics, measure_crawl
from freshet.backtest.trace import Trace
from freshet.schedule.policies import make_policy
from tests.backtest.traces import by_chance, choices, drawn, in_groups


def scored(name: str, trace: Trace, share: float) -> BacktestMetrics:
    k = visits_per_cycle(share, len(trace.pages))
    return measure_crawl(
        crawl_in_cycles(trace, CYCLE_ORACLES[name](trace, seed=1), k), trace.pages.importance, k
    )


@pytest.fixture(scope="module")
def trace() -> Trace:
    return in_groups(by_chance(200, 60, seed=7))


def test_the_change_oracle_selects_stale_pages_first(trace: Trace) -> None:
    assert scored("oracle-change", trace, 0.05).ndcg == pytest.approx(1.0)


def test_the_lifetime_oracle_selects_the_page_that_stays_unchanged() -> None:
    trace = drawn("..xxxxx", "..x....")
    assert choices(trace, CYCLE_ORACLES["oracle-life"](trace), 1)[0] == [1]


def test_the_lifetime_oracle_visits_no_fresh_page() -> None:
    trace = drawn("..x.x.", "......", "......")
    assert choices(trace, CYCLE_ORACLES["oracle-life"](trace), 1)[::2] == [[0], [0]]


def test_known_rates_visit_what_changes_always_for_changes_and_seldom_for_freshness() -> None:
    trace = drawn("xxxxxxxxxxxx", "...x...x...x", ".x...x...x..", "............")
    changes = choices(trace, CYCLE_ORACLES["known-rate-changes"](trace), 1)
    freshness = choices(trace, CYCLE_ORACLES["known-rate"](trace), 1)
    assert changes.count([0]) > 5 > freshness.count([0])
    assert [3] not in changes + freshness


@pytest.mark.parametrize("name", ["known-rate", "known-rate-changes"])
def test_known_rates_visit_important_pages_more_often(name: str) -> None:
    trace = drawn("x..x..x..x..", "x..x..x..x..")
    pages = replace(trace.pages, importance=np.array([1.0, 5.0]))
    crawled = choices(trace, CYCLE_ORACLES[name](replace(trace, pages=pages)), 1)
    assert crawled.count([1]) > crawled.count([0])


@pytest.mark.parametrize("name", ["oracle-change", "oracle-life"])
def test_clairvoyant_oracles_visit_the_more_important_stale_page(name: str) -> None:
    trace = drawn("..x...", "..x...")
    pages = replace(trace.pages, importance=np.array([1.0, 5.0]))
    weighted = replace(trace, pages=pages)
    assert choices(weighted, CYCLE_ORACLES[name](weighted), 1)[0] == [1]


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_the_oracles_have_the_expected_order(trace: Trace, share: float) -> None:
    changes = [scored(name, trace, share).ndcg for name in ("known-rate-changes", "oracle-change")]
    fresh = [scored(name, trace, share).freshness for name in ("known-rate", "oracle-life")]
    assert changes == sorted(changes)
    assert fresh == sorted(fresh)


def test_equal_pages_stand_in_an_order_that_goes_by_the_seed(trace: Trace) -> None:
    one, same, other = (CYCLE_ORACLES["oracle-change"](trace, seed=seed) for seed in (1, 1, 2))
    first = choices(trace, one, 10)
    assert first == choices(trace, same, 10)
    assert first != choices(trace, other, 10)


def test_a_rate_oracle_knows_later_changes(trace: Trace) -> None:
    """What a policy must never do: other columns after a cut alter the choices before it."""
    cut = 20
    changed = np.column_stack([trace.changed(cycle) for cycle in range(trace.cycles)])
    later = cut + 1 + np.random.default_rng(3).permutation(trace.cycles - cut - 1)
    shuffled = in_groups(np.column_stack([changed[:, : cut + 1], changed[:, later]]))
    before = choices(trace, CYCLE_ORACLES["oracle-life"](trace), 10)[: cut - 1]
    assert choices(shuffled, CYCLE_ORACLES["oracle-life"](shuffled), 10)[: cut - 1] != before


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_the_oracles_find_changes_sooner_and_more_of_them_than_policies(
    trace: Trace, share: float
) -> None:
    k = visits_per_cycle(share, len(trace.pages))
    policy_metrics = {
        name: measure_crawl(
            crawl_in_cycles(trace, make_policy(name, seed=1), k), trace.pages.importance, k
        )
        for name in ("age", "cg", "nad", "bayes-freshness", "bayes-changes")
    }
    change, life = scored("oracle-change", trace, share), scored("oracle-life", trace, share)
    assert change.changerate >= max(metrics.changerate for metrics in policy_metrics.values())
    assert change.ndcg >= max(metrics.ndcg for metrics in policy_metrics.values())
    for oracle in (change, life):
        assert oracle.detected > max(metrics.detected for metrics in policy_metrics.values())
        assert oracle.time_waited < min(metrics.time_waited for metrics in policy_metrics.values())
    assert life.freshness > max(metrics.freshness for metrics in policy_metrics.values())


@pytest.mark.parametrize("name", CYCLE_ORACLES)
def test_an_oracle_has_every_metric(trace: Trace, name: str) -> None:
    linked = replace(trace, new_links=np.ones((trace.cycles, len(trace.pages)), np.uint16))
    metrics = asdict(scored(name, linked, 0.05))
    assert not any(np.isnan(figure) for figure in metrics.values())
