"""The searches: formulas are bred on some pages of a trace and tried on others, by an engine."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields

import numpy as np

from experiments.gp4c.data import Source, opened
from freshet.backtest.folds import FOLDS
from freshet.engine.result_cache import Columns
from freshet.formula.expression import parse
from freshet.formula.variables import Clock, Measure
from freshet.learning.evolve.evolution import Task, searched
from freshet.learning.evolve.genetic_search import Ways
from freshet.learning.evolve.model_selection import Judged
from freshet.schedule.model_file import Terminals

VERSION = "gp4c searches 3"
BUDGET = 0.05
SEED = 1


@dataclass(frozen=True, slots=True)
class Kind:
    """What is searched for: a formula of which names, for which measure, by which clock."""

    terminals: Terminals = "all"
    measure: Measure = "ndcg"
    clock: Clock = "visit"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is searched: formulas in a generation, generations, seeds in a fold, and folds.

    >>> str(Size(300, 50, 1))
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


FULL = Size(300, 50, 5)


def usual(source: Source) -> Size:
    """Return how much is usually searched on a source: searches of the world take longest.

    >>> str(usual(Source("world")))
    '15 generations of 100 formulas, 1 seed, 5 folds'
    """
    return Size(seeds=1) if source.is_world else Size()


@dataclass(frozen=True, slots=True)
class Case:
    """One search: its source, the fold that is left for the test, its seed, kind and sizes."""

    source: Source
    digest: str
    fold: int
    seed: int
    kind: Kind
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
    def task(self) -> Task:
        """Return what ``freshet evolve`` would do, of which the case is one search."""
        ways = Ways(population=self.population, generations=self.generations)
        return Task(**asdict(self.kind), budget=BUDGET, seed=SEED, folds=FOLDS, ways=ways)


def cases(source: Source, kind: Kind, size: Size) -> Iterator[Case]:
    """Yield every search of a kind on a source."""
    digest = opened(source).digest
    for fold in range(size.folds):
        for seed in range(SEED, SEED + size.seeds):
            yield Case(source, digest, fold, seed, kind, size.population, size.generations)


def case_of(columns: Columns) -> Case:
    """Return the case that an engine was given."""
    plain = {name: values[0].item() for name, values in columns.items()}
    source = Source(
        **{each.name: plain[each.name] for each in fields(Source) if each.name != "seed"},
        seed=plain["source_seed"],
    )
    kind = Kind(**{each.name: plain[each.name] for each in fields(Kind)})
    own = ("digest", "fold", "seed", "population", "generations")
    return Case(source=source, kind=kind, **{name: plain[name] for name in own})


def search(columns: Columns) -> Columns:
    """Run one search and try what it kept on the pages for validation; an engine calls it."""
    case = case_of(columns)
    with ThreadPoolExecutor(1) as pool:
        kept = searched(opened(case.source), case.task, case.fold, case.seed, pool).kept
    return {
        "formulas": np.array([str(each.formula) for each in kept]),
        "training": np.array([each.training for each in kept]),
        "validation": np.array([each.validation for each in kept]),
    }


def judged(found: Columns, names: Sequence[str]) -> tuple[Judged, ...]:
    """Return the formulas that a search kept, with how well they did."""
    rows = zip(found["formulas"], found["training"], found["validation"], strict=True)
    return tuple(
        Judged(parse(str(text), names), float(training), float(validation))
        for text, training, validation in rows
    )
