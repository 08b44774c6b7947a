"""The safety net on a small generated trace."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiments.wild import experiment
from experiments.wild.document import TABLES
from experiments.wild.expected_figures import (
    StoredFigures,
    read_figures,
    save_figures,
    with_safety_net,
)
from experiments.wild.experiment import ExperimentSize, experiment_sources
from experiments.wild.safety_net import (
    FAILURES,
    OBJECTIVES,
    SafetyNetRow,
    SafetyNetTask,
    safety_net_row,
    safety_net_rows,
    safety_net_tasks,
    safety_net_text,
)

ROW = SafetyNetRow("raw", "warm", 0.05, "changes", "", 0.49, 0.5, 0.4, 0.3, (0.01, -0.04))


def test_failures_are_tried_on_the_main_traces_only() -> None:
    (source,) = experiment_sources(None, is_quick=True)
    tasks = list(safety_net_tasks(source, ExperimentSize()))
    assert {task.failure for task in tasks} == {"", *FAILURES}
    assert len(tasks) == 8 + 2 * len(FAILURES)


def test_a_failing_default_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "QUICK_PAGES_PER_SITE", 5)
    failure = "ranks the other way round"
    monkeypatch.setattr("experiments.wild.safety_net.FAILURES", {failure: FAILURES[failure]})
    monkeypatch.setattr("experiments.wild.safety_net.STARTS", ())
    size = ExperimentSize((0.2,), seeds=1, is_quick=True, processes=1)
    (source,) = experiment_sources(None, is_quick=True)
    rows = list(safety_net_rows(None, source, size))
    assert [(row.objective, row.failure) for row in rows] == [
        (name, failure) for name in OBJECTIVES
    ]
    for row in rows:
        assert row.default < 0.8 * max(row.nutch, row.round_robin)
        assert row.guarded > row.default


def test_the_tables_have_working_and_failing_defaults_apart() -> None:
    failing = SafetyNetRow("raw", "warm", 0.05, "changes", "fails", 0.39, 0.1, 0.4, 0.3, (-0.1,))
    figures = with_safety_net(StoredFigures(safety_net=(ROW,)), [ROW, failing])
    assert figures.safety_net == (ROW, failing)
    minus = "\N{MINUS SIGN}"
    assert list(TABLES["safety-net"](figures))[1:] == [
        ("`raw`, warm", "5 %", "changes", ".490", ".500", ".400", ".300", "1", f"{minus}2.0 %",
         f"+1.0 %, {minus}4.0 %"),
    ]  # fmt: skip
    (line,) = list(TABLES["safety-net-failures"](figures))[1:]
    assert line[2] == "changes: fails"


def test_the_best_of_a_month_is_that_of_the_highest_mean_over_the_seeds() -> None:
    # By seed and month, the last column for all days; the best one differs between the seeds.
    guarded, default = [[0.4, 0.4], [0.6, 0.6]], [[0.4, 0.4], [0.8, 0.8]]
    nutch, round_robin = [[0.6, 0.6], [0.4, 0.4]], [[0.1, 0.1], [0.1, 0.1]]
    figures = np.array([guarded, default, nutch, round_robin])
    row = safety_net_row("raw", SafetyNetTask("warm", 0.05, ""), "changes", figures)
    assert (row.seeds, row.default) == (2, pytest.approx(0.6))
    assert row.months == pytest.approx((0.5 / 0.6 - 1.0,))
    assert row.month_errors == pytest.approx((0.125,))
    spreads = [months[0] for months in row.month_spreads]
    assert spreads == pytest.approx([2**0.5 / 5, 2**0.5 / 3, 2**0.5 / 5, 0.0])


def test_a_row_without_spreads_has_its_standard_errors_only() -> None:
    row = replace(ROW, months=(-0.02,), seeds=4, month_errors=(0.01,))
    assert safety_net_text(row).splitlines()[-1] == "  month 1: -2.0% (standard error 1.0%)"


def test_rows_replace_those_of_the_same_setting_and_are_stored_whole(tmp_path: Path) -> None:
    spreads = ((0.01,), (0.02,), (0.03,), (0.04,))
    new = replace(ROW, guarded=0.6, seeds=5, month_errors=(0.01,), month_spreads=spreads)
    other = replace(ROW, budget=0.2)
    figures = with_safety_net(StoredFigures(safety_net=(ROW, other)), [new])
    assert figures.safety_net == (other, new)
    save_figures(figures, tmp_path / "figures.json")
    assert read_figures(tmp_path / "figures.json") == figures
    (line,) = list(TABLES["safety-net-noise"](figures))[1:]
    assert line[3:] == ("1.0 %", "2.0 %", "3.0 %", "4.0 %")
