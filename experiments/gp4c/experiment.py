"""What is searched for on which trace, and what of it is tested, search by search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experiments.gp4c import crawls, searches
from experiments.gp4c.crawls import Crawled, Entry
from experiments.gp4c.data import Source
from experiments.gp4c.searches import BUDGET, Kind, Size, cases, judged
from freshet.backtest.cycle_oracles import ORACLES
from freshet.core.progress import Progress
from freshet.engine.base import Engine
from freshet.engine.result_cache import Kept
from freshet.formula.expression import Formula
from freshet.learning.evolve.evolution import MEASURES
from freshet.learning.evolve.model_selection import SELECTIONS, Judged, chosen
from freshet.schedule.policies import BY_CYCLE
from freshet.schedule.ranked import NAMES

RULES = ("rand", "age", "nad", "sad", "aad", "gad", "cg")
SIMPLE_RULE = "t * X"
BUDGETS = (0.01, 0.02, 0.03, 0.04, 0.05)
PLAIN: tuple[Kind, ...] = tuple(
    Kind(terminals, measure) for terminals in ("basic", "all") for measure in MEASURES
)
CLOCKED: tuple[Kind, ...] = tuple(Kind("all", measure, "cycle") for measure in MEASURES)
EXTENDED: tuple[Kind, ...] = tuple(Kind("extended", measure) for measure in MEASURES)
# A simple formula may be this much worse than the best one on the pages that chose it.
NEARLY = 0.005

Folds = Sequence[tuple[Judged, ...]]


@dataclass(frozen=True, slots=True)
class Found:
    """What the searches of a size on a trace kept, by kind and fold, and how the tests went."""

    source: Source
    size: Size
    pages: int
    digest: str
    kept: Mapping[Kind, Folds]
    crawled: Sequence[Crawled]


def kinds(source: Source) -> tuple[Kind, ...]:
    """Return what is searched for on a source: in the world no more than the paper has."""
    return (*PLAIN, *CLOCKED, *(() if source.is_world else EXTENDED))


def size_of(kind: Kind, size: Size) -> Size:
    """Return how much is searched for a kind: extended names cost some ten times as much.

    >>> size_of(Kind("extended"), Size(300, 50, 5))
    Size(population=150, generations=50, seeds=1, folds=5)
    """
    if kind.terminals != "extended":
        return size
    return replace(size, population=max(2, size.population // 2), seeds=1)


def searched(
    source: Source, size: Size, engine: Engine, kept: Kept | None, progress: Progress
) -> dict[Kind, Folds]:
    """Return the formulas that the searches of each fold kept, by kind."""
    todo = [case for kind in kinds(source) for case in cases(source, kind, size_of(kind, size))]
    batches = (case.columns() for case in todo)
    results = engine.map(searches.search, batches, kept=kept, total=len(todo), progress=progress)
    found: dict[Kind, list[tuple[Judged, ...]]] = {}
    for case, result in zip(todo, results, strict=True):
        folds = found.setdefault(case.kind, [() for _ in range(size.folds)])
        folds[case.fold] += judged(result, NAMES[case.kind.terminals])
    return dict(found)


def crawled(
    source: Source, kept: Mapping[Kind, Folds], engine: Engine, progress: Progress
) -> list[Crawled]:
    """Let the chosen formulas and the rules crawl the pages of each fold that no search saw."""
    folds = len(next(iter(kept.values())))
    batches = [
        crawls.columns(source, fold, list(entries(source, kept, fold))) for fold in range(folds)
    ]
    results = engine.map(crawls.crawl_all, batches, total=folds, progress=progress)
    return [crawls.crawled_of(result) for result in results]


def entries(source: Source, kept: Mapping[Kind, Folds], fold: int) -> Iterator[Entry]:
    """Yield all that crawls the test pages of a fold."""
    for rule in (*RULES, *BY_CYCLE, *ORACLES, *(() if source.is_world else ("bayes-changes",))):
        yield Entry(rule, rule)
    yield Entry(SIMPLE_RULE, SIMPLE_RULE, is_formula=True)
    for kind, folds in kept.items():
        for selection in SELECTIONS:
            best = chosen(folds[fold], selection)
            yield _entry(label(kind, selection), best.formula, kind)
        yield from _of_best(kind, folds[fold])


def _of_best(kind: Kind, formulas: Sequence[Judged]) -> Iterator[Entry]:
    """Yield what is asked of the formula that is used: other budgets, fewer names, less length."""
    best = chosen(formulas, "best")
    name = label(kind)
    for budget in BUDGETS:
        if budget != BUDGET and kind.terminals == "all" and kind.clock == "visit":
            yield replace(_entry(name, best.formula, kind), budget=budget)
    for known in sorted(best.formula.names):
        yield _entry(f"{name} without {known}", without(best.formula, known), kind)
    yield _entry(f"{name} simple", simple(formulas).formula, kind)


def _entry(name: str, formula: Formula, kind: Kind) -> Entry:
    return Entry(name, str(formula), is_formula=True, clock=kind.clock)


def label(kind: Kind, selection: str = "best") -> str:
    """Return what a chosen formula is called.

    >>> label(Kind("all", "ndcg", "cycle"), "avg")
    'gp-all-cycle ndcg avg'
    """
    clock = "-cycle" if kind.clock == "cycle" else ""
    return f"gp-{kind.terminals}{clock} {kind.measure} {selection}"


def without(formula: Formula, name: str) -> Formula:
    """Return a formula that does not know a name: 1 stands for it.

    >>> str(without(Formula(("*", "t", "X")), "X"))
    't * 1'
    """
    return Formula(tuple(1.0 if token == name else token for token in formula.tokens))


def simple(formulas: Iterable[Judged]) -> Judged:
    """Return the shortest formula that is nearly as good as the best on the validation pages."""
    held = list(formulas)
    enough = max(each.validation for each in held) - NEARLY
    good = [each for each in held if each.validation >= enough]
    return min(good, key=lambda each: (len(each.formula), -each.validation, str(each.formula)))


def curve(found: Found, name: str, metric: str, budget: float = BUDGET) -> np.ndarray:
    """Return a measure of every fold, a row each, and every cycle."""
    return np.array([getattr(each.curves[name, budget], metric) for each in found.crawled])
