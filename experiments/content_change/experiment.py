"""Runs all methods on the pages of a source, and makes the rows and the comparisons."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from experiments.content_change.crawl import SEEDS, run_crawls
from experiments.content_change.crawl_choosers import CrawlSettings
from experiments.content_change.evaluation import (
    ComparisonRow,
    JudgedPages,
    compare,
    forecast_row,
)
from experiments.content_change.learned_correction import (
    LEARNED_CORRECTION,
    forecast_corrected,
)
from experiments.content_change.page_breakdown import breakdown_rows
from experiments.content_change.planted_leader import planted_rows
from experiments.content_change.pooled import POOLED, forecast_pooled
from experiments.content_change.protocol import (
    EXPERT_METHODS,
    EXPERTS,
    FILTERS,
    PAPER_SELECTIONS,
    RANDOM_SELECTIONS,
    SELECTIONS,
    UNION_METHODS,
    WITH_OWN_METHODS,
    ForecastTask,
    MethodForecasts,
    filtered_pages,
    forecast_methods,
    forecast_own,
)
from experiments.content_change.query_load import RELEVANT, target_of_label
from experiments.content_change.result_tables import ExperimentResult, merge_results
from experiments.content_change.sweeps import SweepSettings, run_sweeps
from freshet.core.content.content_grid import ContentGrid
from freshet.core.types import IndexArray
from freshet.predict.expert_problem import SlidingSettings
from freshet.predict.sliding_window import ForecastMethod

LABELS = ("any_text", "words10", "l1", "significant")
OTHER_LABELS = ("new_outlink", RELEVANT)
UNION_SELECTION = "xcorr"
POOLED_SELECTIONS = ("content", "xcorr", "co_change", "same_host", *RANDOM_SELECTIONS)
METHODS, SWEEPS, CRAWL, PLANTED = "methods", "sweeps", "crawl", "planted"
PARTS = (METHODS, SWEEPS, CRAWL, PLANTED)
Reporter = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ExperimentSettings:
    """Which parts, labels, selections and methods are run.

    Relations that the paper does not have, the pooled model with related pages, sweeps, crawls and
    groups of pages are for the first label only; sweeps have the first filter, crawls the last.
    """

    parts: tuple[str, ...] = (METHODS,)
    labels: tuple[str, ...] = LABELS
    filters: tuple[float, ...] = FILTERS
    selections: tuple[str, ...] = tuple(SELECTIONS)
    experts: int = EXPERTS
    with_unions: bool = True
    pooled_selections: tuple[str, ...] = POOLED_SELECTIONS
    sliding: SlidingSettings = field(default_factory=SlidingSettings)
    sweep: SweepSettings = field(default_factory=SweepSettings)
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    crawl_seeds: tuple[int, ...] = SEEDS


def run_experiment(
    data: str, grid: ContentGrid, settings: ExperimentSettings, report: Reporter
) -> ExperimentResult:
    """Run the parts that the settings name."""
    result = ExperimentResult()
    if METHODS in settings.parts:
        for label in settings.labels:
            label_settings = settings if label == settings.labels[0] else _paper_only(settings)
            new_result = run_label(data, grid, label, label_settings, report)
            result = merge_results(result, new_result)
    if SWEEPS in settings.parts:
        task, tested = open_task(data, grid, settings, settings.filters[0])
        report(f"{data}: sweeps over {len(task.pages)} pages")
        result = replace(result, sweeps=tuple(run_sweeps(task, tested, settings.sweep, report)))
    if CRAWL in settings.parts:
        task, _ = open_task(data, grid, settings, settings.filters[-1])
        pages = grid.select(task.pages)
        report(f"{data}: crawls of {pages.page_count} pages")
        rows, points = run_crawls(data, pages, settings.crawl, report, seeds=settings.crawl_seeds)
        result = replace(result, crawls=tuple(rows), crawl_points=tuple(points))
    if PLANTED in settings.parts:
        result = replace(result, rows=(*result.rows, *planted_rows()))
    return result


def _paper_only(settings: ExperimentSettings) -> ExperimentSettings:
    """Return the settings with the relations of the paper and random experts only."""
    names = tuple(name for name in settings.selections if name in PAPER_SELECTIONS)
    return replace(settings, selections=names, pooled_selections=())


def open_task(
    data: str, grid: ContentGrid, settings: ExperimentSettings, least_share: float
) -> tuple[ForecastTask, JudgedPages]:
    """Return the task of the first label with the pages of a filter, and its judge."""
    labels = _labels(grid, settings.labels[0], settings.sliding)
    pages = filtered_pages(labels, least_share, settings.sliding.window)
    task = ForecastTask(grid, labels, pages, settings.sliding)
    return task, _judge(data, settings.labels[0], task, least_share)


def run_label(
    data: str, grid: ContentGrid, label: str, settings: ExperimentSettings, report: Reporter
) -> ExperimentResult:
    """Run the methods for a label with all filters."""
    labels = _labels(grid, label, settings.sliding)
    window = settings.sliding.window
    pages = filtered_pages(labels, min(settings.filters), window)
    report(f"{data}, {label}: {len(pages)} pages")
    result = ExperimentResult()
    if not len(pages):
        return result
    task = ForecastTask(grid, labels, pages, settings.sliding)
    forecasts = run_methods(task, settings, report)
    for least_share in settings.filters:
        chosen = filtered_pages(labels[pages], least_share, window)
        if not len(chosen):
            continue
        tested = _judge(data, label, replace(task, pages=pages[chosen]), least_share)
        chosen_forecasts = [forecast.select(chosen) for forecast in forecasts]
        rows = tuple(forecast_row(tested, forecast) for forecast in chosen_forecasts)
        comparisons = tuple(compare_methods(tested, chosen_forecasts))
        result = merge_results(result, ExperimentResult(rows, comparisons))
    if label == settings.labels[0]:
        tested = _judge(data, label, task, min(settings.filters))
        groups, gains = breakdown_rows(tested, _page_names(grid, pages), forecasts)
        result = replace(result, page_groups=tuple(groups), page_gains=tuple(gains))
    return result


def _labels(grid: ContentGrid, label: str, sliding: SlidingSettings) -> IndexArray:
    return target_of_label(label, grid, sliding.window).labels(grid, sliding.horizon)


def _judge(data: str, label: str, task: ForecastTask, least_share: float) -> JudgedPages:
    """Return the judge of the forecasts of a task."""
    return JudgedPages(
        data, label, least_share, task.labels[task.pages], task.grid.hosts[task.pages],
        task.settings.window,
    )  # fmt: skip


def _page_names(grid: ContentGrid, pages: IndexArray) -> list[str]:
    return [grid.page_names[page] for page in pages.tolist()]


def run_methods(
    task: ForecastTask, settings: ExperimentSettings, report: Reporter
) -> list[MethodForecasts]:
    """Return the forecasts of all methods for one label."""
    forecasts = [*forecast_own(task), forecast_pooled(task), *forecast_corrected(task)]
    for selection in settings.selections:
        report(f"  experts by {selection}")
        related = task.related(SELECTIONS[selection], settings.experts)
        has_unions = settings.with_unions and selection == UNION_SELECTION
        methods = EXPERT_METHODS
        if has_unions:
            methods = (*EXPERT_METHODS, *UNION_METHODS, *WITH_OWN_METHODS)
        forecasts += forecast_methods(task, related, methods, selection)
        if selection in settings.pooled_selections:
            forecasts.append(forecast_pooled(task, related, selection))
    return forecasts


def compare_methods(
    tested: JudgedPages, forecasts: Sequence[MethodForecasts]
) -> list[ComparisonRow]:
    """Compare methods with the majority, with the page alone, and experts with random experts."""
    by_name = {(forecast.method, forecast.selection): forecast for forecast in forecasts}
    majority = by_name[ForecastMethod.MAJORITY, ""]
    comparisons = [
        compare(tested, by_name[method, ""], majority)
        for method in (ForecastMethod.SINGLE_EXPERT, POOLED, LEARNED_CORRECTION)
    ]
    for (method, selection), forecast in by_name.items():
        if not selection:
            continue
        alone = POOLED if method == POOLED else ForecastMethod.SINGLE_EXPERT
        comparisons.append(compare(tested, forecast, by_name[alone, ""]))
        names = [(method, name) for name in RANDOM_SELECTIONS]
        random = [by_name[name] for name in names if name in by_name]
        if random and selection not in RANDOM_SELECTIONS:
            comparisons.append(compare(tested, forecast, *random))
    return comparisons
