"""Tables of results: the published figures, the world's and those of the real traces."""

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
from experiments.gp4c.paper_figures import (
    COMPARED_RULES,
    METRICS,
    PAPER_MEANS,
    PAPER_SELECTION_WINS,
    PAPER_WINS,
)
from experiments.gp4c.searches import BUDGET, SearchKind
from experiments.gp4c.stability import (
    LeadRow,
    SameChoiceRow,
    StabilityRow,
    lead_rows,
    same_choice_rows,
    stability_rows,
)
from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.backtest.significance import confidence_interval, count_cycle_wins, paired_difference
from freshet.learning.evolve.model_selection import (
    SELECTION_METHODS,
    ValidatedFormula,
    select_formula,
)
from freshet.schedule.formulas.extended_formula_policy import VARIABLES_BY_TERMINAL_SET
from freshet.schedule.policies import CYCLE_RULE_POLICIES

LEARNED_METHODS = ("gp-basic", "gp-all", "gp-all-cycle", "gp-extended")
OTHER_METHODS = (*RULES, SIMPLE_RULE, *CYCLE_RULE_POLICIES, "bayes-changes", *CYCLE_ORACLES)


@dataclass(frozen=True, slots=True)
class MeanRow:
    """Table 2: a metric of a method, the mean over folds with the margin of its interval.

    A learned method is measured by the formulas evolved for that metric.
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
    """Table 3: the cycles in which a method was better or worse than another, and by how much."""

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
    """The difference of two methods, fold by fold; ``p`` is the p-value."""

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
    """A point of a figure: a metric of a method in a cycle after the warm-up or at a budget."""

    table: str
    trace: str
    method: str
    metric: str
    at: float
    ours: float | None
    margin: float | None


@dataclass(frozen=True, slots=True)
class ChosenFormulaRow:
    """A selected formula of a fold, or a simple one that is nearly as good."""

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
class VariableRow:
    """The share of the formulas that contain a variable, and its worth to the selected ones.

    ``lost`` is the mean loss of the metric on the test pages when 1 replaces the variable, over the
    folds whose formula contains it; None if no selected formula does.
    """

    table: str
    trace: str
    method: str
    metric: str
    name: str
    share: float
    chosen: int
    lost: float | None


ResultRow = (
    MeanRow | WinLossRow | DifferenceRow | FigurePoint | ChosenFormulaRow | VariableRow
    | SameChoiceRow | StabilityRow | LeadRow
)  # fmt: skip


def result_rows(all_results: Sequence[TraceResults]) -> list[ResultRow]:
    """Return all tables of all traces."""
    rows: list[ResultRow] = []
    for results in all_results:
        rows += [
            *mean_rows(results),
            *difference_rows(results),
            *clock_rows(results),
            *win_loss_rows(results),
            *selection_points(results),
        ]
        rows += [
            *cycle_points(results),
            *budget_points(results),
            *fitness_rows(results),
            *formula_rows(results),
            *variable_rows(results),
        ]
        rows += [*same_choice_rows(results), *stability_rows(results), *lead_rows(results)]
    return rows


def mean_rows(results: TraceResults) -> Iterator[MeanRow]:
    """Yield Table 2."""
    for method in methods(results):
        for metric in METRICS:
            mean_interval = confidence_interval(fold_means(results, method, metric))
            paper, paper_margin = PAPER_MEANS.get((by_visit(method), metric), (None, None))
            yield MeanRow(
                "t2", results.source.name, method, metric, paper, paper_margin, mean_interval.mean,
                _optional(mean_interval.margin),
            )  # fmt: skip


def difference_rows(results: TraceResults) -> Iterator[DifferenceRow]:
    """Yield the differences of learned methods from rules and from methods with fewer variables."""
    all_methods = methods(results)
    for method, metric in product(
        (name for name in LEARNED_METHODS if name in all_methods), METRICS
    ):
        for baseline in (*compared_rules(method), "gp-basic", "gp-all", "bayes-changes"):
            if baseline != method and baseline in all_methods:
                yield _difference_row("gaps", results, (method, baseline, metric))


def clock_rows(results: TraceResults) -> Iterator[DifferenceRow]:
    """Yield the differences of weights by cycle from weights by visit."""
    for method, metric in product((*CYCLE_RULE_POLICIES, "gp-all-cycle"), METRICS):
        yield _difference_row("clocks", results, (method, by_visit(method), metric))


def _difference_row(
    table: str, results: TraceResults, names: tuple[str, str, str]
) -> DifferenceRow:
    method, baseline, metric = names
    paired_result = paired_difference(
        *(fold_means(results, name, metric) for name in (method, baseline))
    )
    return DifferenceRow(
        table,
        results.source.name,
        method,
        baseline,
        metric,
        paired_result.difference,
        _optional(paired_result.margin),
        _optional(paired_result.p),
    )


def compared_rules(method: str) -> tuple[str, ...]:
    """Return the rules that a method is compared with: those with the same clock.

    >>> compared_rules("gp-all-cycle")
    ('nad-cycle', 'aad-cycle', 'gad-cycle', 'cg')
    """
    if method == by_visit(method):
        return COMPARED_RULES
    return tuple(
        f"{name}-cycle" if f"{name}-cycle" in CYCLE_RULE_POLICIES else name
        for name in COMPARED_RULES
    )


def by_visit(method: str) -> str:
    """Return the name of the same method with weights by visit; the paper has only one.

    >>> by_visit("nad-cycle"), by_visit("cg")
    ('nad', 'cg')
    """
    return method.removesuffix("-cycle")


def methods(results: TraceResults) -> list[str]:
    """Return the methods that crawled the test pages of a trace."""
    names = {name for fold in results.fold_crawls for name, _ in fold.curves}
    learned_names = {name.split()[0] for name in names if name.startswith("gp-")}
    return [
        *(name for name in OTHER_METHODS if name in names),
        *(n for n in LEARNED_METHODS if n in learned_names),
    ]


def fold_means(results: TraceResults, method: str, metric: str) -> np.ndarray:
    """Return the mean over cycles of a method's metric, for each fold."""
    return known_mean(fold_curves(results, crawl_name(method, metric), metric).T)


