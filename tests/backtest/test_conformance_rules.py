"""The classic rules on the recorded traces, against figures that another simulator made."""

import os
from pathlib import Path

import pytest

from freshet.backtest.comparison import BacktestRow, run_policies
from freshet.backtest.trace import Trace
from freshet.backtest.trace_formats.open_trace import open_trace

DATA = Path(os.environ["FRESHET_DATA"]) / "pages"
NEAR = 0.01
TOLD = {
    ("snap", 0.05, "rand"): (0.403, 0.407, 0.624),
    ("snap", 0.05, "age"): (0.459, 0.456, 0.688),
    ("snap", 0.05, "cg"): (0.846, 0.885, 0.360),
    ("snap", 0.05, "nad"): (0.759, 0.762, 0.398),
    ("snap", 0.1, "rand"): (0.305, 0.309, 0.728),
    ("snap", 0.1, "age"): (0.344, 0.345, 0.782),
    ("snap", 0.1, "cg"): (0.634, 0.715, 0.415),
    ("snap", 0.1, "nad"): (0.648, 0.682, 0.435),
    ("mixed", 0.05, "rand"): (0.159, 0.158, 0.849),
    ("mixed", 0.05, "age"): (0.187, 0.188, 0.892),
    ("mixed", 0.05, "cg"): (0.192, 0.289, 0.639),
    ("mixed", 0.05, "nad"): (0.192, 0.289, 0.639),
    ("mixed", 0.1, "rand"): (0.106, 0.111, 0.905),
    ("mixed", 0.1, "age"): (0.120, 0.152, 0.935),
    ("mixed", 0.1, "cg"): (0.125, 0.201, 0.686),
    ("mixed", 0.1, "nad"): (0.125, 0.201, 0.686),
}
CEILINGS = {
    ("snap", 0.05): (1.0, 1.0, 0.922),
    ("snap", 0.1): (0.985, 1.0, 0.979),
    ("mixed", 0.05): (0.487, 1.0, 0.999),
    ("mixed", 0.1): (0.245, 1.0, 1.0),
}


@pytest.fixture(scope="module")
def traces() -> dict[str, Trace]:
    return {name: open_trace(DATA, name=name) for name in ("snap", "mixed")}


def only(trace: Trace, name: str, budget: float, *, seeds: int = 3) -> BacktestRow:
    return next(run_policies(trace, [name], [budget], seeds=seeds)).to_row(trace)


def figures(row: BacktestRow) -> tuple[float, float, float]:
    return row.changerate, row.ndcg, row.freshness


def test_the_traces_have_the_pages_that_the_recipe_gives(traces: dict[str, Trace]) -> None:
    sizes = {name: (len(trace.pages), trace.cycles) for name, trace in traces.items()}
    assert sizes == {"snap": (412, 180), "mixed": (3994, 180)}


@pytest.mark.parametrize(("name", "budget", "policy"), [key for key in TOLD if key[2] != "rand"])
def test_a_classic_rule_agrees(
    traces: dict[str, Trace], name: str, budget: float, policy: str
) -> None:
    found = figures(only(traces[name], policy, budget))
    assert found == pytest.approx(TOLD[name, budget, policy], abs=NEAR)


@pytest.mark.parametrize(("name", "budget", "policy"), [key for key in TOLD if key[2] == "rand"])
def test_visits_at_random_agree_in_the_mean_of_many_seeds(
    traces: dict[str, Trace], name: str, budget: float, policy: str
) -> None:
    """The figures are means of three seeds, whose own standard error on snap is .0045."""
    found = figures(only(traces[name], policy, budget, seeds=10))
    assert found == pytest.approx(TOLD[name, budget, policy], abs=NEAR + 0.0045)


@pytest.mark.parametrize(("name", "budget"), CEILINGS)
def test_the_oracles_agree(traces: dict[str, Trace], name: str, budget: float) -> None:
    rate, order, fresh = CEILINGS[name, budget]
    change = only(traces[name], "oracle-change", budget)
    assert (change.changerate, change.ndcg) == pytest.approx((rate, order), abs=NEAR)
    life = only(traces[name], "oracle-life", budget)
    assert life.freshness == pytest.approx(fresh, abs=NEAR)
