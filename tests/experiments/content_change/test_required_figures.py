"""The stored figures meet what is required; a short run of the generated pages does too."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.content_change.evaluation import (
    ComparisonRow,
    ForecastRow,
    JudgedPages,
    compare,
    forecast_row,
)
from experiments.content_change.expected_figures import read_figures
from experiments.content_change.generated_world import GeneratedWorld, generate_world
from experiments.content_change.planted_leader import PLANTED, planted_rows
from experiments.content_change.protocol import ForecastTask, forecast_own
from experiments.content_change.required_figures import (
    BOUNDS,
    FigureBound,
    bounded_figures,
)
from experiments.content_change.result_tables import ExperimentResult

from freshet.core.content.content_grid import changed_steps
from freshet.predict.expert_problem import SlidingSettings
from freshet.predict.sliding_window import ForecastMethod

STORED = read_figures().result
BOUND = FigureBound("d", "any_text", 0.3, "pooled", "", "auc", 0.7, floor=0.75)


def row(auc: float) -> ForecastRow:
    return ForecastRow("d", "pooled", "any_text", 0.3, "", 9, 1000, 0.7, 0.6, auc, 0.5)


def test_a_bound_is_met_on_its_side() -> None:
    assert BOUND.is_met(row(0.7))
    assert not BOUND.is_met(row(0.69))
    assert BOUND.is_above_floor(row(0.75))
    assert not BOUND.is_above_floor(row(0.74))
    assert replace(BOUND, is_upper=True).is_met(row(0.69))
    assert not replace(BOUND, is_upper=True, floor=None).is_above_floor(row(0.71))


@pytest.mark.parametrize(
    ("difference", "p", "is_met"),
    [(0.02, 0.01, True), (0.02, 0.06, False), (-0.02, 0.01, False), (0.0, 0.01, False)],
)
def test_a_p_value_counts_only_for_the_better_method(
    difference: float, p: float, is_met: bool
) -> None:
    bound = replace(BOUND, measure="p", bound=0.05, is_upper=True, against="pooled", floor=None)
    test = ComparisonRow("d", "any_text", 0.3, "pooled", "", "pooled", "", 9, difference, p)
    assert bound.is_met(test) == is_met


def test_every_required_figure_is_stored_and_above_its_floor() -> None:
    rows = dict(bounded_figures(BOUNDS, STORED))
    assert set(rows) == set(BOUNDS)
    for bound, figure_row in rows.items():
        assert bound.goal or bound.is_above_floor(figure_row), bound
    missed = [
        (*bound.key, bound.measure)
        for bound, figure_row in rows.items()
        if not bound.goal and not bound.is_met(figure_row)
    ]
    assert not missed


def test_a_worse_figure_falls_below_its_floor() -> None:
    worse = [replace(row, auc=row.auc - 0.05, logloss=row.logloss + 0.05) for row in STORED.rows]
    bounds = [bound for bound in BOUNDS if bound.measure in ("auc", "logloss") and not bound.goal]
    for bound, figure_row in bounded_figures(bounds, ExperimentResult(tuple(worse))):
        assert not bound.is_above_floor(figure_row)


def test_a_planted_leader_is_used_by_hedge() -> None:
    rows = planted_rows(6, (ForecastMethod.VOTE, ForecastMethod.HEDGE))
    bounds = [bound for bound in BOUNDS if bound.data == PLANTED]
    figures = list(bounded_figures(bounds, ExperimentResult(tuple(rows))))
    assert len(figures) == 1
    assert all(bound.is_met(row) for bound, row in figures)
    assert rows[0].accuracy < 0.7


def test_content_helps_in_the_generated_world() -> None:
    grid, settings = generate_world(GeneratedWorld()).grid, SlidingSettings()
    labels, pages = changed_steps(grid), np.arange(grid.page_count, dtype=np.int32)
    tested = JudgedPages("world", "any_text", 0.3, labels, grid.hosts, settings.window)
    methods = (ForecastMethod.MAJORITY, ForecastMethod.SINGLE_EXPERT)
    majority, single = forecast_own(ForecastTask(grid, labels, pages, settings), methods)
    result = ExperimentResult((forecast_row(tested, single),), (compare(tested, single, majority),))
    figures = list(bounded_figures(BOUNDS, result))
    assert {bound.measure for bound, _ in figures} == {"difference", "p"}
    assert all(bound.is_above_floor(row) for bound, row in figures)