def crawl_name(method: str, metric: str) -> str:
    """Return the crawl of a method: for a learned method, the one evolved for the metric.

    >>> crawl_name("nad", "ndcg"), crawl_name("gp-all", "ndcg")
    ('nad', 'gp-all ndcg best')
    """
    return f"{method} {metric} best" if method in LEARNED_METHODS else method


def win_loss_rows(results: TraceResults) -> Iterator[WinLossRow]:
    """Yield Table 3, and the comparison of the selection methods."""
    for metric in METRICS:
        for method in ("gp-basic", "gp-all", "gp-all-cycle"):
            for baseline in compared_rules(method):
                paper = PAPER_WINS[by_visit(method), by_visit(baseline), metric]
                yield _win_loss_row("t3", results, (method, baseline, metric), paper)
        for selection in ("avg", "sum"):
            names = (f"gp-all {metric} best", f"gp-all {metric} {selection}", metric)
            won, lost = PAPER_SELECTION_WINS[metric, selection]
            yield _win_loss_row("selections", results, names, (won, None, lost, None))


def _win_loss_row(
    table: str,
    results: TraceResults,
    names: tuple[str, str, str],
    paper: tuple[int | None, float | None, int | None, float | None],
) -> WinLossRow:
    method, baseline, metric = names
    ours, theirs = (
        fold_curves(results, crawl_name(name, metric), metric) for name in (method, baseline)
    )
    wins = count_cycle_wins(ours, theirs)
    return WinLossRow(
        table, results.source.name, method, baseline, metric, *paper, wins.won,
        _optional(wins.won_by), wins.lost, _optional(wins.lost_by), wins.tied,
    )  # fmt: skip


def selection_points(results: TraceResults) -> Iterator[FigurePoint]:
    """Yield Figure 3: the three selection methods, cycle by cycle."""
    for metric in METRICS:
        for selection in SELECTION_METHODS:
            name = label(SearchKind("all", metric), selection)
            yield from _points_by_cycle(
                "fig3", results, selection, metric, fold_curves(results, name, metric)
            )


def cycle_points(results: TraceResults) -> Iterator[FigurePoint]:
    """Yield Figure 4: the methods cycle by cycle."""
    for metric in METRICS:
        for method in ("nad", "sad", "aad", "gad", "cg", "gp-all"):
            values = fold_curves(results, crawl_name(method, metric), metric)
            yield from _points_by_cycle("fig4", results, method, metric, values)


