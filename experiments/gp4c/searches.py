"""The searches: formulas are evolved on some pages of a trace and validated on others."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import lru_cache

import numpy as np

from experiments.gp4c.data import TraceSource, open_source
from freshet.backtest.devices import open_device
from freshet.backtest.folds import FOLDS
from freshet.backtest.gpu.device import ArrayDevice
from freshet.engine.result_cache import Columns
from freshet.formula.expression import parse_formula
from freshet.formula.variables import WeightClock
from freshet.learning.evolve.fold_evaluator import run_searches
from freshet.learning.evolve.genetic_search import GPConfig
from freshet.learning.evolve.model_selection import ValidatedFormula
from freshet.learning.evolve.task import EvolutionTask
from freshet.schedule.model_file import TerminalSet

VERSION = "gp4c searches 4"
BUDGET = 0.05
SEED = 1


@dataclass(frozen=True, slots=True)
class SearchKind:
    """Kind of a search: terminal set, fitness measure and clock."""

    terminals: TerminalSet = "all"
    measure: str = "ndcg"
    clock: WeightClock = "visit"


@dataclass(frozen=True, slots=True)
class SearchSize:
    """Size of a search: formulas in a generation, generations, seeds in a fold, and folds.

    >>> str(SearchSize(300, 50, 1))
    '50 generations of 300 formulas, 1 seed, 5 folds'
    """

    population: int = 100
    generations: int = 15
    seeds: int = 2
    folds: int = FOLDS

    def __str__(self) -> str:
        generations, seeds, folds = (
            f"{count} {word}{'s' * (count != 1)}"
            for count, word in (
                (self.generations, "generation"),
                (self.seeds, "seed"),
                (self.folds, "fold"),
            )
        )
        return f"{generations} of {self.population} formulas, {seeds}, {folds}"


PAPER_SIZE = SearchSize(300, 50, 5)


def default_size(source: TraceSource) -> SearchSize:
    """Return the default size on a source; searches in the world take longest.

    >>> str(default_size(TraceSource("world")))
    '15 generations of 100 formulas, 1 seed, 5 folds'
    """
    return SearchSize(seeds=1) if source.is_world else SearchSize()


@dataclass(frozen=True, slots=True)
class SearchCase:
    """The searches of some seeds side by side: source, test fold, first seed, kind and size.

    On the device ``cpu`` a case has one seed, on ``cuda`` all seeds of a fold.
    """

    source: TraceSource
    digest: str
    fold: int
    seed: int
    kind: SearchKind
    population: int
    generations: int
    seeds: int = 1
    device: str = "cpu"

    def columns(self) -> Columns:
        """Return the case as engine columns."""
        plain = asdict(self)
        flat = {
            **plain.pop("source"),
            **plain.pop("kind"),
            **plain,
            "source_seed": self.source.seed,
        }
        return {name: np.array([value]) for name, value in flat.items()} | {
            "seed": np.array([self.seed])
        }

    @property
    def task(self) -> EvolutionTask:
        """Return the ``freshet evolve`` task of which the case is a part."""
        config = GPConfig(population=self.population, generations=self.generations)
        return EvolutionTask(
            **asdict(self.kind), budget=BUDGET, seed=SEED, folds=FOLDS, config=config
        )


def cases(
    source: TraceSource, kind: SearchKind, size: SearchSize, device: str = "cpu"
) -> Iterator[SearchCase]:
    """Yield every search of a kind on a source; a device has the seeds of a fold side by side."""
    digest = open_source(source).digest
    side_by_side = 1 if device == "cpu" else size.seeds
    for fold in range(size.folds):
        for seed in range(SEED, SEED + size.seeds, side_by_side):
            yield SearchCase(
                source, digest, fold, seed, kind, size.population, size.generations, side_by_side,
                device,
            )  # fmt: skip


def case_from_columns(columns: Columns) -> SearchCase:
    """Return the case from engine columns."""
    plain = {name: values[0].item() for name, values in columns.items()}
    source = TraceSource(
        **{field.name: plain[field.name] for field in fields(TraceSource) if field.name != "seed"},
        seed=plain["source_seed"],
    )
    kind = SearchKind(**{field.name: plain[field.name] for field in fields(SearchKind)})
    own_fields = ("digest", "fold", "seed", "population", "generations", "seeds", "device")
    return SearchCase(source=source, kind=kind, **{name: plain[name] for name in own_fields})


def search(columns: Columns) -> Columns:
    """Run the searches of a case and validate their formulas; called by an engine."""
    case = case_from_columns(columns)
    seeds = range(case.seed, case.seed + case.seeds)
    device = None if case.device == "cpu" else _open_device(case.device)
    with ThreadPoolExecutor(1) as pool:
        searches = run_searches(open_source(case.source), case.task, case.fold, seeds, pool, device)
    formulas = [judged for finished in searches for judged in finished.formulas]
    return {
        "formulas": np.array([str(judged.formula) for judged in formulas]),
        "training": np.array([judged.training for judged in formulas]),
        "validation": np.array([judged.validation for judged in formulas]),
    }


@lru_cache(maxsize=1)
def _open_device(name: str) -> ArrayDevice:
    """Return a device; ``arrays`` runs the code of the GPU on the processor."""
    return open_device("cpu" if name == "arrays" else name)


def formulas_from_columns(columns: Columns, names: Sequence[str]) -> tuple[ValidatedFormula, ...]:
    """Return the formulas that a search kept, with their fitness."""
    rows = zip(columns["formulas"], columns["training"], columns["validation"], strict=True)
    return tuple(
        ValidatedFormula(parse_formula(str(text), names), float(training), float(validation))
        for text, training, validation in rows
    )
