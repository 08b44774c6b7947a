"""Comparison of policies: rejected requests, rows, and crawls in continuous time."""

from math import isnan, nan
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from freshet.backtest import Trace, simulate
from freshet.backtest.comparison import check_request, result_rows, run_policies, write_curves
from freshet.backtest.continuous.comparison import run_policies_continuously
from freshet.backtest.page_bootstrap import PageBootstrap
from freshet.core.errors import UsageError
from freshet.schedule.policies import make_policy
from tests.backtest.traces import by_chance, drawn, in_groups


@pytest.fixture(scope="module")
def trace() -> Trace:
    return in_groups(by_chance(120, 30, seed=3))


@pytest.mark.parametrize("budget", [0.0, -0.05, 1.0001, 5.0, nan])
def test_a_budget_that_cannot_be_spent_is_refused(trace: Trace, budget: float) -> None:
    with pytest.raises(UsageError, match="must be above 0 and at most 1"):
        next(run_policies(trace, ["age"], [budget]))
    with pytest.raises(UsageError, match="must be above 0 and at most 1"):
        next(run_policies_continuously(trace, ["age"], [budget]))


def test_names_and_seeds_are_checked_before_any_crawl() -> None:
    with pytest.raises(UsageError, match="is not a policy"):
        check_request(["age", "aged"], [0.05], 1)
    with pytest.raises(UsageError, match="0 seeds"):
        check_request(["age"], [0.05], 0)


def test_a_row_has_the_means_of_its_seeds_and_their_intervals(trace: Trace) -> None:
    row = next(run_policies(trace, ["rand"], [0.05], seeds=3)).to_row(trace)
    single = [simulate(trace, make_policy("rand", seed=seed), 0.05).overall() for seed in (1, 2, 3)]
    rates = np.array([metrics.changerate for metrics in single])
    assert row.changerate == pytest.approx(rates.mean())
    assert row.changerate_ci == pytest.approx(4.302653 * rates.std(ddof=1) / np.sqrt(3))
    assert row.time_waited == pytest.approx(np.mean([metrics.time_waited for metrics in single]))
    assert isnan(row.new_links)


def test_every_policy_is_compared_with_the_baseline_at_the_same_budget(trace: Trace) -> None:
    results = list(run_policies(trace, ["age", "cg"], [0.05, 0.1], seeds=2))
    rows = result_rows(trace, results, against="age")
    assert [bool(row.against) for row in rows] == [False, True, False, True]
    for row, baseline in zip(rows[1::2], rows[::2], strict=True):
        for comparison in row.against:
            gap = getattr(row, comparison.measure) - getattr(baseline, comparison.measure)
            assert comparison.difference == pytest.approx(gap)
            assert comparison.won + comparison.lost + comparison.tied == trace.cycles - 2


def test_a_policy_ties_with_itself(trace: Trace) -> None:
    result, same = (next(run_policies(trace, ["age"], [0.05], seeds=3)) for _ in range(2))
    comparisons = result.compare(same, PageBootstrap(trace.pages.sites))
    comparison = next(each for each in comparisons if each.measure == "freshness")
    assert (comparison.low, comparison.high) == (0.0, 0.0)
    assert (comparison.difference, comparison.p, comparison.won, comparison.lost) == (
        0.0,
        1.0,
        0,
        0,
    )


def test_curves_have_a_line_for_each_seed_and_cycle(trace: Trace, tmp_path: Path) -> None:
    results = list(run_policies(trace, ["age", "t * X"], [0.05], seeds=2))
    write_curves(tmp_path / "curves.parquet", results)
    table = pl.read_parquet(tmp_path / "curves.parquet")
    assert len(table) == 2 * 2 * (trace.cycles - 2)
    assert table["policy"].unique().sort().to_list() == ["age", "t * X"]
    assert table.filter(policy="age", seed=2)["ndcg"].to_list() == pytest.approx(
        results[0].runs[1].column("ndcg").tolist()
    )


def test_a_continuous_backtest_is_measured_day_by_day_within_its_budget(trace: Trace) -> None:
    curves = next(run_policies_continuously(trace, ["age"], [0.1], seeds=1)).runs[0]
    assert curves.column("cycle").tolist() == list(range(2, trace.cycles))
    assert curves.column("visits").sum() == 12 * (trace.cycles - 2)
    assert np.all((curves.column("freshness") >= 0) & (curves.column("freshness") <= 1))


def test_the_continuous_oracles_are_above_the_policies(trace: Trace) -> None:
    names = ["age", "nutch", "bayes-freshness", "bayes-changes", "oracle-change", "oracle-life"]
    rows = {
        result.policy: result.to_row(trace)
        for result in run_policies_continuously(trace, names, [0.05], seeds=2)
    }
    policies = [rows[name] for name in names[:4]]
    assert rows["oracle-life"].freshness > max(row.freshness for row in policies)
    assert rows["oracle-change"].changerate > max(row.changerate for row in policies)
    assert rows["oracle-change"].detected > rows["age"].detected


def test_round_robin_is_about_as_fresh_in_continuous_time_as_in_cycles(trace: Trace) -> None:
    cycles = next(run_policies(trace, ["age"], [0.05], seeds=3)).to_row(trace)
    days = next(run_policies_continuously(trace, ["age"], [0.05], seeds=3)).to_row(trace)
    assert days.freshness == pytest.approx(cycles.freshness, abs=0.05)
    assert days.changerate == pytest.approx(cycles.changerate, abs=0.05)


def test_two_pages_are_enough_for_a_continuous_backtest() -> None:
    trace = drawn("x.xxx.xx", "........")
    for name in ("age", "bayes-freshness", "oracle-life", "t * X"):
        row = next(run_policies_continuously(trace, [name], [0.5], seeds=1)).to_row(trace)
        assert 0 <= row.freshness <= 1
