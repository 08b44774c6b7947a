"""What is searched for on which trace, and what of it is tested, search by search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experiments.gp4c import crawls, searches
from experiments.gp4c.crawls import CrawlEntry, FoldCrawls
from experiments.gp4c.data import TraceSource
from experiments.gp4c.searches import BUDGET, SearchKind, SearchSize, cases, formulas_from_columns
from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.core.progress import ProgressCallback
from freshet.engine.local import LocalEngine
from freshet.engine.result_cache import ResultCache
from freshet.formula.expression import Formula
from freshet.learning.evolve.evolution import FITNESS_MEASURES
from freshet.learning.evolve.model_selection import (
    SELECTION_METHODS,
    ValidatedFormula,
    select_formula,
)
from freshet.schedule.policies import CYCLE_RULE_POLICIES
from freshet.schedule.ranked import VARIABLES_BY_TERMINAL_SET

RULES = ("rand", "age", "nad", "sad", "aad", "gad", "cg")
SIMPLE_RULE = "t * X"
BUDGETS = (0.01, 0.02, 0.03, 0.04, 0.05)
VISIT_KINDS: tuple[SearchKind, ...] = tuple(
    SearchKind(terminals, measure) for terminals in ("basic", "all") for measure in FITNESS_MEASURES
)
CYCLE_KINDS: tuple[SearchKind, ...] = tuple(
    SearchKind("all", measure, "cycle") for measure in FITNESS_MEASURES
)
EXTENDED_KINDS: tuple[SearchKind, ...] = tuple(
    SearchKind("extended", measure) for measure in FITNESS_MEASURES
)
# A simple formula may be this much worse than the best one on the pages that chose it.
SIMPLE_TOLERANCE = 0.005

Folds = Sequence[tuple[ValidatedFormula, ...]]


@dataclass(frozen=True, slots=True)
class TraceResults:
    """What the searches of a size on a trace kept, by kind and fold, and how the tests went."""

    source: TraceSource
    size: SearchSize
    pages: int
    digest: str
    formulas: Mapping[SearchKind, Folds]
    fold_crawls: Sequence[FoldCrawls]


def kinds(source: TraceSource) -> tuple[SearchKind, ...]:
    """Return what is searched for on a source: in the world no more than the paper has."""
    return (*VISIT_KINDS, *CYCLE_KINDS, *(() if source.is_world else EXTENDED_KINDS))


def size_of(kind: SearchKind, size: SearchSize) -> SearchSize:
    """Return how much is searched for a kind: extended names cost some ten times as much.

    >>> size_of(SearchKind("extended"), SearchSize(300, 50, 5))
    SearchSize(population=150, generations=50, seeds=1, folds=5)
    """
    if kind.terminals != "extended":
        return size
    return replace(size, population=max(2, size.population // 2), seeds=1)


def run_searches(
    source: TraceSource,
    size: SearchSize,
    engine: LocalEngine,
    kept: ResultCache | None,
    progress: ProgressCallback,
) -> dict[SearchKind, Folds]:
    """Return the formulas that the searches of each fold kept, by kind."""
    todo = [case for kind in kinds(source) for case in cases(source, kind, size_of(kind, size))]
    batches = (case.columns() for case in todo)
    results = engine.map(searches.search, batches, cache=kept, total=len(todo), progress=progress)
    found: dict[SearchKind, list[tuple[ValidatedFormula, ...]]] = {}
    for case, result in zip(todo, results, strict=True):
        folds = found.setdefault(case.kind, [() for _ in range(size.folds)])
        folds[case.fold] += formulas_from_columns(
            result, VARIABLES_BY_TERMINAL_SET[case.kind.terminals]
        )
    return dict(found)


def run_crawls(
    source: TraceSource,
    kept: Mapping[SearchKind, Folds],
    engine: LocalEngine,
    progress: ProgressCallback,
) -> list[FoldCrawls]:
    """Let the chosen formulas and the rules crawl the pages of each fold that no search saw."""
    folds = len(next(iter(kept.values())))
    batches = [
        crawls.entry_columns(source, fold, list(crawl_entries(source, kept, fold)))
        for fold in range(folds)
    ]
    results = engine.map(crawls.crawl_all, batches, total=folds, progress=progress)
    return [crawls.crawls_from_columns(result) for result in results]


def crawl_entries(
    source: TraceSource, kept: Mapping[SearchKind, Folds], fold: int
) -> Iterator[CrawlEntry]:
    """Yield all that crawls the test pages of a fold."""
    for rule in (
        *RULES,
        *CYCLE_RULE_POLICIES,
        *CYCLE_ORACLES,
        *(() if source.is_world else ("bayes-changes",)),
    ):
        yield CrawlEntry(rule, rule)
    yield CrawlEntry(SIMPLE_RULE, SIMPLE_RULE, is_formula=True)
    for kind, folds in kept.items():
        for selection in SELECTION_METHODS:
            best = select_formula(folds[fold], selection)
            yield _entry(label(kind, selection), best.formula, kind)
        yield from _of_best(kind, folds[fold])


def _of_best(kind: SearchKind, formulas: Sequence[ValidatedFormula]) -> Iterator[CrawlEntry]:
    """Yield what is asked of the formula that is used: other budgets, fewer names, less length."""
    best = select_formula(formulas, "best")
    name = label(kind)
    for budget in BUDGETS:
        if budget != BUDGET and kind.terminals == "all" and kind.clock == "visit":
            yield replace(_entry(name, best.formula, kind), budget=budget)
    for known in sorted(best.formula.variables):
        yield _entry(f"{name} without {known}", without(best.formula, known), kind)
    yield _entry(f"{name} simple", simplest(formulas).formula, kind)


def _entry(name: str, formula: Formula, kind: SearchKind) -> CrawlEntry:
    return CrawlEntry(name, str(formula), is_formula=True, clock=kind.clock)


def label(kind: SearchKind, selection: str = "best") -> str:
    """Return what a chosen formula is called.

    >>> label(SearchKind("all", "ndcg", "cycle"), "avg")
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


def simplest(formulas: Iterable[ValidatedFormula]) -> ValidatedFormula:
    """Return the shortest formula that is nearly as good as the best on the validation pages."""
    held = list(formulas)
    enough = max(each.validation for each in held) - SIMPLE_TOLERANCE
    good = [each for each in held if each.validation >= enough]
    return min(good, key=lambda each: (len(each.formula), -each.validation, str(each.formula)))


def fold_curves(found: TraceResults, name: str, metric: str, budget: float = BUDGET) -> np.ndarray:
    """Return a measure of every fold, a row each, and every cycle."""
    return np.array([getattr(each.curves[name, budget], metric) for each in found.fold_crawls])
