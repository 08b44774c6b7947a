"""The tables: what the paper published, and what the world and the real traces give."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import isnan

import numpy as np

from experiments.gp4c.crawls import known_mean
from experiments.gp4c.experiment import (
    BUDGETS,
    RULES,
    SIMPLE_RULE,
    TraceResults,
    fold_curves,
    kinds,
    label,
    simplest,
)
from experiments.gp4c.paper_figures import COMPARED_RULES, METRICS, PAPER_MEANS, PAPER_WINS
from experiments.gp4c.searches import BUDGET, SearchKind
from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.backtest.significance import confidence_interval, count_cycle_wins, paired_difference
from freshet.learning.evolve.model_selection import (
    SELECTION_METHODS,
    ValidatedFormula,
    select_formula,
)
from freshet.schedule.policies import CYCLE_RULE_POLICIES
from freshet.schedule.ranked import VARIABLES_BY_TERMINAL_SET

LEARNED = ("gp-basic", "gp-all", "gp-all-cycle", "gp-extended")
OTHERS = (*RULES, SIMPLE_RULE, *CYCLE_RULE_POLICIES, "bayes-changes", *CYCLE_ORACLES)


@dataclass(frozen=True, slots=True)
class MeanRow:
    """Table 2: a measure of a method, the mean over folds with the margin of its interval.

    What is learnt is told by formulas evolved for that measure.
    """

    table: str
    trace: str
    method: str
    metric: str
    paper: float | None
    paper_margin: float | None
    ours: float
    margin: float | None


@dataclass(frozen=True, slots=True)
class WinLossRow:
    """Table 3: in how many cycles a method was better or worse than another, and by how much."""

    table: str
    trace: str
    method: str
    against: str
    metric: str
    paper_won: int | None
    paper_won_by: float | None
    paper_lost: int | None
    paper_lost_by: float | None
    won: int
    won_by: float | None
    lost: int
    lost_by: float | None
    tied: int


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """How far a method is above another, fold by fold; ``p`` is the chance of that by luck."""

    table: str
    trace: str
    method: str
    against: str
    metric: str
    ours: float
    margin: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class FigurePoint:
    """A point of a figure: a measure of a method in a cycle after the warm-up or at a budget."""

    table: str
    trace: str
    method: str
    metric: str
    at: float
    ours: float | None
    margin: float | None


@dataclass(frozen=True, slots=True)
class ChosenFormulaRow:
    """A formula that was chosen, or a simple one that is nearly as good, by fold."""

    table: str
    trace: str
    method: str
    metric: str
    fold: int
    formula: str
    length: int
    training: float
    validation: float
    ours: float


@dataclass(frozen=True, slots=True)
class TerminalRow:
    """How often a name occurs in the formulas kept, and what it is worth to the chosen ones.

    ``lost`` is the mean, over the folds whose formula has the name, of the measure that is lost on
    the test pages when 1 stands in its place; None where no chosen formula has it.
    """

    table: str
    trace: str
    method: str
    metric: str
    name: str
    share: float
    chosen: int
    lost: float | None


ResultRow = MeanRow | WinLossRow | DifferenceRow | FigurePoint | ChosenFormulaRow | TerminalRow


def result_rows(found: Sequence[TraceResults]) -> list[ResultRow]:
    """Return all tables of all traces."""
    told: list[ResultRow] = []
    for each in found:
        told += [
            *mean_rows(each),
            *difference_rows(each),
            *clock_rows(each),
            *win_loss_rows(each),
            *selection_points(each),
        ]
        told += [
            *cycle_points(each),
            *budget_points(each),
            *fitness_rows(each),
            *formula_rows(each),
            *terminal_rows(each),
        ]
    return told


def mean_rows(found: TraceResults) -> Iterator[MeanRow]:
    """Yield Table 2."""
    for method in methods(found):
        for metric in METRICS:
            around = confidence_interval(fold_means(found, method, metric))
            paper, paper_margin = PAPER_MEANS.get((by_visit(method), metric), (None, None))
            yield MeanRow(
                "t2", found.source.name, method, metric, paper, paper_margin, around.mean,
                _known(around.margin),
            )  # fmt: skip


def difference_rows(found: TraceResults) -> Iterator[DifferenceRow]:
    """Yield how far what is learnt is above the rules, and above what knows less, over folds."""
    there = methods(found)
    for method, metric in product((name for name in LEARNED if name in there), METRICS):
        for rival in (*rivals(method), "gp-basic", "gp-all", "bayes-changes"):
            if rival != method and rival in there:
                yield _gap("gaps", found, (method, rival, metric))


def clock_rows(found: TraceResults) -> Iterator[DifferenceRow]:
    """Yield how far what weighs changes by cycle is above the same by visit, over folds."""
    for method, metric in product((*CYCLE_RULE_POLICIES, "gp-all-cycle"), METRICS):
        yield _gap("clocks", found, (method, by_visit(method), metric))


def _gap(table: str, found: TraceResults, names: tuple[str, str, str]) -> DifferenceRow:
    method, rival, metric = names
    told = paired_difference(*(fold_means(found, name, metric) for name in (method, rival)))
    return DifferenceRow(
        table, found.source.name, method, rival, metric, told.difference, _known(told.margin),
        _known(told.p),
    )  # fmt: skip


def rivals(method: str) -> tuple[str, ...]:
    """Return the rules that a method is held against: those that weigh by its clock.

    >>> rivals("gp-all-cycle")
    ('nad-cycle', 'aad-cycle', 'gad-cycle', 'cg')
    """
    if method == by_visit(method):
        return COMPARED_RULES
    return tuple(
        f"{name}-cycle" if f"{name}-cycle" in CYCLE_RULE_POLICIES else name
        for name in COMPARED_RULES
    )


def by_visit(method: str) -> str:
    """Return the method that weighs by visit what this one weighs by cycle; the paper has one.

    >>> by_visit("nad-cycle"), by_visit("cg")
    ('nad', 'cg')
    """
    return method.removesuffix("-cycle")


def methods(found: TraceResults) -> list[str]:
    """Return whoever crawled the test pages of a trace."""
    names = {name for fold in found.fold_crawls for name, _ in fold.curves}
    learned = {name.split()[0] for name in names if name.startswith("gp-")}
    return [*(name for name in OTHERS if name in names), *(n for n in LEARNED if n in learned)]


def fold_means(found: TraceResults, method: str, metric: str) -> np.ndarray:
    """Return what a method reached in each fold, in the mean over cycles."""
    return known_mean(fold_curves(found, crawl_name(method, metric), metric).T)


def crawl_name(method: str, metric: str) -> str:
    """Return whose crawl tells a measure of a method: of what is learnt, the one learnt for it.

    >>> crawl_name("nad", "ndcg"), crawl_name("gp-all", "ndcg")
    ('nad', 'gp-all ndcg best')
    """
    return f"{method} {metric} best" if method in LEARNED else method


def win_loss_rows(found: TraceResults) -> Iterator[WinLossRow]:
    """Yield Table 3, and how the ways to choose a formula did against each other."""
    for metric in METRICS:
        for method in ("gp-basic", "gp-all", "gp-all-cycle"):
            for rival in rivals(method):
                paper = PAPER_WINS[by_visit(method), by_visit(rival), metric]
                yield _duel("t3", found, (method, rival, metric), paper)
        for selection in ("avg", "sum"):
            names = (f"gp-all {metric} best", f"gp-all {metric} {selection}", metric)
            yield _duel("selections", found, names, (None, None, None, None))


def _duel(
    table: str,
    found: TraceResults,
    names: tuple[str, str, str],
    paper: tuple[int | None, float | None, int | None, float | None],
) -> WinLossRow:
    method, rival, metric = names
    ours, theirs = (
        fold_curves(found, crawl_name(name, metric), metric) for name in (method, rival)
    )
    told = count_cycle_wins(ours, theirs)
    return WinLossRow(
        table, found.source.name, method, rival, metric, *paper, told.won,
        _known(told.won_by), told.lost, _known(told.lost_by), told.tied,
    )  # fmt: skip


def selection_points(found: TraceResults) -> Iterator[FigurePoint]:
    """Yield Figure 3: the three ways to choose a formula, cycle by cycle."""
    for metric in METRICS:
        for selection in SELECTION_METHODS:
            name = label(SearchKind("all", metric), selection)
            yield from _by_cycle("fig3", found, selection, metric, fold_curves(found, name, metric))


def cycle_points(found: TraceResults) -> Iterator[FigurePoint]:
    """Yield Figure 4: the methods cycle by cycle."""
    for metric in METRICS:
        for method in ("nad", "sad", "aad", "gad", "cg", "gp-all"):
            values = fold_curves(found, crawl_name(method, metric), metric)
            yield from _by_cycle("fig4", found, method, metric, values)


def _by_cycle(
    table: str, found: TraceResults, method: str, metric: str, values: np.ndarray
) -> Iterator[FigurePoint]:
    for cycle, column in enumerate(values.T, 1):
        around = confidence_interval(column)
        yield FigurePoint(
            table, found.source.name, method, metric, cycle, _known(around.mean),
            _known(around.margin),
        )  # fmt: skip


def budget_points(found: TraceResults) -> Iterator[FigurePoint]:
    """Yield Figure 5: formulas evolved at 5 % for either measure, crawling with less."""
    for fitness in METRICS:
        name = label(SearchKind("all", fitness))
        for metric in METRICS:
            for budget in BUDGETS:
                around = confidence_interval(known_mean(fold_curves(found, name, metric, budget).T))
                yield FigurePoint(
                    "fig5", found.source.name, f"evolved for {fitness}", metric, budget,
                    around.mean, _known(around.margin),
                )  # fmt: skip


def fitness_rows(found: TraceResults) -> Iterator[DifferenceRow]:
    """Yield how far formulas evolved for NDCG are above those for ChangeRate, by budget."""
    for metric, budget in product(METRICS, BUDGETS):
        ours, theirs = (
            known_mean(fold_curves(found, label(SearchKind("all", fitness)), metric, budget).T)
            for fitness in ("ndcg", "changerate")
        )
        told = paired_difference(ours, theirs)
        yield DifferenceRow(
            "fitness", found.source.name, f"ndcg at {budget:.0%}", "changerate", metric,
            told.difference, _known(told.margin), _known(told.p),
        )  # fmt: skip


def formula_rows(found: TraceResults) -> Iterator[ChosenFormulaRow]:
    """Yield the formulas that were chosen, and the simple ones that are nearly as good."""
    for kind, folds in found.formulas.items():
        for fold, formulas in enumerate(folds):
            name = label(kind)
            yield _choice("formulas", found, kind, fold, select_formula(formulas, "best"), name)
            yield _choice("simple", found, kind, fold, simplest(formulas), f"{name} simple")


def _choice(
    table: str, found: TraceResults, kind: SearchKind, fold: int, best: ValidatedFormula, name: str
) -> ChosenFormulaRow:
    curve_of = getattr(found.fold_crawls[fold].curves[name, BUDGET], kind.measure)
    return ChosenFormulaRow(
        table=table,
        trace=found.source.name,
        method=label(kind).split()[0],
        metric=kind.measure,
        fold=fold + 1,
        formula=str(best.formula),
        length=len(best.formula),
        training=best.training,
        validation=best.validation,
        ours=float(np.nanmean(curve_of)),
    )


def terminal_rows(found: TraceResults) -> Iterator[TerminalRow]:
    """Yield what formulas know of a page, how often, and what it is worth to them."""
    for kind in kinds(found.source):
        folds = found.formulas[kind]
        kept = [each.formula for fold in folds for each in fold]
        counts = Counter(name for formula in kept for name in formula.variables)
        for name in VARIABLES_BY_TERMINAL_SET[kind.terminals]:
            lost = list(_lost(found, kind, name))
            yield TerminalRow(
                "names", found.source.name, label(kind).split()[0], kind.measure, name,
                counts[name] / len(kept), len(lost), float(np.mean(lost)) if lost else None,
            )  # fmt: skip


def _lost(found: TraceResults, kind: SearchKind, name: str) -> Iterator[float]:
    """Yield what each fold's formula loses when it does not know a name."""
    whole = label(kind)
    for each in found.fold_crawls:
        less = each.curves.get((f"{whole} without {name}", BUDGET))
        if less is not None:
            with_it = getattr(each.curves[whole, BUDGET], kind.measure)
            yield float(np.nanmean(with_it) - np.nanmean(getattr(less, kind.measure)))


def _known(value: float) -> float | None:
    return None if isnan(value) else value
