"""Simulated crawls in continuous time: every policy, budget and trace, warm and cold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np

from experiments.wild.data import GENERATED, RawTraceSource, open_source, trace_sources
from experiments.wild.variants import (
    ablated_policies,
    all_variants,
    compared_policies,
)
from freshet.backtest.continuous.daily import crawl_by_day
from freshet.backtest.continuous.ground_truth import GroundTruth, ground_truth_of_trace
from freshet.backtest.cycle_crawl import visits_per_cycle
from freshet.backtest.metrics import CrawledPageFigures, sum_page_figures
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.engine.local import LocalEngine
from freshet.engine.result_cache import Columns

BUDGETS, ABLATION_BUDGETS, QUICK_BUDGETS = (0.02, 0.05, 0.10, 0.20), (0.05, 0.10), (0.05,)
SEEDS, QUICK_SEEDS = 3, 1
QUICK_PAGES_PER_SITE = 40
STARTS = ("warm", "cold")
MAIN_TRACES = ("raw", GENERATED)
PAGE_FIGURE_NAMES = ("visits", "changes_found", "fresh_shares")


@dataclass(frozen=True, slots=True)
class ExperimentSize:
    """What is simulated: budgets, seeds, whether only few policies, and the processes used."""

    budgets: tuple[float, ...] = BUDGETS
    seeds: int = SEEDS
    is_quick: bool = False
    processes: int = 0


QUICK_SIZE = ExperimentSize(QUICK_BUDGETS, QUICK_SEEDS, is_quick=True)


@dataclass(frozen=True, slots=True)
class CrawlTask:
    """One simulated crawl: a policy on a trace with a budget, from a warm or a cold start."""

    source: str
    policy: str
    budget: float
    start: str


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """The figures of a task, means over the seeds, and those of its pages."""

    task: CrawlTask
    changerate: float
    freshness: float
    page_figures: CrawledPageFigures


def crawl_tasks(source: RawTraceSource, size: ExperimentSize) -> Iterator[CrawlTask]:
    """Yield the crawls of a trace: all policies, then the default without each of its parts.

    Traces of other dates or moments have only the main policies.
    """
    is_main = source.name in MAIN_TRACES and not size.is_quick
    policies = [variant.name for variant in compared_policies(all_rules=is_main)]
    for start, budget, policy in product(STARTS, size.budgets, policies):
        yield CrawlTask(source.name, policy, budget, start)
    ablation_budgets = [budget for budget in ABLATION_BUDGETS if budget in size.budgets]
    ablated = [variant.name for variant in ablated_policies()] if is_main else []
    for start, budget, policy in product(STARTS, ablation_budgets, ablated):
        yield CrawlTask(source.name, policy, budget, start)


def run_tasks(
    data: Path | None,
    tasks: Sequence[CrawlTask],
    size: ExperimentSize,
    progress: ProgressCallback = ignore_progress,
) -> Iterator[CrawlResult]:
    """Yield the result of every task."""
    batches = [task_columns(data, task, size) for task in tasks]
    engine = LocalEngine(size.processes)
    results = engine.map(crawl_task, batches, total=len(batches), progress=progress)
    for task, columns in zip(tasks, results, strict=True):
        page_figures = CrawledPageFigures(*(columns[name] for name in PAGE_FIGURE_NAMES))
        changerate, freshness = (columns[name][0].item() for name in ("changerate", "freshness"))
        yield CrawlResult(task, changerate, freshness, page_figures)


def task_columns(data: Path | None, task: CrawlTask, size: ExperimentSize) -> Columns:
    """Return a task as engine columns."""
    return {
        "data": np.array([str(data or "")]),
        "source": np.array([task.source]),
        "policy": np.array([task.policy]),
        "budget": np.array([task.budget]),
        "is_cold": np.array([task.start == "cold"]),
        "seeds": np.array([size.seeds]),
        "is_quick": np.array([size.is_quick]),
    }


def crawl_task(columns: Columns) -> Columns:
    """Crawl a trace once for each seed; called by an engine."""
    values = {name: column[0].item() for name, column in columns.items()}
    sources = experiment_sources(
        Path(values["data"]) if values["data"] else None, is_quick=values["is_quick"]
    )
    source = next(source for source in sources if source.name == values["source"])
    trace = open_source(source)
    variant = all_variants()[values["policy"]]
    visits = visits_per_cycle(values["budget"], len(trace.pages))
    runs = []
    for seed in range(1, values["seeds"] + 1):
        truth = source_truth(source, seed)
        warm_up_seed = None if values["is_cold"] else seed
        policy = variant.make(truth, seed)
        runs.append(crawl_by_day(policy, truth, visits, trace.cycles, warm_up_seed=warm_up_seed))
    page_figures = sum_page_figures([run.page_figures for run in runs if run.page_figures])
    return {
        "changerate": np.array([fmean(run.overall().changerate for run in runs)]),
        "freshness": np.array([fmean(run.overall().freshness for run in runs)]),
        **{name: getattr(page_figures, name) for name in PAGE_FIGURE_NAMES},
    }


def experiment_sources(data: Path | None, *, is_quick: bool) -> list[RawTraceSource]:
    """Return the traces; quick: only the first, or fewer generated pages."""
    if not is_quick:
        return trace_sources(data)
    return trace_sources(data, pages_per_site=QUICK_PAGES_PER_SITE)[:1]


@lru_cache(maxsize=8)
def source_truth(source: RawTraceSource, seed: int) -> GroundTruth:
    """Return the moments of change of a trace, drawn within its days by the seed."""
    return ground_truth_of_trace(open_source(source), seed=seed)
