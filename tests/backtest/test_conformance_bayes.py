"""The default policies on the recorded traces: floors that they must not fall below."""

import os
from pathlib import Path

import pytest

from freshet.backtest.comparison import BacktestRow, run_policies
from freshet.backtest.trace import Trace
from freshet.backtest.trace_formats.open_trace import open_trace

DATA = Path(os.environ["FRESHET_DATA"]) / "pages"


@pytest.fixture(scope="module", params=["snap", "mixed"])
def trace(request: pytest.FixtureRequest) -> Trace:
    return open_trace(DATA, name=request.param)


def figures(trace: Trace, name: str, share: float, *, seeds: int = 1) -> BacktestRow:
    return next(run_policies(trace, [name], [share], seeds=seeds)).to_row(trace)


def test_changes_are_found_at_least_as_well_as_the_floors(trace: Trace) -> None:
    floors = {"snap": (0.92, 0.94), "mixed": (0.35, 0.43)}[trace.name]
    row = figures(trace, "bayes-changes", 0.05, seeds=3)
    assert row.changerate >= floors[0]
    assert row.ndcg >= floors[1]


def test_copies_are_kept_as_fresh_as_the_floors(trace: Trace) -> None:
    floor = {"snap": 0.688, "mixed": 0.915}[trace.name]
    assert figures(trace, "bayes-freshness", 0.05, seeds=3).freshness >= floor


@pytest.mark.parametrize("share", [0.01, 0.02, 0.05, 0.1, 0.2])
def test_copies_are_never_staler_than_by_round_robin(trace: Trace, share: float) -> None:
    ours, in_turn = (figures(trace, name, share).freshness for name in ("bayes-freshness", "age"))
    assert ours >= in_turn - 0.003
