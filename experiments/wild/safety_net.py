"""The guarded policies beside the three that they mix, also with defaults that fail on purpose.

The days are split into months of about 30 days. A failing default keeps its forecasts and ranks by
wrong values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from experiments.wild.data import RawTraceSource, open_source
from experiments.wild.experiment import (
    STARTS,
    ExperimentSize,
    experiment_sources,
    source_truth,
)
from freshet.backtest.continuous.daily import crawl_by_day
from freshet.backtest.continuous.ground_truth import GroundTruth
from freshet.backtest.cycle_crawl import visits_per_cycle
from freshet.backtest.metrics import CycleMetrics
from freshet.core.hashing import TIE_BREAK_RANGE, splitmix64
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.types import FloatArray
from freshet.engine.local import LocalEngine
from freshet.engine.result_cache import Columns
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.mixture.guarded_policy import GuardedPolicy
from freshet.schedule.objectives import PageScores
from freshet.schedule.page_states import PageStates
from freshet.schedule.policies import make_policy

MONTH_DAYS = 30
SAFETY_NET_SEEDS = 5
OBJECTIVES = ("changes", "freshness")
FAILING_TRACES, FAILING_BUDGETS = ("raw", "generated"), (0.05, 0.20)
NO_FAILURE = ""
COMPARED = ("guarded", "default", "nutch", "round-robin")

ValueChange = Callable[[PageStates, FloatArray, FloatArray], FloatArray]


def _favoured(states: PageStates, rows: FloatArray, values: FloatArray) -> FloatArray:
    return np.where(states.ids[rows] % 20 == 0, 10.0 + values, 1e-6 * values)


def _random(states: PageStates, rows: FloatArray, values: FloatArray) -> FloatArray:
    """Return numbers that are drawn again after every look at a page."""
    last_looks = np.nan_to_num(states.last_look[rows]).view(np.uint64)
    return splitmix64(states.ids[rows].view(np.uint64) + last_looks) / TIE_BREAK_RANGE


# What a failing default makes of its values; pages never seen keep the value infinity.
FAILURES: Mapping[str, ValueChange] = {
    "ranks the other way round": lambda states, rows, values: 1e-6 / (1e-6 + values),
    "ignores every second page": lambda states, rows, values: np.where(
        states.ids[rows] % 2 == 0, 1e-6 * values, values
    ),
    "visits only every 20th page": _favoured,
    "ranks at random": _random,
}


@dataclass(frozen=True, slots=True)
class SafetyNetRow:
    """A guarded policy and those that it mixes: ChangeRate or freshness, by the objective.

    All figures are means over the seeds; stored rows of several seeds in which the default fails
    have ``default`` of one seed. ``months`` are the shares by which the guarded policy is
    above (or below, if negative) the best of the three in each month, that of the highest mean.
    ``month_errors`` are their standard errors, and ``month_spreads`` the standard deviations
    between single seeds of each of the four policies, as shares of its mean. Both are empty with
    one seed, the spreads also if not all policies have the same seeds. ``failure`` says how the
    default was made to fail, empty if it was not.
    """

    trace: str
    start: str
    budget: float
    objective: str
    failure: str
    guarded: float
    default: float
    nutch: float
    round_robin: float
    months: tuple[float, ...]
    seeds: int = 1
    month_errors: tuple[float, ...] = ()
    month_spreads: tuple[tuple[float, ...], ...] = ()

    @property
    def setting(self) -> tuple[str, str, float, str, str]:
        """The trace, start and budget, the objective, and how the default fails."""
        return self.trace, self.start, self.budget, self.objective, self.failure

    @property
    def above_best(self) -> float:
        """The share by which the guarded policy is above the best of the three in all days."""
        return self.guarded / max(self.default, self.nutch, self.round_robin) - 1.0


@dataclass(frozen=True, slots=True)
class SafetyNetTask:
    """The crawls of all compared policies with one start, budget and failure."""

    start: str
    budget: float
    failure: str


def safety_net_tasks(source: RawTraceSource, size: ExperimentSize) -> Iterator[SafetyNetTask]:
    """Yield the tasks of a trace: all starts and budgets, and failures on some traces."""
    for start, budget in product(STARTS, size.budgets):
        yield SafetyNetTask(start, budget, NO_FAILURE)
    if source.name in FAILING_TRACES:
        for budget, failure in product(FAILING_BUDGETS, FAILURES):
            if budget in size.budgets:
                yield SafetyNetTask("warm", budget, failure)


def safety_net_rows(
    data: Path | None,
    source: RawTraceSource,
    size: ExperimentSize,
    progress: ProgressCallback = ignore_progress,
) -> Iterator[SafetyNetRow]:
    """Yield the rows of a trace; figures are means over the seeds."""
    tasks = list(safety_net_tasks(source, size))
    batches = [
        {
            "data": np.array([str(data or "")]),
            "source": np.array([source.name]),
            "start": np.array([task.start]),
            "budget": np.array([task.budget]),
            "failure": np.array([task.failure]),
            "seeds": np.array([size.seeds]),
            "is_quick": np.array([size.is_quick]),
        }
        for task in tasks
    ]
    results = LocalEngine(size.processes).map(
        crawl_all, batches, total=len(batches), progress=progress
    )
    for task, columns in zip(tasks, results, strict=True):
        for objective in OBJECTIVES:
            yield safety_net_row(source.name, task, objective, columns[objective])


def safety_net_row(
    trace: str, task: SafetyNetTask, objective: str, figures: FloatArray
) -> SafetyNetRow:
    """Return a row from the figures of the four policies by seed and month.

    The last column is of all days.

    >>> figures = np.array([[0.5, 0.4, 0.45], [0.5, 0.5, 0.5], [0.1, 0.2, 0.15], [0.3, 0.3, 0.3]])
    >>> task = SafetyNetTask("warm", 0.05, "")
    >>> row = safety_net_row("raw", task, "changes", figures[:, np.newaxis])
    >>> [round(month, 3) for month in row.months], round(row.above_best, 3)
    ([0.0, -0.2], -0.1)
    """
    means, seeds = figures.mean(axis=1), figures.shape[1]
    months = means[:, :-1]
    best = 1 + months[1:].argmax(axis=0)
    above = relative_differences(months[0], np.take_along_axis(months, best[np.newaxis], 0)[0])
    row = SafetyNetRow(
        trace, task.start, task.budget, objective, task.failure, *means[:, -1].tolist(),
        tuple(above.tolist()), seeds,
    )  # fmt: skip
    if seeds == 1:
        return row
    by_seed = figures[:, :, :-1]
    best_by_seed = np.take_along_axis(by_seed, best[np.newaxis, np.newaxis], 0)[0]
    differences = relative_differences(by_seed[0], best_by_seed)
    errors = differences.std(axis=0, ddof=1) / np.sqrt(seeds)
    spreads = relative_differences(months + by_seed.std(axis=1, ddof=1), months)
    return replace(
        row,
        month_errors=tuple(errors.tolist()),
        month_spreads=tuple(map(tuple, spreads.tolist())),
    )


def safety_net_text(row: SafetyNetRow) -> str:
    """Return a line for a row and one for each of its months.

    >>> spreads = ((0.02,), (0.01,), (0.03,), (0.0,))
    >>> row = SafetyNetRow(
    ...     "raw", "warm", 0.05, "changes", "", 0.49, 0.5, 0.4, 0.3, (-0.02,), 5, (0.01,), spreads
    ... )
    >>> print(safety_net_text(row))
    raw, warm, 5%, changes, seeds: 5; guarded 0.490, default 0.500, nutch 0.400, round-robin 0.300
      all days: -2.0% above the best
      month 1: -2.0% (standard error 1.0%); between seeds 2.0% 1.0% 3.0% 0.0%
    """
    setting = (row.trace, row.start, f"{row.budget:.0%}", row.objective, row.failure)
    figures = (row.guarded, row.default, row.nutch, row.round_robin)
    values = ", ".join(
        f"{name} {figure:.3f}" for name, figure in zip(COMPARED, figures, strict=True)
    )
    lines = [
        f"{', '.join(filter(None, setting))}, seeds: {row.seeds}; {values}",
        f"  all days: {row.above_best:+.1%} above the best",
    ]
    for number, month in enumerate(row.months):
        line = f"  month {number + 1}: {month:+.1%}"
        if row.month_errors:
            line += f" (standard error {row.month_errors[number]:.1%})"
        if row.month_spreads:
            spreads = " ".join(f"{months[number]:.1%}" for months in row.month_spreads)
            line += f"; between seeds {spreads}"
        lines.append(line)
    return "\n".join(lines)


def relative_differences(values: FloatArray, references: FloatArray) -> FloatArray:
    """Return by which shares values are above references, 0 where a reference is 0.

    >>> relative_differences(np.array([0.6, 0.1]), np.array([0.5, 0.0])).round(3).tolist()
    [0.2, 0.0]
    """
    is_known = references > 0.0
    differences: FloatArray = np.where(
        is_known, values / np.where(is_known, references, 1.0) - 1.0, 0.0
    )
    return differences


def crawl_all(columns: Columns) -> Columns:
    """Crawl a trace with the guarded policies and those that they mix; called by an engine."""
    values = {name: column[0].item() for name, column in columns.items()}
    data = Path(values["data"]) if values["data"] else None
    sources = experiment_sources(data, is_quick=values["is_quick"])
    source = next(source for source in sources if source.name == values["source"])
    task = SafetyNetTask(values["start"], values["budget"], values["failure"])
    seeds = range(1, values["seeds"] + 1)
    rules = {name: _figures(source, task, name, seeds) for name in ("nutch", "age")}
    results = {}
    for number, objective in enumerate(OBJECTIVES):
        own = [
            _figures(source, task, f"{kind}-{objective}", seeds) for kind in ("guarded", "bayes")
        ]
        results[objective] = np.array([
            figures[number] for figures in (*own, rules["nutch"], rules["age"])
        ])
    return results


def _figures(
    source: RawTraceSource, task: SafetyNetTask, name: str, seeds: Sequence[int]
) -> FloatArray:
    """Return ChangeRate and freshness of a policy by seed, of every month and of all days."""
    trace = open_source(source)
    visits = visits_per_cycle(task.budget, len(trace.pages))
    runs = []
    for seed in seeds:
        truth: GroundTruth = source_truth(source, seed)
        policy = make_policy(name, seed=seed, live=True)
        default = policy.default if isinstance(policy, GuardedPolicy) else policy
        if task.failure and isinstance(default, BayesPolicy):
            make_fail(default, FAILURES[task.failure])
        warm_up_seed = None if task.start == "cold" else seed
        days = crawl_by_day(policy, truth, visits, trace.cycles, warm_up_seed=warm_up_seed).cycles
        runs.append(monthly_figures(days))
    return np.stack(runs, axis=1)


def make_fail(policy: BayesPolicy, change: ValueChange) -> None:
    """Make a policy rank by changed values."""
    model = policy._model
    page_scores = model.page_scores

    def changed_scores(rows: FloatArray, now: float) -> PageScores:
        scores = page_scores(rows, now)
        is_seen = np.isfinite(scores.values)
        values = change(model.page_states, rows, np.where(is_seen, scores.values, 0.0))
        return PageScores(scores.ages, scores.chances, np.where(is_seen, values, scores.values))

    model.page_scores = changed_scores  # type: ignore[method-assign]


def monthly_figures(days: Sequence[CycleMetrics]) -> FloatArray:
    """Return ChangeRate and freshness of every month, and of all days."""
    month_count = max(1, round(len(days) / MONTH_DAYS))
    bounds = np.linspace(0, len(days), month_count + 1).round().astype(int).tolist()
    windows = [*(days[start:end] for start, end in pairwise(bounds)), days]
    changerates = [
        sum(day.changerate * day.visits for day in window) / max(1, sum(d.visits for d in window))
        for window in windows
    ]
    return np.array([changerates, [np.mean([day.freshness for day in w]) for w in windows]])
