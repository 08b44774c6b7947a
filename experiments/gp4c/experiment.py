"""The searches and tests on each trace."""

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
from freshet.learning.evolve.model_selection import (
    SELECTION_METHODS,
    ValidatedFormula,
    select_formula,
)
from freshet.schedule.formulas.extended_formula_policy import VARIABLES_BY_TERMINAL_SET
from freshet.schedule.policies import CYCLE_RULE_POLICIES

FITNESS_MEASURES = ("ndcg", "changerate")
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
# A simple formula may be this much worse than the best one on the validation pages.
SIMPLE_TOLERANCE = 0.005

Folds = Sequence[tuple[ValidatedFormula, ...]]


@dataclass(frozen=True, slots=True)
class TraceResults:
    """Formulas found on a trace by kind and fold, and the results of their tests."""

    source: TraceSource
    size: SearchSize
    pages: int
    digest: str
    formulas: Mapping[SearchKind, Folds]
    fold_crawls: Sequence[FoldCrawls]
    device: str = "cpu"


def kinds(source: TraceSource) -> tuple[SearchKind, ...]:
    """Return the kinds of search on a source; the world has only those of the paper."""
    return (*VISIT_KINDS, *CYCLE_KINDS, *(() if source.is_world else EXTENDED_KINDS))


def size_of(kind: SearchKind, size: SearchSize) -> SearchSize:
    """Return the size of a search of a kind; extended variables cost about ten times as much.

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
    device: str = "cpu",
) -> dict[SearchKind, Folds]:
    """Return the formulas that the searches of each fold kept, by kind.

    No device but ``cpu`` supports extended variables; their searches run there.
    """
    search_cases = [
        case
        for kind in kinds(source)
        for case in cases(
            source, kind, size_of(kind, size), "cpu" if kind.terminals == "extended" else device
        )
    ]
    batches = (case.columns() for case in search_cases)
    results = engine.map(
        searches.search, batches, cache=kept, total=len(search_cases), progress=progress
    )
    formulas: dict[SearchKind, list[tuple[ValidatedFormula, ...]]] = {}
    for case, result in zip(search_cases, results, strict=True):
        folds = formulas.setdefault(case.kind, [() for _ in range(size.folds)])
        folds[case.fold] += formulas_from_columns(
            result, VARIABLES_BY_TERMINAL_SET[case.kind.terminals]
        )
    return dict(formulas)


def run_crawls(
    source: TraceSource,
    formulas: Mapping[SearchKind, Folds],
    engine: LocalEngine,
    progress: ProgressCallback,
) -> list[FoldCrawls]:
    """Crawl the test pages of each fold with the selected formulas and the rules."""
    folds = len(next(iter(formulas.values())))
    batches = [
        crawls.entry_columns(source, fold, list(crawl_entries(source, formulas, fold)))
        for fold in range(folds)
    ]
    results = engine.map(crawls.crawl_all, batches, total=folds, progress=progress)
    return [crawls.crawls_from_columns(result) for result in results]


def crawl_entries(
    source: TraceSource, formulas: Mapping[SearchKind, Folds], fold: int
) -> Iterator[CrawlEntry]:
    """Yield all entries that crawl the test pages of a fold."""
    for rule in (
        *RULES,
        *CYCLE_RULE_POLICIES,
        *CYCLE_ORACLES,
        *(() if source.is_world else ("bayes-changes",)),
    ):
        yield CrawlEntry(rule, rule)
    yield CrawlEntry(SIMPLE_RULE, SIMPLE_RULE, is_formula=True)
    for kind, folds in formulas.items():
        for selection in SELECTION_METHODS:
            selected = select_formula(folds[fold], selection)
            yield _entry(label(kind, selection), selected.formula, kind)
        yield from _variant_entries(kind, folds[fold])


def _variant_entries(
    kind: SearchKind, formulas: Sequence[ValidatedFormula]
) -> Iterator[CrawlEntry]:
    """Yield variants of the selected formula: other budgets, fewer variables, and simplified."""
    selected = select_formula(formulas, "best")
    name = label(kind)
    for budget in BUDGETS:
        if budget != BUDGET and kind.terminals == "all" and kind.clock == "visit":
            yield replace(_entry(name, selected.formula, kind), budget=budget)
    for variable in sorted(selected.formula.variables):
        yield _entry(f"{name} without {variable}", without(selected.formula, variable), kind)
    yield _entry(f"{name} simple", simplest(formulas).formula, kind)


def _entry(name: str, formula: Formula, kind: SearchKind) -> CrawlEntry:
    return CrawlEntry(name, str(formula), is_formula=True, clock=kind.clock)


def label(kind: SearchKind, selection: str = "best") -> str:
    """Return the name of a selected formula.

    >>> label(SearchKind("all", "ndcg", "cycle"), "avg")
    'gp-all-cycle ndcg avg'
    """
    clock = "-cycle" if kind.clock == "cycle" else ""
    return f"gp-{kind.terminals}{clock} {kind.measure} {selection}"


def without(formula: Formula, name: str) -> Formula:
    """Return a formula with a variable replaced by 1.

    >>> str(without(Formula(("*", "t", "X")), "X"))
    't * 1'
    """
    return Formula(tuple(1.0 if token == name else token for token in formula.tokens))


def simplest(formulas: Iterable[ValidatedFormula]) -> ValidatedFormula:
    """Return the shortest formula that is nearly as good as the best on the validation pages."""
    candidates = list(formulas)
    threshold = max(judged.validation for judged in candidates) - SIMPLE_TOLERANCE
    good_enough = [judged for judged in candidates if judged.validation >= threshold]
    return min(
        good_enough,
        key=lambda judged: (len(judged.formula), -judged.validation, str(judged.formula)),
    )


def fold_curves(
    results: TraceResults, name: str, metric: str, budget: float = BUDGET
) -> np.ndarray:
    """Return a metric of every fold, a row each, and every cycle."""
    return np.array([
        getattr(crawls.curves[name, budget], metric) for crawls in results.fold_crawls
    ])
