"""Sweeps, the planted leader, and the pages that related pages help."""

import numpy as np
from experiments.content_change.evaluation import JudgedPages
from experiments.content_change.experiment import (
    PLANTED,
    SWEEPS,
    ExperimentSettings,
    run_experiment,
)
from experiments.content_change.generated_world import GeneratedWorld, generate_world
from experiments.content_change.page_breakdown import breakdown_rows, correlation
from experiments.content_change.planted_leader import planted_rows
from experiments.content_change.protocol import MethodForecasts
from experiments.content_change.sweeps import SweepSettings

from freshet.core.types import IndexArray
from freshet.predict.expert_problem import SlidingSettings
from freshet.predict.sliding_window import ForecastMethod


def test_all_training_sizes_are_tested_on_the_same_steps() -> None:
    settings = ExperimentSettings(
        parts=(SWEEPS,),
        labels=("any_text",),
        filters=(0.3,),
        sliding=SlidingSettings(window=20, penalties=(0.03,)),
        sweep=SweepSettings((20, 30), (1, 3), ("graph",), experts=2),
    )
    grid = generate_world(GeneratedWorld(groups=2, followers=2, steps=50)).grid
    rows = run_experiment("world", grid, settings, lambda _: None).sweeps
    sizes = [row for row in rows if row.sweep == "training_size"]
    assert {row.value for row in sizes} == {20, 30}
    assert {row.windows for row in sizes} == {6 * 19}
    assert [row.value for row in rows if row.sweep == "experts" and row.method == "hedge"] == [1, 3]


def test_hedge_uses_a_planted_leader_and_the_vote_does_not() -> None:
    methods = ForecastMethod.VOTE, ForecastMethod.HEDGE
    vote, hedge = planted_rows(4, methods, SlidingSettings(penalties=(0.03, 0.3)))
    assert (vote.data, vote.selection, vote.pages) == (PLANTED, "planted", 4)
    assert 0.55 < vote.accuracy < 0.7
    assert hedge.accuracy >= 0.8


def test_gains_of_pages_are_compared_with_2d_and_random_experts() -> None:
    labels = np.ones((3, 6), np.int32)
    labels[0, 0] = 0
    hosts = np.array([1, 1, 2], np.uint64)
    tested = JudgedPages("pages", "any_text", 0.05, labels, hosts, 2)
    right, half = np.ones((3, 6), np.int32), np.tile(np.arange(6) % 2, (3, 1)).astype(np.int32)
    forecasts = [
        method_forecasts("single_expert", "", half),
        method_forecasts("hedge", "xcorr", right),
        method_forecasts("hedge", "random", right),
        method_forecasts("hedge", "random_1", half),
    ]
    names = ["https://a.example/1", "https://a.example/2", "https://b.example/"]
    groups, gains = breakdown_rows(tested, names, forecasts)
    by_name = {group.group: group for group in groups}
    assert (by_name["all"].gain, by_name["all"].gain_over_random) == (0.5, 0.25)
    assert by_name["alone on its host"].pages == 1
    assert [gain.changes for gain in gains] == [1, 2, 2]
    assert gains[0].host == "a.example"


def test_the_correlation_with_a_constant_is_0() -> None:
    assert correlation(np.ones(3), np.arange(3.0)) == 0.0


def method_forecasts(method: str, selection: str, classes: IndexArray) -> MethodForecasts:
    weights = np.array([0.1, 0.2, 0.3]) if selection else np.empty(0)
    return MethodForecasts(method, selection, classes, classes * 1.0, weights)
