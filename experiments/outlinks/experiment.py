"""Runs the parts of the experiment on real pages or on the generated world."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

import numpy as np

from experiments.outlinks.crawls import generated_crawls, recorded_crawls
from experiments.outlinks.evaluation import (
    OutlinkRow,
    Prediction,
    deviations,
    mean_figures,
    measure,
)
from experiments.outlinks.figures import (
    Rankings,
    history_points,
    ranking_points,
    static_points,
)
from experiments.outlinks.models import (
    COLD,
    WITH_THRESHOLD,
    ModelChoice,
    compared_models,
    tuned_models,
)
from experiments.outlinks.problems import SPLITS, EvaluationPlan, FeatureSource, OutlinkTask
from experiments.outlinks.result_tables import ExperimentResult, merge_results
from experiments.outlinks.summaries import (
    FigurePoint,
    correlation_points,
    summary_points,
    week_rows,
)
from freshet.core.content.outlink_targets import LinkKind, OutlinkTarget
from freshet.core.content.page_steps import PageSteps
from freshet.core.types import FloatArray

SUMMARY, MODELS, TUNING, FIGURES, CRAWL = "summary", "models", "tuning", "figures", "crawl"
EXPERIMENT_PARTS = (SUMMARY, MODELS, TUNING, FIGURES, CRAWL)
# Tuning is slow, and is run only if it is named.
USUAL_PARTS = (SUMMARY, MODELS, FIGURES, CRAWL)
RANKED_SPLIT = TUNED_SPLIT = "page"
Reporter = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ExperimentSettings:
    """Which parts, splits, targets and kinds of links are run, and which weeks are predicted."""

    plan: EvaluationPlan
    parts: tuple[str, ...] = USUAL_PARTS
    splits: tuple[str, ...] = SPLITS
    targets: tuple[OutlinkTarget, ...] = tuple(OutlinkTarget)
    kinds: tuple[LinkKind, ...] = tuple(LinkKind)
    trace_folder: Path | None = None
    tuning_draws: int = 3


@dataclass(slots=True)
class _WeekOutcomes:
    """Predictions and truths of the parts of a week."""

    scores: list[FloatArray] = field(default_factory=list)
    classes: list[FloatArray] = field(default_factory=list)
    truths: list[FloatArray] = field(default_factory=list)
    new_links: list[FloatArray] = field(default_factory=list)

    def add(self, steps: PageSteps, task: OutlinkTask, prediction: Prediction) -> None:
        counts = getattr(steps.new_links, task.kind.value)[task.tested, task.week]
        self.scores.append(prediction.scores)
        self.truths.append(task.truth(steps))
        self.new_links.append(np.nan_to_num(counts).astype(np.float64))
        if prediction.classes is not None:
            self.classes.append(prediction.classes)

    def figures(self, target: OutlinkTarget) -> dict[str, float]:
        classes = np.concatenate(self.classes) if self.classes else None
        prediction = Prediction(np.concatenate(self.scores), classes)
        return measure(
            target, np.concatenate(self.truths), np.concatenate(self.new_links), prediction
        )

    @property
    def pages(self) -> int:
        return sum(map(len, self.scores))


class SourceFeatures:
    """Pages and their features, which are made when they are first asked for."""

    def __init__(self, data: str, steps: PageSteps) -> None:
        self.data, self.steps = data, steps
        self._source: FeatureSource | None = None

    def source(self, report: Reporter) -> FeatureSource:
        """Return the tables of features."""
        if self._source is None:
            report(f"{self.data}: related pages and features")
            self._source = FeatureSource(self.steps)
        return self._source


def run_experiment(
    features: SourceFeatures, settings: ExperimentSettings, report: Reporter
) -> ExperimentResult:
    """Run the parts that the settings name."""
    data, steps = features.data, features.steps
    result = ExperimentResult()
    if SUMMARY in settings.parts:
        report(f"{data}: summaries of {steps.page_count} pages")
        result = replace(
            result,
            weeks=tuple(week_rows(data, steps)),
            points=tuple(summary_points(data, steps)),
        )
    if CRAWL in settings.parts:
        report(f"{data}: crawls")
        folder = settings.trace_folder
        crawls = recorded_crawls(folder) if folder else generated_crawls(data, steps)
        result = replace(result, crawls=tuple(crawls))
    if FIGURES in settings.parts:
        source = features.source(report)
        report(f"{data}: figures 8 to 13")
        week = settings.plan.weeks[-1]
        points = (
            *correlation_points(data, source),
            *static_points(data, source, settings.plan, week),
            *history_points(data, source, settings.plan, week),
        )
        result = merge_results(result, ExperimentResult(points=points))
    if MODELS in settings.parts:
        rows = run_models(data, features.source(report), settings, report)
        result = merge_results(result, rows)
    if TUNING in settings.parts:
        rows = run_tuned_models(data, features.source(report), settings, report)
        result = merge_results(result, rows)
    return result


def run_tuned_models(
    data: str, source: FeatureSource, settings: ExperimentSettings, report: Reporter
) -> ExperimentResult:
    """Run the tuned trees for NL on the split by pages."""
    rows: list[OutlinkRow] = []
    for kind, model in product(settings.kinds, tuned_models(settings.tuning_draws)):
        names = OutlinkTarget.NL, kind, TUNED_SPLIT
        rows.append(run_model(data, source, settings.plan, names, model)[0])
        report(f"{data}, {TUNED_SPLIT}, {kind}, nl: {model.name} {model.features}")
    return ExperimentResult(rows=tuple(rows))


def run_models(
    data: str, source: FeatureSource, settings: ExperimentSettings, report: Reporter
) -> ExperimentResult:
    """Run all models on all splits, and compare them as rankings on the split by pages."""
    rows: list[OutlinkRow] = []
    points: list[FigurePoint] = []
    for split, kind in product(settings.splits, settings.kinds):
        rankings: Rankings = {}
        models = [
            (target, model)
            for target in settings.targets
            for model in compared_models(target, split)
        ]
        for target, model in models:
            row, ranking = run_model(data, source, settings.plan, (target, kind, split), model)
            rows.append(row)
            report(f"{data}, {split}, {kind}, {target}: {model.name} {model.features}")
            if model.name != COLD and not model.name.endswith(WITH_THRESHOLD):
                rankings[_ranking_name(target, model)] = ranking
        if split == RANKED_SPLIT:
            week = settings.plan.weeks[-1]
            points += ranking_points(data, source.steps, kind, week, rankings)
    return ExperimentResult(rows=tuple(rows), points=tuple(points))


def run_model(
    data: str,
    source: FeatureSource,
    plan: EvaluationPlan,
    names: tuple[OutlinkTarget, LinkKind, str],
    model: ModelChoice,
) -> tuple[OutlinkRow, FloatArray]:
    """Return the mean figures of the weeks, and the ranking of all pages in the last week."""
    target, kind, split = names
    repetitions, pages = [], 0
    for week, repetition in plan.repetitions:
        outcomes = _WeekOutcomes()
        ranking = np.full(source.steps.page_count, np.nan)
        for task in repetition.tasks(source.steps, target, kind, split, week):
            prediction = model.predict(task, source)
            outcomes.add(source.steps, task, prediction)
            ranking[task.tested] = prediction.scores
        repetitions.append(outcomes.figures(target))
        pages += outcomes.pages
    figures = mean_figures(repetitions)
    row = OutlinkRow(
        data, model.name, model.features, target.value, kind.value, split, **figures, pages=pages,
        repetitions=len(repetitions), **deviations(repetitions),
    )  # fmt: skip
    return row, ranking


def _ranking_name(target: OutlinkTarget, model: ModelChoice) -> str:
    if not model.features:
        return model.name
    return f"{target.value.upper()} {model.name} {model.features}"
