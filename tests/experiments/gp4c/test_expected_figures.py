"""Stored figures name their search, and a run replaces only those of its own traces."""

from dataclasses import replace
from pathlib import Path

import pytest
from experiments.gp4c import expected_figures
from experiments.gp4c.data import TraceSource
from experiments.gp4c.evaluation import MeanRow
from experiments.gp4c.experiment import TraceResults
from experiments.gp4c.searches import SearchKind

WORLD = MeanRow("t2", "world", "cg", "ndcg", 0.6888, 0.0037, 0.703, 0.014)
SNAP = replace(WORLD, trace="snap")


@pytest.fixture(autouse=True)
def expected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    file = tmp_path / "expected.json"
    monkeypatch.setattr(expected_figures, "EXPECTED", file)
    return file


def test_each_trace_says_how_much_was_searched(results: TraceResults) -> None:
    extended = SearchKind("extended", "ndcg")
    real = replace(results, source=TraceSource("snap"), formulas={**results.formulas, extended: ()})
    expected_figures.save_figures([results, real], [WORLD, SNAP])
    world, snap = expected_figures.read_figures().traces
    assert world.searched == snap.searched == "2 generations of 16 formulas, 1 seed, 3 folds"
    assert world.extended == ""
    assert snap.extended == "2 generations of 8 formulas, 1 seed, 3 folds"


def test_figures_of_other_traces_stay(results: TraceResults) -> None:
    expected_figures.save_figures(
        [results, replace(results, source=TraceSource("snap"))], [WORLD, SNAP]
    )
    expected_figures.save_figures([results], [replace(WORLD, ours=0.9)])
    assert expected_figures.read_figures().rows == [replace(WORLD, ours=0.9), SNAP]


def test_only_figures_that_a_test_can_hold_have_a_floor(
    results: TraceResults, expected: Path
) -> None:
    expected_figures.save_figures(
        [results, replace(results, source=TraceSource("snap"))], [WORLD, SNAP]
    )
    lines = [line for line in expected.read_text("utf-8").splitlines() if '"t2"' in line]
    assert ["floor" in line for line in lines] == [False, True]
