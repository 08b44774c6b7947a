"""On the real pages, the methods without experts and the learned models keep their floors."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from experiments.content_change.expected_figures import read_figures, source_record
from experiments.content_change.experiment import ExperimentSettings, run_experiment
from experiments.content_change.recorded_pages import read_grid
from experiments.content_change.required_figures import BOUNDS, bounded_figures

from freshet.core.content.content_grid import ContentGrid

DATA = Path(os.environ["FRESHET_DATA"])
STORED = read_figures()
QUICK = ExperimentSettings(labels=("any_text",), selections=(), with_unions=False)


@pytest.fixture(scope="module")
def grid() -> ContentGrid:
    return read_grid(DATA, None)


def test_the_data_is_that_of_the_published_run(grid: ContentGrid) -> None:
    assert source_record("pages", grid) in STORED.sources


@pytest.mark.parametrize("label", ["any_text", "words10"])
def test_figures_do_not_fall_below_their_floors(grid: ContentGrid, label: str) -> None:
    result = run_experiment("pages", grid, replace(QUICK, labels=(label,)), print)
    figures = list(bounded_figures(BOUNDS, result))
    assert {bound.method for bound, _ in figures} == {
        "single_expert", "pooled", "learned_correction"
    }  # fmt: skip
    for bound, row in figures:
        assert bound.is_above_floor(row), bound
