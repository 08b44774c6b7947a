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
    Found,
    curve,
    kinds,
    label,
    simple,
)
from experiments.gp4c.paper_figures import DUELS, MEANS, METRICS, RIVALS
from experiments.gp4c.searches import BUDGET, Kind
from freshet.backtest.cycle_oracles import ORACLES
from freshet.backtest.significance import interval, paired, victories
from freshet.learning.evolve.model_selection import SELECTIONS, Judged, chosen
from freshet.schedule.policies import BY_CYCLE
from freshet.schedule.ranked import NAMES

LEARNED = ("gp-basic", "gp-all", "gp-all-cycle", "gp-extended")
OTHERS = (*RULES, SIMPLE_RULE, *BY_CYCLE, "bayes-changes", *ORACLES)


@dataclass(frozen=True, slots=True)
class Mean:
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
class Duel:
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
class Gap:
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
class Point:
    """A point of a figure: a measure of a method in a cycle after the warm-up or at a budget."""

    table: str
    trace: str
    method: str
    metric: str
    at: float
    ours: float | None
    margin: float | None


@dataclass(frozen=True, slots=True)
class Choice:
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
class Name:
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


Row = Mean | Duel | Gap | Point | Choice | Name


def rows(found: Sequence[Found]) -> list[Row]:
    """Return all tables of all traces."""
    told: list[Row] = []
    for each in found:
        told += [*means(each), *gaps(each), *clocks(each), *duels(each), *selections(each)]
        told += [*cycles(each), *budgets(each), *fitnesses(each), *choices(each), *names(each)]
    return told


def means(found: Found) -> Iterator[Mean]:
    """Yield Table 2."""
    for method in methods(found):
        for metric in METRICS:
            around = interval(fold_means(found, method, metric))
            paper, paper_margin = MEANS.get((by_visit(method), metric), (None, None))
            yield Mean(
                "t2", found.source.name, method, metric, paper, paper_margin, around.mean,
                _known(around.margin),
            )  # fmt: skip


def gaps(found: Found) -> Iterator[Gap]:
    """Yield how far what is learnt is above the rules, and above what knows less, over folds."""
    there = methods(found)
    for method, metric in product((name for name in LEARNED if name in there), METRICS):
        for rival in (*rivals(method), "gp-basic", "gp-all", "bayes-changes"):
            if rival != method and rival in there:
                yield _gap("gaps", found, (method, rival, metric))


def clocks(found: Found) -> Iterator[Gap]:
    """Yield how far what weighs changes by cycle is above the same by visit, over folds."""
    for method, metric in product((*BY_CYCLE, "gp-all-cycle"), METRICS):
        yield _gap("clocks", found, (method, by_visit(method), metric))


def _gap(table: str, found: Found, names: tuple[str, str, str]) -> Gap:
    method, rival, metric = names
    told = paired(*(fold_means(found, name, metric) for name in (method, rival)))
    return Gap(
        table, found.source.name, method, rival, metric, told.difference, _known(told.margin),
        _known(told.p),
    )  # fmt: skip


def rivals(method: str) -> tuple[str, ...]:
    """Return the rules that a method is held against: those that weigh by its clock.

    >>> rivals("gp-all-cycle")
    ('nad-cycle', 'aad-cycle', 'gad-cycle', 'cg')
    """
    if method == by_visit(method):
        return RIVALS
    return tuple(f"{name}-cycle" if f"{name}-cycle" in BY_CYCLE else name for name in RIVALS)


def by_visit(method: str) -> str:
    """Return the method that weighs by visit what this one weighs by cycle; the paper has one.

    >>> by_visit("nad-cycle"), by_visit("cg")
    ('nad', 'cg')
    """
    return method.removesuffix("-cycle")


def methods(found: Found) -> list[str]:
    """Return whoever crawled the test pages of a trace."""
    names = {name for fold in found.crawled for name, _ in fold.curves}
    learned = {name.split()[0] for name in names if name.startswith("gp-")}
    return [*(name for name in OTHERS if name in names), *(n for n in LEARNED if n in learned)]


def fold_means(found: Found, method: str, metric: str) -> np.ndarray:
    """Return what a method reached in each fold, in the mean over cycles."""
    return known_mean(curve(found, told_as(method, metric), metric).T)


def told_as(method: str, metric: str) -> str:
    """Return whose crawl tells a measure of a method: of what is learnt, the one learnt for it.

    >>> told_as("nad", "ndcg"), told_as("gp-all", "ndcg")
    ('nad', 'gp-all ndcg best')
    """
    return f"{method} {metric} best" if method in LEARNED else method


