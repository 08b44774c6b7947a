"""Formulas evolved for other measures than changes found, each tested by all measures.

``python -m experiments.gp4c --part other_fitness --data DIR`` searches on the real pages of
``snap``, whose new links are known, and on a generated world whose pages differ in importance:
lognormal with the standard deviation 1 of its logarithm, drawn independently of the rates of
change.
"""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from experiments.document_tables import share_text
from experiments.gp4c.data import TraceSource, open_source
from experiments.gp4c.searches import BUDGET, SEED
from freshet.backtest.cycle_crawl import crawl_in_cycles, visits_per_cycle
from freshet.backtest.metrics import BacktestMetrics, measure_crawl
from freshet.backtest.trace import Trace
from freshet.learning.evolve.fold_evaluator import run_searches, split_fold
from freshet.learning.evolve.genetic_search import GPConfig
from freshet.learning.evolve.model_selection import select_formula
from freshet.learning.evolve.task import EvolutionTask
from freshet.schedule.policies import FormulaRanking, make_policy

STORED = Path(__file__).with_name("expected_other_fitness.json")
CONFIG = GPConfig(population=60, generations=10)
FOLDS = 5
WORLD_PAGES = 4_000
MEASURES = ("changerate", "ndcg", "freshness", "weighted_freshness", "links_detected")
HEADINGS = ("ChangeRate", "NDCG", "freshness", "weighted freshness", "links found")
FITNESSES = {
    "snap": ("ndcg", "changerate", "freshness", "links", "changerate+freshness"),
    "world": ("ndcg", "freshness", "weighted_freshness", "changerate+weighted_freshness"),
}


@dataclass(frozen=True, slots=True)
class FitnessRow:
    """The mean measures over folds of the formulas evolved for a fitness."""

    trace: str
    fitness: str
    measures: tuple[float, ...]
    formula: str


def weighted_world(pages: int = WORLD_PAGES) -> Trace:
    """Return a generated world whose pages differ in importance."""
    trace = open_source(TraceSource("world", pages=pages))
    importance = np.exp(np.random.default_rng(SEED).normal(0.0, 1.0, pages))
    return replace(trace, pages=replace(trace.pages, importance=importance))


def fitness_rows(
    trace: Trace, fitnesses: Sequence[str], config: GPConfig = CONFIG, folds: int = FOLDS
) -> Iterator[FitnessRow]:
    """Yield the results of the formulas evolved for each fitness; one seed in each fold."""
    for fitness in fitnesses:
        task = EvolutionTask(
            measure=fitness, budget=BUDGET, seed=SEED, seeds=1, folds=FOLDS, config=config
        )
        results, formulas = [], []
        with ThreadPoolExecutor(1) as pool:
            for fold in range(folds):
                (search,) = run_searches(trace, task, fold, [SEED], pool)
                chosen = select_formula(search.formulas, "best")
                test_pages = trace.select(split_fold(trace, task, fold).test)
                results.append(_test(test_pages, FormulaRanking(chosen.formula)))
                formulas.append(str(chosen.formula))
        means = tuple(fmean(getattr(result, name) for result in results) for name in MEASURES)
        yield FitnessRow(
            trace.name, fitness, means, min(formulas, key=lambda text: (len(text), text))
        )


def run_rows(data: Path | None) -> list[FitnessRow]:
    """Return the results on the generated world and, with a folder of real pages, on ``snap``."""
    traces = {"world": weighted_world()}
    if data:
        traces["snap"] = open_source(TraceSource("snap", str(data / "pages"), pages=0))
    return [row for name, trace in traces.items() for row in fitness_rows(trace, FITNESSES[name])]


def _test(pages: Trace, ranking: FormulaRanking) -> BacktestMetrics:
    k = visits_per_cycle(BUDGET, len(pages.pages))
    crawl = crawl_in_cycles(pages, make_policy(ranking, seed=SEED), k)
    return measure_crawl(crawl, pages.weights, k)


def table_lines(rows: Sequence[FitnessRow]) -> Iterator[Sequence[str]]:
    """Yield the cells of the table."""
    yield "trace", "evolved for", *HEADINGS, "shortest formula"
    for row in rows:
        cells = ("" if np.isnan(value) else share_text(value) for value in row.measures)
        yield row.trace, f"`{row.fitness}`", *cells, f"`{row.formula}`"


def read_rows() -> list[FitnessRow]:
    """Return the stored results."""
    stored = json.loads(STORED.read_text("utf-8")) if STORED.exists() else []
    return [
        FitnessRow(**row | {"measures": tuple(_from_json(value) for value in row["measures"])})
        for row in stored
    ]


def save_rows(rows: Sequence[FitnessRow]) -> None:
    """Store results in place of earlier ones of the same traces."""
    traces = {row.trace for row in rows}
    all_rows = [row for row in read_rows() if row.trace not in traces] + list(rows)
    ordered = sorted(all_rows, key=lambda row: row.trace, reverse=True)
    lines = ",\n".join(json.dumps(as_json(row)) for row in ordered)
    STORED.write_text(f"[\n{lines}\n]\n", "utf-8")


def as_json(row: FitnessRow) -> dict[str, Any]:
    """Return a row as values for JSON; a measure that is not known is null."""
    measures = [None if np.isnan(value) else round(value, 5) for value in row.measures]
    return asdict(row) | {"measures": measures}


def _from_json(value: float | None) -> float:
    return float("nan") if value is None else value
