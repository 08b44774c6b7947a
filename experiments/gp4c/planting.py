"""How many found formulas contain ``chance``, with and without planting it.

A search with extended variables begins with every variable as a formula. Here the same searches run
with and without these formulas; without them a variable appears only where a random formula has it.
``python -m experiments.gp4c --part planting`` runs them.
"""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments.document_tables import share_text
from experiments.gp4c.data import TraceSource, open_source
from experiments.gp4c.searches import BUDGET, SEED
from freshet.backtest.trace import Trace
from freshet.learning.evolve.fold_evaluator import run_searches
from freshet.learning.evolve.genetic_search import GPConfig
from freshet.learning.evolve.model_selection import select_formula
from freshet.learning.evolve.task import EvolutionTask

STORED = Path(__file__).with_name("expected_planting.json")
CONFIG = GPConfig(population=50, generations=10)
WORLD_PAGES = 2_000
FOLDS, SEEDS = 5, 2
VARIABLE = "chance"


@dataclass(frozen=True, slots=True)
class PlantingRow:
    """Searches with or without planted variables, and how many found a formula with ``chance``.

    ``validation`` is the mean NDCG of the found formulas on their validation pages.
    """

    planted: bool
    searches: int
    with_chance: int
    validation: float


def planting_rows(
    trace: Trace, config: GPConfig = CONFIG, folds: int = FOLDS, seeds: int = SEEDS
) -> Iterator[PlantingRow]:
    """Yield the results with and without planting, of the same seeds in every fold."""
    for planted in (True, False):
        task = EvolutionTask(
            terminals="extended", budget=BUDGET, seed=SEED, folds=FOLDS, config=config,
            planted=planted,
        )  # fmt: skip
        with ThreadPoolExecutor(1) as pool:
            chosen = [
                select_formula(search.formulas, "best")
                for fold in range(folds)
                for search in run_searches(trace, task, fold, range(SEED, SEED + seeds), pool)
            ]
        with_chance = sum(VARIABLE in validated.formula.tokens for validated in chosen)
        validation = fmean(validated.validation for validated in chosen)
        yield PlantingRow(planted, len(chosen), with_chance, round(validation, 5))


def run_rows(data: Path | None) -> list[PlantingRow]:
    """Return the results on a small generated world; real pages are not used."""
    return list(planting_rows(open_source(TraceSource("world", pages=WORLD_PAGES))))


def table_lines(rows: Sequence[PlantingRow]) -> Iterator[Sequence[str]]:
    """Yield the cells of the table."""
    yield "variables planted", "searches", "found a formula with `chance`", "NDCG, validation pages"
    for row in rows:
        planted = "yes" if row.planted else "no"
        yield planted, str(row.searches), str(row.with_chance), share_text(row.validation)


def read_rows() -> list[PlantingRow]:
    """Return the stored results."""
    return [PlantingRow(**row) for row in json.loads(STORED.read_text("utf-8"))]


def as_json(row: PlantingRow) -> dict[str, Any]:
    """Return a row as values for JSON."""
    return asdict(row)


def save_rows(rows: Sequence[PlantingRow]) -> None:
    """Store results."""
    lines = ",\n".join(json.dumps(as_json(row)) for row in rows)
    STORED.write_text(f"[\n{lines}\n]\n", "utf-8")
