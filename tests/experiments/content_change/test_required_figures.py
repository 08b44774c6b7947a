"""The stored figures meet what is required; a short run of the generated pages does too."""

from dataclasses import replace

import numpy as np
from experiments.content_change.evaluation import JudgedPages, compare, forecast_row
from experiments.content_change.expected_figures import read_figures
from experiments.content_change.generated_world import GeneratedWorld, generate_world
from experiments.content_change.planted_leader import PLANTED, planted_rows
from experiments.content_change.protocol import ForecastTask, forecast_own
from experiments.content_change.required_figures import FigureBound, bounded_figures
from experiments.content_change.result_tables import ExperimentResult

from freshet.core.content.content_grid import changed_steps
from freshet.predict.expert_problem import SlidingSettings
from freshet.predict.sliding_window import ForecastMethod

STORED = read_figures()
BOUND = FigureBound("d", "any_text", 0.3, "pooled", "", "auc", 0.7, floor=0.75)


def test_a_bound_is_met_on_its_side() -> None:
    assert BOUND.is_met(0.7)
    assert not BOUND.is_met(0.69)
    assert BOUND.is_above_floor(0.75)
    assert not BOUND.is_above_floor(0.74)
    assert replace(BOUND, is_upper=True).is_met(0.69)
    assert not replace(BOUND, is_upper=True, floor=None).is_above_floor(0.71)


def test_every_required_figure_is_stored_and_above_its_floor() -> None:
    figures = dict(bounded_figures(STORED.bounds, STORED.result))
    assert set(figures) == set(STORED.bounds)
    for bound, value in figures.items():
        assert bound.goal or bound.is_above_floor(value), bound
    missed = [bound for bound, value in figures.items() if not bound.is_met(value)]
    assert [bound.method for bound in missed if not bound.goal] == ["learned_correction"]


def test_a_planted_leader_is_used_by_hedge() -> None:
    rows = planted_rows(6, (ForecastMethod.VOTE, ForecastMethod.HEDGE))
    bounds = [bound for bound in STORED.bounds if bound.data == PLANTED]
    figures = list(bounded_figures(bounds, ExperimentResult(tuple(rows))))
    assert len(figures) == 1
    assert all(bound.is_met(value) for bound, value in figures)
    assert rows[0].accuracy < 0.7


def test_content_helps_in_the_generated_world() -> None:
    grid, settings = generate_world(GeneratedWorld()).grid, SlidingSettings()
    labels, pages = changed_steps(grid), np.arange(grid.page_count, dtype=np.int32)
    tested = JudgedPages("world", "any_text", 0.3, labels, grid.hosts, settings.window)
    methods = (ForecastMethod.MAJORITY, ForecastMethod.SINGLE_EXPERT)
    majority, single = forecast_own(ForecastTask(grid, labels, pages, settings), methods)
    result = ExperimentResult((forecast_row(tested, single),), (compare(tested, single, majority),))
    figures = list(bounded_figures(STORED.bounds, result))
    assert {bound.measure for bound, _ in figures} == {"difference", "p"}
    assert all(bound.is_above_floor(value) for bound, value in figures)
