"""Sweeps of the training size (Figure 6) and of the number of experts (Figure 7)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experiments.content_change.evaluation import JudgedPages, forecast_row
from experiments.content_change.protocol import (
    EXPERT_METHODS,
    SELECTIONS,
    ForecastTask,
    MethodForecasts,
    forecast_methods,
    forecast_own,
)
from freshet.core.types import IndexArray
from freshet.predict.sliding_window import ForecastMethod

TRAINING_SIZES = (20, 30, 40, 50, 60, 70, 80, 90)
EXPERT_COUNTS = (1, 2, 5, 10, 20, 30, 50)
SWEPT_SELECTIONS = ("xcorr", "random")
OWN_METHODS = (ForecastMethod.MAJORITY, ForecastMethod.SINGLE_EXPERT)
TRAINING_SIZE, EXPERT_COUNT = "training_size", "experts"


@dataclass(frozen=True, slots=True)
class SweepRow:
    """The figures of a method at one value of a sweep: a training size or a number of experts."""

    data: str
    label: str
    filter: float
    sweep: str
    value: int
    method: str
    selection: str
    pages: int
    windows: int
    accuracy: float
    auc: float


@dataclass(frozen=True, slots=True)
class SweepSettings:
    """The values of both sweeps, and how experts are chosen.

    All training sizes are tested on the steps after the largest one, and their experts are chosen
    by the first window of the task.
    """

    training_sizes: tuple[int, ...] = TRAINING_SIZES
    expert_counts: tuple[int, ...] = EXPERT_COUNTS
    selections: tuple[str, ...] = SWEPT_SELECTIONS
    experts: int = 20


def run_sweeps(
    task: ForecastTask, tested: JudgedPages, settings: SweepSettings, report: Callable[[str], None]
) -> list[SweepRow]:
    """Return the rows of both sweeps for the pages of a task."""
    rows: list[SweepRow] = []
    last = replace(tested, first_step=max(settings.training_sizes))
    has_steps = np.flatnonzero(last.is_tested.any(axis=1)).astype(np.int32)
    long_task, last = _select(task, last, has_steps)
    related = {
        name: task.related(SELECTIONS[name], settings.experts) for name in settings.selections
    }
    for size in settings.training_sizes:
        report(f"  training size {size}")
        sized = replace(long_task, settings=replace(task.settings, window=size))
        forecasts = forecast_own(sized, OWN_METHODS)
        for name, pages in related.items():
            forecasts += forecast_methods(sized, pages, EXPERT_METHODS, name)
        rows += sweep_rows(TRAINING_SIZE, size, last, forecasts)
    for name in settings.selections:
        most = task.related(SELECTIONS[name], max(settings.expert_counts))
        for count in settings.expert_counts:
            report(f"  {count} experts by {name}")
            forecasts = forecast_methods(task, most.closest(count), EXPERT_METHODS, name)
            rows += sweep_rows(EXPERT_COUNT, count, tested, forecasts)
    return rows


def sweep_rows(
    sweep: str, value: int, tested: JudgedPages, forecasts: Sequence[MethodForecasts]
) -> Iterator[SweepRow]:
    """Yield the rows of one value."""
    for forecast in forecasts:
        row = forecast_row(tested, forecast)
        yield SweepRow(
            row.data, row.label, row.filter, sweep, value, row.method, row.selection, row.pages,
            row.windows, row.accuracy, row.auc,
        )  # fmt: skip


def _select(
    task: ForecastTask, tested: JudgedPages, rows: IndexArray
) -> tuple[ForecastTask, JudgedPages]:
    """Return the task and its judge for some of the pages."""
    return (
        replace(task, pages=task.pages[rows]),
        replace(tested, labels=tested.labels[rows], hosts=tested.hosts[rows]),
    )