def duels(found: Found) -> Iterator[Duel]:
    """Yield Table 3, and how the ways to choose a formula did against each other."""
    for metric in METRICS:
        for method in ("gp-basic", "gp-all", "gp-all-cycle"):
            for rival in rivals(method):
                paper = DUELS[by_visit(method), by_visit(rival), metric]
                yield _duel("t3", found, (method, rival, metric), paper)
        for selection in ("avg", "sum"):
            names = (f"gp-all {metric} best", f"gp-all {metric} {selection}", metric)
            yield _duel("selections", found, names, (None, None, None, None))


def _duel(
    table: str,
    found: Found,
    names: tuple[str, str, str],
    paper: tuple[int | None, float | None, int | None, float | None],
) -> Duel:
    method, rival, metric = names
    ours, theirs = (curve(found, told_as(name, metric), metric) for name in (method, rival))
    told = victories(ours, theirs)
    return Duel(
        table, found.source.name, method, rival, metric, *paper, told.won,
        _known(told.won_by), told.lost, _known(told.lost_by), told.tied,
    )  # fmt: skip


def selections(found: Found) -> Iterator[Point]:
    """Yield Figure 3: the three ways to choose a formula, cycle by cycle."""
    for metric in METRICS:
        for selection in SELECTIONS:
            name = label(Kind("all", metric), selection)
            yield from _by_cycle("fig3", found, selection, metric, curve(found, name, metric))


def cycles(found: Found) -> Iterator[Point]:
    """Yield Figure 4: the methods cycle by cycle."""
    for metric in METRICS:
        for method in ("nad", "sad", "aad", "gad", "cg", "gp-all"):
            values = curve(found, told_as(method, metric), metric)
            yield from _by_cycle("fig4", found, method, metric, values)


def _by_cycle(
    table: str, found: Found, method: str, metric: str, values: np.ndarray
) -> Iterator[Point]:
    for cycle, column in enumerate(values.T, 1):
        around = interval(column)
        yield Point(
            table, found.source.name, method, metric, cycle, _known(around.mean),
            _known(around.margin),
        )  # fmt: skip


def budgets(found: Found) -> Iterator[Point]:
    """Yield Figure 5: formulas evolved at 5 % for either measure, crawling with less."""
    for fitness in METRICS:
        name = label(Kind("all", fitness))
        for metric in METRICS:
            for budget in BUDGETS:
                around = interval(known_mean(curve(found, name, metric, budget).T))
                yield Point(
                    "fig5", found.source.name, f"evolved for {fitness}", metric, budget,
                    around.mean, _known(around.margin),
                )  # fmt: skip


def fitnesses(found: Found) -> Iterator[Gap]:
    """Yield how far formulas evolved for NDCG are above those for ChangeRate, by budget."""
    for metric, budget in product(METRICS, BUDGETS):
        ours, theirs = (
            known_mean(curve(found, label(Kind("all", fitness)), metric, budget).T)
            for fitness in ("ndcg", "changerate")
        )
        told = paired(ours, theirs)
        yield Gap(
            "fitness", found.source.name, f"ndcg at {budget:.0%}", "changerate", metric,
            told.difference, _known(told.margin), _known(told.p),
        )  # fmt: skip


def choices(found: Found) -> Iterator[Choice]:
    """Yield the formulas that were chosen, and the simple ones that are nearly as good."""
    for kind, folds in found.kept.items():
        for fold, formulas in enumerate(folds):
            name = label(kind)
            yield _choice("formulas", found, kind, fold, chosen(formulas, "best"), name)
            yield _choice("simple", found, kind, fold, simple(formulas), f"{name} simple")


def _choice(table: str, found: Found, kind: Kind, fold: int, best: Judged, name: str) -> Choice:
    curve_of = getattr(found.crawled[fold].curves[name, BUDGET], kind.measure)
    return Choice(
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


def names(found: Found) -> Iterator[Name]:
    """Yield what formulas know of a page, how often, and what it is worth to them."""
    for kind in kinds(found.source):
        folds = found.kept[kind]
        kept = [each.formula for fold in folds for each in fold]
        counts = Counter(name for formula in kept for name in formula.names)
        for name in NAMES[kind.terminals]:
            lost = list(_lost(found, kind, name))
            yield Name(
                "names", found.source.name, label(kind).split()[0], kind.measure, name,
                counts[name] / len(kept), len(lost), float(np.mean(lost)) if lost else None,
            )  # fmt: skip


def _lost(found: Found, kind: Kind, name: str) -> Iterator[float]:
    """Yield what each fold's formula loses when it does not know a name."""
    whole = label(kind)
    for each in found.crawled:
        less = each.curves.get((f"{whole} without {name}", BUDGET))
        if less is not None:
            with_it = getattr(each.curves[whole, BUDGET], kind.measure)
            yield float(np.nanmean(with_it) - np.nanmean(getattr(less, kind.measure)))


def _known(value: float) -> float | None:
    return None if isnan(value) else value
