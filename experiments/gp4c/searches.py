"""The searches: formulas are bred on some pages of a trace and tried on others, by an engine."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields

import numpy as np

from experiments.gp4c.data import TraceSource, open_source
from freshet.backtest.folds import FOLDS
from freshet.engine.result_cache import Columns
from freshet.formula.expression import parse_formula
from freshet.formula.variables import FitnessMeasure, WeightClock
from freshet.learning.evolve.evolution import EvolutionTask, run_search
from freshet.learning.evolve.genetic_search import GPConfig
from freshet.learning.evolve.model_selection import ValidatedFormula
from freshet.schedule.model_file import TerminalSet

VERSION = "gp4c searches 3"
BUDGET = 0.05
SEED = 1


@dataclass(frozen=True, slots=True)
class SearchKind:
    """What is searched for: a formula of which names, for which measure, by which clock."""

    terminals: TerminalSet = "all"
    measure: FitnessMeasure = "ndcg"
    clock: WeightClock = "visit"


@dataclass(frozen=True, slots=True)
class SearchSize:
    """How much is searched: formulas in a generation, generations, seeds in a fold, and folds.

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
    """Return how much is usually searched on a source: searches of the world take longest.

    >>> str(default_size(TraceSource("world")))
    '15 generations of 100 formulas, 1 seed, 5 folds'
    """
    return SearchSize(seeds=1) if source.is_world else SearchSize()


@dataclass(frozen=True, slots=True)
class SearchCase:
    """One search: its source, the fold that is left for the test, its seed, kind and sizes."""

    source: TraceSource
    digest: str
    fold: int
    seed: int
    kind: SearchKind
    population: int
    generations: int

    def columns(self) -> Columns:
        """Return the case as an engine takes it."""
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
        """Return what ``freshet evolve`` would do, of which the case is one search."""
        ways = GPConfig(population=self.population, generations=self.generations)
        return EvolutionTask(**asdict(self.kind), budget=BUDGET, seed=SEED, folds=FOLDS, ways=ways)


def cases(source: TraceSource, kind: SearchKind, size: SearchSize) -> Iterator[SearchCase]:
    """Yield every search of a kind on a source."""
    digest = open_source(source).digest
    for fold in range(size.folds):
        for seed in range(SEED, SEED + size.seeds):
            yield SearchCase(source, digest, fold, seed, kind, size.population, size.generations)


def case_from_columns(columns: Columns) -> SearchCase:
    """Return the case that an engine was given."""
    plain = {name: values[0].item() for name, values in columns.items()}
    source = TraceSource(
        **{each.name: plain[each.name] for each in fields(TraceSource) if each.name != "seed"},
        seed=plain["source_seed"],
    )
    kind = SearchKind(**{each.name: plain[each.name] for each in fields(SearchKind)})
    own = ("digest", "fold", "seed", "population", "generations")
    return SearchCase(source=source, kind=kind, **{name: plain[name] for name in own})


def search(columns: Columns) -> Columns:
    """Run one search and try what it kept on the pages for validation; an engine calls it."""
    case = case_from_columns(columns)
    with ThreadPoolExecutor(1) as pool:
        kept = run_search(open_source(case.source), case.task, case.fold, case.seed, pool).formulas
    return {
        "formulas": np.array([str(each.formula) for each in kept]),
        "training": np.array([each.training for each in kept]),
        "validation": np.array([each.validation for each in kept]),
    }


def formulas_from_columns(found: Columns, names: Sequence[str]) -> tuple[ValidatedFormula, ...]:
    """Return the formulas that a search kept, with how well they did."""
    rows = zip(found["formulas"], found["training"], found["validation"], strict=True)
    return tuple(
        ValidatedFormula(parse_formula(str(text), names), float(training), float(validation))
        for text, training, validation in rows
    )