def _points_by_cycle(
    table: str, results: TraceResults, method: str, metric: str, values: np.ndarray
) -> Iterator[FigurePoint]:
    for cycle, column in enumerate(values.T, 1):
        mean_interval = confidence_interval(column)
        yield FigurePoint(
            table, results.source.name, method, metric, cycle, _optional(mean_interval.mean),
            _optional(mean_interval.margin),
        )  # fmt: skip


def budget_points(results: TraceResults) -> Iterator[FigurePoint]:
    """Yield Figure 5: formulas evolved at 5 % for either metric, crawling with less."""
    for fitness in METRICS:
        name = label(SearchKind("all", fitness))
        for metric in METRICS:
            for budget in BUDGETS:
                mean_interval = confidence_interval(
                    known_mean(fold_curves(results, name, metric, budget).T)
                )
                yield FigurePoint(
                    "fig5", results.source.name, f"evolved for {fitness}", metric, budget,
                    mean_interval.mean, _optional(mean_interval.margin),
                )  # fmt: skip


def fitness_rows(results: TraceResults) -> Iterator[DifferenceRow]:
    """Yield the differences of formulas evolved for NDCG and for ChangeRate, by budget."""
    for metric, budget in product(METRICS, BUDGETS):
        ours, theirs = (
            known_mean(fold_curves(results, label(SearchKind("all", fitness)), metric, budget).T)
            for fitness in ("ndcg", "changerate")
        )
        difference = paired_difference(ours, theirs)
        yield DifferenceRow(
            "fitness", results.source.name, f"ndcg at {budget:.0%}", "changerate", metric,
            difference.difference, _optional(difference.margin), _optional(difference.p),
        )  # fmt: skip


def formula_rows(results: TraceResults) -> Iterator[ChosenFormulaRow]:
    """Yield the selected formulas, and the simple ones that are nearly as good."""
    for kind, folds in results.formulas.items():
        for fold, formulas in enumerate(folds):
            name = label(kind)
            yield _formula_row(
                "formulas", results, kind, fold, select_formula(formulas, "best"), name
            )
            yield _formula_row("simple", results, kind, fold, simplest(formulas), f"{name} simple")


def _formula_row(
    table: str,
    results: TraceResults,
    kind: SearchKind,
    fold: int,
    best: ValidatedFormula,
    name: str,
) -> ChosenFormulaRow:
    curve_of = getattr(results.fold_crawls[fold].curves[name, BUDGET], kind.measure)
    return ChosenFormulaRow(
        table=table,
        trace=results.source.name,
        method=label(kind).split()[0],
        metric=kind.measure,
        fold=fold + 1,
        formula=str(best.formula),
        length=len(best.formula),
        training=best.training,
        validation=best.validation,
        ours=float(np.nanmean(curve_of)),
    )


def variable_rows(results: TraceResults) -> Iterator[VariableRow]:
    """Yield how often each variable occurs in the formulas, and its worth."""
    for kind in kinds(results.source):
        folds = results.formulas[kind]
        formulas = [judged.formula for fold in folds for judged in fold]
        counts = Counter(name for formula in formulas for name in formula.variables)
        for name in VARIABLES_BY_TERMINAL_SET[kind.terminals]:
            losses = list(_losses(results, kind, name))
            yield VariableRow(
                "names",
                results.source.name,
                label(kind).split()[0],
                kind.measure,
                name,
                counts[name] / len(formulas),
                len(losses),
                float(np.mean(losses)) if losses else None,
            )


def _losses(results: TraceResults, kind: SearchKind, name: str) -> Iterator[float]:
    """Yield the loss of each fold's formula without a variable."""
    full_name = label(kind)
    for crawls in results.fold_crawls:
        reduced = crawls.curves.get((f"{full_name} without {name}", BUDGET))
        if reduced is not None:
            full_curve = getattr(crawls.curves[full_name, BUDGET], kind.measure)
            yield float(np.nanmean(full_curve) - np.nanmean(getattr(reduced, kind.measure)))


def _optional(value: float) -> float | None:
    return None if isnan(value) else value
