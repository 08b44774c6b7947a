"""The measures, the splits, the generated world, and the short form of the experiment."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiments.outlinks.__main__ import (
    make_parser,
    open_source,
    open_sources,
    settings_text,
    stages,
)
from experiments.outlinks.crawls import weekly_trace
from experiments.outlinks.evaluation import (
    Prediction,
    curve_area,
    deviations,
    links_per_fetch,
    mean_figures,
    measure,
    precision_curve,
)
from experiments.outlinks.experiment import (
    MODELS,
    SUMMARY,
    TUNING,
    ExperimentSettings,
    SourceFeatures,
    run_experiment,
)
from experiments.outlinks.finished_stages import FinishedStages, StageRecord
from experiments.outlinks.generated_world import GeneratedWeb, generate_web
from experiments.outlinks.models import best_threshold
from experiments.outlinks.problems import SPLITS, EvaluationPlan, targets_of
from experiments.outlinks.result_tables import ExperimentResult, as_json, merge_results

from freshet.core.content.outlink_targets import LinkKind, OutlinkTarget
from freshet.core.content.page_steps import PageSteps
from freshet.core.errors import UsageError

ISSUE_KEYS = {
    "model", "features", "target", "links", "split", "f1", "balanced_accuracy", "auc",
    "average_precision", "spearman", "r2", "mae", "area", "pages",
}  # fmt: skip


@pytest.fixture(scope="module")
def steps() -> PageSteps:
    return generate_web(GeneratedWeb(4000))


def test_a_perfect_ranking_without_ties_has_the_area_one() -> None:
    truth = np.arange(200.0)
    assert curve_area(precision_curve(truth, truth)) == pytest.approx(1.0)
    assert curve_area(precision_curve(truth, -truth)) < 0.4


def test_ties_are_broken_at_random_so_that_a_perfect_ranking_stays_below_one() -> None:
    truth = np.repeat([1.0, 0.0], [20, 180])
    assert 0.5 < curve_area(precision_curve(truth, truth)) < 0.8


def test_links_per_fetch_counts_the_first_five_percent() -> None:
    new_links = np.zeros(100)
    new_links[:5] = 4
    assert links_per_fetch(new_links, -np.arange(100.0)) == 4
    assert links_per_fetch(new_links, np.arange(100.0)) == 0


def test_measures_that_do_not_apply_are_none() -> None:
    truth = np.array([0.0, 1.0, 0.0, 1.0])
    prediction = Prediction(np.array([0.1, 0.9, 0.2, 0.8]), truth.astype(int))
    figures = mean_figures([measure(OutlinkTarget.NL, truth, truth, prediction)])
    assert (figures["f1"], figures["auc"], figures["r2"]) == (1.0, 1.0, None)
    figures = mean_figures([measure(OutlinkTarget.LCR, truth, truth, Prediction(truth))])
    assert (figures["f1"], figures["r2"], figures["mae"]) == (None, 1.0, 0.0)


def test_deviations_are_between_repetitions() -> None:
    repetitions = [{"f1": f1, "auc": 0.5, "spearman": float("nan")} for f1 in (0.3, 0.5)]
    spread = deviations(repetitions)
    assert spread["f1_deviation"] == pytest.approx(0.1414)
    assert (spread["auc_deviation"], spread["spearman_deviation"]) == (0.0, None)
    assert deviations(repetitions[:1])["f1_deviation"] is None


def test_the_chosen_threshold_has_the_highest_f1() -> None:
    scores, labels = np.array([0.0, 0.1, 0.2, 0.4, 0.9]), np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    assert best_threshold(scores, labels) == 0.2


def test_seeds_draw_other_parts(steps: PageSteps) -> None:
    plan = EvaluationPlan((9,), page_parts=4, seeds=(0, 1))
    tested = []
    for week, repetition in plan.repetitions:
        tasks = repetition.tasks(steps, OutlinkTarget.NL, LinkKind.INTERNAL, "page", week)
        parts = [task.tested.tolist() for task in tasks]
        assert len(parts) == 4
        assert sorted(page for part in parts for page in part) == list(range(steps.page_count))
        tested.append(parts[0])
    assert tested[0] != tested[1]


@pytest.mark.parametrize("split", SPLITS)
def test_what_is_predicted_is_not_learnt_from(steps: PageSteps, split: str) -> None:
    plan = EvaluationPlan((9,))
    for task in plan.tasks(steps, OutlinkTarget.NL, LinkKind.INTERNAL, split, 9):
        learnt_weeks = {week for week, _ in task.trained}
        learnt_pages = np.unique(np.concatenate([pages for _, pages in task.trained]))
        assert (9 in learnt_weeks) == (split in {"page", "host"})
        if split != "time":
            assert not set(task.tested) & set(learnt_pages)
        if "host" in split:
            assert not set(steps.sites[task.tested]) & set(steps.sites[learnt_pages])


def test_rows_are_limited(steps: PageSteps) -> None:
    tasks = EvaluationPlan((9,), max_rows=60).tasks(
        steps, OutlinkTarget.NL, LinkKind.INTERNAL, "time", 9
    )
    assert sum(len(pages) for _, pages in next(tasks).trained) == 60


def test_the_world_has_the_published_shares_and_the_same_seed_the_same_pages() -> None:
    steps = generate_web(GeneratedWeb(30_000))
    internal, external = steps.new_links.internal[:, 1:], steps.new_links.external[:, 1:]
    assert 0.66 < (internal == 0).mean() < 0.77
    assert 0.90 < (external == 0).mean() < 0.955
    assert 2.0 < internal.mean() < 3.5
    assert 0.25 < external.mean() < 0.6
    assert np.allclose(np.linalg.norm(steps.vectors[:100], axis=1), 1, atol=1e-5)
    again = generate_web(GeneratedWeb(30_000))
    np.testing.assert_array_equal(again.new_links.internal, steps.new_links.internal)


def test_the_link_change_rate_is_that_of_nine_intervals(steps: PageSteps) -> None:
    task = next(EvaluationPlan((9,)).tasks(steps, OutlinkTarget.LCR, LinkKind.INTERNAL, "page", 9))
    rates = targets_of(steps, task, 9)
    np.testing.assert_allclose(rates, (steps.new_links.internal[:, 1:] > 0).mean(axis=1))


def test_the_short_form_runs_and_its_rows_have_the_agreed_keys() -> None:
    steps = generate_web(GeneratedWeb(500))
    settings = ExperimentSettings(
        EvaluationPlan((9,), max_rows=200),
        parts=(SUMMARY, MODELS),
        splits=("page",),
        targets=(OutlinkTarget.NL,),
        kinds=(LinkKind.INTERNAL,),
    )
    messages: list[str] = []
    result = run_experiment(SourceFeatures("world", steps), settings, messages.append)
    rows = json.loads(as_json("world", result))["rows"]
    models = {row["model"]: row for row in rows if "model" in row}
    assert set(models["default"]) >= ISSUE_KEYS
    assert models["default"]["auc"] > 0.7
    assert {"NNL-Pr", "NNL-Av", "LCR-history", "CCR", "default, no history"} <= set(models)
    assert {row["week"] for row in rows if row.get("table") == "weeks"} == set(range(1, 10))
    assert merge_results(result, result) == result
    assert merge_results(ExperimentResult(), result) == result


def test_the_weeks_are_the_cycles_of_a_trace(steps: PageSteps) -> None:
    trace = weekly_trace(steps, steps.new_links.internal[:, 1:])
    assert trace.cycles == 9
    assert trace.new_links is not None
    assert int(trace.new_links.sum()) == int(np.nansum(steps.new_links.internal))


def test_parts_and_splits_are_run_one_by_one() -> None:
    options = make_parser().parse_args(
        ["--pages", "50", "--part", "summary", "--part", "models", "--split", "page", "--split",
         "host"]
    )  # fmt: skip
    name, steps, settings = open_source(options)
    assert (name, steps.page_count) == ("world", 50)
    run = [(stage.parts, stage.splits) for stage in stages(settings)]
    assert run == [
        (("summary",), ("page",)),
        (("models",), ("page",)),
        (("models",), ("host",)),
    ]


def test_a_finished_stage_is_used_again_for_the_same_pages_and_settings(
    steps: PageSteps, tmp_path: Path
) -> None:
    settings = ExperimentSettings(EvaluationPlan((9,)), parts=(SUMMARY,), splits=("page",))
    result = run_experiment(SourceFeatures("world", steps), settings, lambda message: None)
    finished = FinishedStages(tmp_path)
    record = StageRecord("d", SUMMARY, "page", settings_text(settings))
    assert finished.get("world", record) is None
    finished.put("world", record, result)
    assert finished.get("world", record) == result
    assert finished.get("pages", record) is None
    more_weeks = settings_text(replace(settings, plan=EvaluationPlan((8, 9))))
    for other in (replace(record, digest="e"), replace(record, settings=more_weeks)):
        assert finished.get("world", other) is None
    assert FinishedStages(None).get("world", record) is None


def test_the_run_of_everything_needs_the_real_pages() -> None:
    options = make_parser().parse_args(["--all", "--pages", "50"])
    with pytest.raises(UsageError, match="give their folder with --data"):
        next(open_sources(options))


def test_trees_are_tuned_alike_with_lbla_and_with_all_features() -> None:
    steps = generate_web(GeneratedWeb(300))
    settings = ExperimentSettings(
        EvaluationPlan((9,), max_rows=90),
        parts=(TUNING,),
        kinds=(LinkKind.INTERNAL,),
        tuning_draws=1,
    )
    result = run_experiment(SourceFeatures("world", steps), settings, lambda message: None)
    assert [(row.model, row.features) for row in result.rows] == [
        ("extra_trees, tuned", "lbla"),
        ("extra_trees, tuned", "all"),
    ]
    assert all(row.spearman is not None and row.spearman > 0.3 for row in result.rows)
