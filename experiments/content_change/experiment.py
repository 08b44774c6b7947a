"""Runs all methods on the pages of a source, and makes the rows and the comparisons."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from experiments.content_change.evaluation import (
    ComparisonRow,
    ForecastRow,
    JudgedPages,
    compare,
    forecast_row,
)
from experiments.content_change.pooled import POOLED, forecast_pooled
from experiments.content_change.protocol import (
    EXPERT_METHODS,
    EXPERTS,
    FILTERS,
    SELECTIONS,
    UNION_METHODS,
    ForecastTask,
    MethodForecasts,
    filtered_pages,
    forecast_methods,
    forecast_own,
)
from freshet.core.content.content_grid import ContentGrid
from freshet.measure.targets.target_names import target_of_name
from freshet.predict.expert_problem import SlidingSettings
from freshet.predict.sliding_window import ForecastMethod

LABELS = ("any_text", "words10", "l1", "significant")
UNION_SELECTION = "xcorr"
PENALTIES = (0.01, 0.03, 0.1)
Reporter = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ExperimentSettings:
    """Which labels, selections and methods are run."""

    labels: tuple[str, ...] = LABELS
    filters: tuple[float, ...] = FILTERS
    selections: tuple[str, ...] = tuple(SELECTIONS)
    experts: int = EXPERTS
    with_unions: bool = True
    sliding: SlidingSettings = field(default_factory=lambda: SlidingSettings(penalties=PENALTIES))


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """The rows of the table and the comparisons between methods."""

    rows: tuple[ForecastRow, ...]
    comparisons: tuple[ComparisonRow, ...]


def run_experiment(
    data: str, grid: ContentGrid, settings: ExperimentSettings, report: Reporter
) -> ExperimentResult:
    """Run the methods for all labels and filters."""
    rows: list[ForecastRow] = []
    comparisons: list[ComparisonRow] = []
    for label in settings.labels:
        labels = target_of_name(label).labels(grid, settings.sliding.horizon)
        pages = filtered_pages(labels, min(settings.filters), settings.sliding.window)
        report(f"{data}, {label}: {len(pages)} pages")
        if not len(pages):
            continue
        task = ForecastTask(grid, labels, pages, settings.sliding)
        forecasts = run_methods(task, settings, report)
        for least_share in settings.filters:
            chosen = filtered_pages(labels[pages], least_share, settings.sliding.window)
            if not len(chosen):
                continue
            tested = JudgedPages(
                data, label, least_share, labels[pages][chosen], grid.hosts[pages][chosen],
                settings.sliding.window,
            )  # fmt: skip
            chosen_forecasts = [forecast.select(chosen) for forecast in forecasts]
            rows += [forecast_row(tested, forecast) for forecast in chosen_forecasts]
            comparisons += compare_methods(tested, chosen_forecasts)
    return ExperimentResult(tuple(rows), tuple(comparisons))


def run_methods(
    task: ForecastTask, settings: ExperimentSettings, report: Reporter
) -> list[MethodForecasts]:
    """Return the forecasts of all methods for one label."""
    forecasts = [*forecast_own(task), forecast_pooled(task)]
    for selection in settings.selections:
        report(f"  experts by {selection}")
        related = task.related(SELECTIONS[selection], settings.experts)
        has_unions = settings.with_unions and selection == UNION_SELECTION
        methods = (*EXPERT_METHODS, *(UNION_METHODS if has_unions else ()))
        forecasts += forecast_methods(task, related, methods, selection)
    return forecasts


def compare_methods(
    tested: JudgedPages, forecasts: Sequence[MethodForecasts]
) -> list[ComparisonRow]:
    """Compare each method with the majority, with 2D, and experts with random experts."""
    by_name = {(forecast.method, forecast.selection): forecast for forecast in forecasts}
    majority = by_name[ForecastMethod.MAJORITY, ""]
    single = by_name[ForecastMethod.SINGLE_EXPERT, ""]
    comparisons = [
        compare(tested, by_name[method, ""], majority)
        for method in (ForecastMethod.SINGLE_EXPERT, POOLED)
    ]
    for (method, selection), forecast in by_name.items():
        if not selection:
            continue
        comparisons.append(compare(tested, forecast, single))
        random = by_name.get((method, "random"))
        if random and selection != "random":
            comparisons.append(compare(tested, forecast, random))
    return comparisons
