"""Claims of the paper about stability: the selections, other pages, and the first cycles.

Santos et al. 2015, section 5.3: the three selection methods are nearly always tied; results on the
test pages differ by less than 1 % from those on the training and validation pages, and by less than
3 % across folds; after the sixth cycle the learned function is the best in all cycles.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from experiments.gp4c.experiment import TraceResults, fold_curves, label
from experiments.gp4c.paper_figures import METRICS
from experiments.gp4c.searches import SearchKind
from freshet.backtest.significance import count_cycle_wins
from freshet.learning.evolve.model_selection import SELECTION_METHODS, select_formula

FIRST_CYCLES = 6
RIVALS = ("nad", "sad", "aad", "gad", "cg")
PAPER_KINDS = tuple(
    SearchKind(terminals, metric, clock)
    for terminals, clock in (("basic", "visit"), ("all", "visit"), ("all", "cycle"))
    for metric in METRICS
)


@dataclass(frozen=True, slots=True)
class SameChoiceRow:
    """Where two selection methods agree: folds with the same formula, and cycles with equal values.

    A cycle counts if the values are equal in all folds.
    """

    table: str
    trace: str
    metric: str
    selection: str
    same_folds: int
    folds: int
    equal_cycles: int
    cycles: int


@dataclass(frozen=True, slots=True)
class StabilityRow:
    """How far results lie apart, in shares: from training to test, to validation, across folds.

    ``to_test`` and ``to_validation`` are the largest differences of a fold from the training pages,
    ``across`` is the range of the folds' test results divided by their mean.
    """

    table: str
    trace: str
    method: str
    metric: str
    to_test: float
    to_validation: float
    across: float


@dataclass(frozen=True, slots=True)
class LeadRow:
    """The cycles in which a method is the best, against the rules of the same clock.

    ``last_below`` is the last cycle in which the mean of some rule is higher, ``last_lost`` the
    last in which a rule is significantly better; 0 if there is none. ``below_later`` counts the
    cycles after the sixth in which the mean of some rule is higher.
    """

    table: str
    trace: str
    method: str
    metric: str
    last_below: int
    last_lost: int
    below_later: int
    cycles: int


def same_choice_rows(results: TraceResults) -> Iterator[SameChoiceRow]:
    """Yield how often ``avg`` and ``sum`` choose what ``best`` chooses."""
    for metric, selection in product(
        METRICS, [name for name in SELECTION_METHODS if name != "best"]
    ):
        kind = SearchKind("all", metric)
        folds = results.formulas[kind]
        best, other = (
            fold_curves(results, label(kind, name), metric) for name in ("best", selection)
        )
        yield SameChoiceRow(
            "same_choice",
            results.source.name,
            metric,
            selection,
            sum(
                select_formula(fold, "best").formula == select_formula(fold, selection).formula
                for fold in folds
            ),
            len(folds),
            int(np.count_nonzero(_equal(best, other).all(axis=0))),
            best.shape[1],
        )


def _equal(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return (first == second) | (np.isnan(first) & np.isnan(second))


def stability_rows(results: TraceResults) -> Iterator[StabilityRow]:
    """Yield the differences between training, validation and test, and across the folds."""
    for kind in (kind for kind in PAPER_KINDS if kind in results.formulas):
        choices = [select_formula(fold, "best") for fold in results.formulas[kind]]
        test = np.nanmean(fold_curves(results, label(kind), kind.measure), axis=1)
        training = np.array([choice.training for choice in choices])
        validation = np.array([choice.validation for choice in choices])
        yield StabilityRow(
            "stability",
            results.source.name,
            label(kind).split()[0],
            kind.measure,
            float(np.max(np.abs(test - training) / training)),
            float(np.max(np.abs(validation - training) / training)),
            float(np.ptp(test) / test.mean()),
        )


def lead_rows(results: TraceResults) -> Iterator[LeadRow]:
    """Yield the cycles in which each method is below the best rule."""
    for kind in (kind for kind in PAPER_KINDS if kind in results.formulas):
        ours = fold_curves(results, label(kind), kind.measure)
        theirs = [fold_curves(results, rule_name(rule, kind), kind.measure) for rule in RIVALS]
        best_rule = np.max([_fold_mean(curves) for curves in theirs], axis=0)
        below = _fold_mean(ours) < best_rule
        lost = np.zeros(len(below), np.bool_)
        for curves in theirs:
            for cycle in range(len(below)):
                column = slice(cycle, cycle + 1)
                lost[cycle] |= count_cycle_wins(ours[:, column], curves[:, column]).lost > 0
        yield LeadRow(
            "lead",
            results.source.name,
            label(kind).split()[0],
            kind.measure,
            _last(below),
            _last(lost),
            int(np.count_nonzero(below[FIRST_CYCLES:])),
            len(below),
        )


def rule_name(rule: str, kind: SearchKind) -> str:
    """Return the rule with the clock of a search.

    >>> rule_name("nad", SearchKind("all", "ndcg", "cycle")), rule_name("cg", SearchKind())
    ('nad-cycle', 'cg')
    """
    return f"{rule}-cycle" if kind.clock == "cycle" and rule != "cg" else rule


def _fold_mean(curves: np.ndarray) -> np.ndarray:
    """Return the mean over folds by cycle; 0 in a cycle without a stale page."""
    known = ~np.isnan(curves)
    sums = np.where(known, curves, 0.0).sum(axis=0)
    return sums / np.maximum(1, known.sum(axis=0))


def _last(flags: np.ndarray) -> int:
    """Return the number of the last flagged cycle, counted from 1; 0 if there is none."""
    return int(np.flatnonzero(flags)[-1]) + 1 if flags.any() else 0
