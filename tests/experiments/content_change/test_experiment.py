"""The protocol, its figures, and the generated world in which related pages help."""

import numpy as np
import pytest
from experiments.content_change.evaluation import (
    JudgedPages,
    balanced_accuracy,
    compare,
    forecast_row,
    paired_p_value,
)
from experiments.content_change.expected_figures import read_figures, source_record
from experiments.content_change.experiment import ExperimentSettings, run_experiment
from experiments.content_change.generated_world import GeneratedWorld, generate_world
from experiments.content_change.pooled import changed_words, step_features
from experiments.content_change.protocol import (
    PAPER_SELECTIONS,
    ForecastTask,
    MethodForecasts,
    filtered_pages,
    flip_shares,
    forecast_own,
)

from freshet.core.content.content_grid import changed_steps
from freshet.core.types import IndexArray
from freshet.predict.expert_problem import SlidingSettings

SMALL_WORLD = GeneratedWorld(groups=2, followers=2, steps=60)


def forecasts(classes: IndexArray, method: str = "majority") -> MethodForecasts:
    return MethodForecasts(method, "", classes, np.where(classes == 1, 0.8, 0.2))


def test_flips_are_counted_in_the_first_window_between_known_labels() -> None:
    labels = np.array([[0, 1, 0, 1, 0, 0], [0, 0, -1, 1, 1, 0], [0, 0, 0, 0, 1, 0]], np.int32)
    assert flip_shares(labels, 4).tolist() == [1.0, 0.0, 0.0]
    assert filtered_pages(labels, 0.3, 4).tolist() == [0]


def test_a_page_without_a_label_to_forecast_is_left_out() -> None:
    labels = np.array([[0, 1, 0, 1, -1, -1]], np.int32)
    assert filtered_pages(labels, 0.3, 4).tolist() == []


def test_accuracy_is_averaged_over_pages_and_unknown_labels_do_not_count() -> None:
    labels = np.array([[9, 1, 1, 1, 1], [9, 0, -1, -1, 1]], np.int32)
    tested = JudgedPages("d", "any_text", 0.3, labels, np.array([1, 2], np.uint64), 1)
    row = forecast_row(tested, forecasts(np.ones((2, 5), np.int32)))
    assert (row.pages, row.windows, row.accuracy) == (2, 6, 0.75)
    assert (row.balanced_accuracy, row.auc) == (0.5, 0.5)


def test_hosts_are_compared_and_not_pages() -> None:
    labels = np.ones((4, 6), np.int32)
    hosts = np.array([1, 1, 1, 2], np.uint64)
    tested = JudgedPages("d", "any_text", 0.3, labels, hosts, 0)
    worse = np.zeros((4, 6), np.int32)
    worse[3, :3] = 1
    row = compare(tested, forecasts(labels, "pooled"), forecasts(worse))
    assert (row.hosts, row.difference) == (2, 0.75)
    assert row.p == pytest.approx(0.204833, abs=1e-5)
    assert compare(tested, forecasts(labels), forecasts(labels)).p == 1.0


def test_measures_have_defined_values_for_constant_labels() -> None:
    zeros = np.zeros(3, np.int32)
    assert balanced_accuracy(zeros, zeros) == 1.0
    assert paired_p_value(np.array([0.008, 0.008 + 1e-16])) == 1.0


def test_followers_publish_after_their_leader() -> None:
    world = generate_world(SMALL_WORLD)
    changes = changed_steps(world.grid)
    leaders, lags = world.leaders, world.lags
    for page in np.flatnonzero(leaders >= 0):
        leader_news = changes[leaders[page], : -lags[page]]
        followed = changes[page, lags[page] :]
        assert followed[leader_news == 1].mean() > 0.7
        assert followed[leader_news == 0].mean() < 0.4
    assert world.true_relation().of(1)[0].tolist() == [0]
    assert world.grid.link_targets.tolist() == [0, 3]


def test_related_pages_help_in_the_generated_world() -> None:
    settings = ExperimentSettings(
        labels=("any_text",),
        filters=(0.3,),
        selections=("graph",),
        with_unions=False,
        sliding=SlidingSettings(window=30, penalties=(0.03, 1.0)),
    )
    messages: list[str] = []
    grid = generate_world(SMALL_WORLD).grid
    result = run_experiment("world", grid, settings, messages.append)
    accuracies = {row.method: row.accuracy for row in result.rows}
    assert accuracies["hedge"] > accuracies["single_expert"] > accuracies["majority"]
    assert {"pooled", "coin", "previous", "vote", "default_forecast"} <= set(accuracies)
    assert {row.method for row in result.comparisons if row.against == "majority"} == {
        "single_expert", "pooled", "learned_correction"
    }  # fmt: skip
    assert messages[0] == "world, any_text: 6 pages"


def test_the_stored_figures_of_the_world_are_reproduced() -> None:
    grid = generate_world(GeneratedWorld()).grid
    stored = read_figures()
    assert source_record("world", grid) in stored.sources
    settings = SlidingSettings()
    pages = np.arange(grid.page_count, dtype=np.int32)
    labels = changed_steps(grid)
    tested = JudgedPages("world", "any_text", 0.3, labels, grid.hosts, settings.window)
    rows = {
        row.method: row for row in stored.result.rows if (row.data, row.selection) == ("world", "")
    }
    for forecast in forecast_own(ForecastTask(grid, labels, pages, settings)):
        row = forecast_row(tested, forecast)
        assert row.accuracy == pytest.approx(rows[row.method].accuracy, abs=0.005)
        assert row.auc == pytest.approx(rows[row.method].auc, abs=0.005)
    hedge = [
        row
        for row in stored.result.comparisons
        if (row.data, row.method, row.against) == ("world", "hedge", "single_expert")
        and row.selection in PAPER_SELECTIONS
    ]
    assert hedge
    assert all(row.difference > 0.1 and row.p < 0.05 for row in hedge)


def test_the_features_of_the_pooled_model_do_not_see_the_future() -> None:
    grid = generate_world(SMALL_WORLD).grid
    full = step_features(grid, changed_steps(grid))
    known = grid.until(41)
    # The row of a step has the time of the next look, but nothing that it finds.
    cut = step_features(known, changed_steps(known))
    np.testing.assert_array_equal(cut, full[:, :41])
    assert np.nansum(changed_words(grid)) > 0
