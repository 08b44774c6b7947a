"""The short form: searches on a small world find formulas that beat chance."""

import numpy as np
from experiments.gp4c.data import TraceSource
from experiments.gp4c.experiment import (
    BUDGETS,
    CYCLE_KINDS,
    VISIT_KINDS,
    TraceResults,
    crawl_entries,
    kinds,
    label,
    simplest,
)
from experiments.gp4c.searches import BUDGET, SearchKind

from freshet.formula.expression import Formula
from freshet.learning.evolve.model_selection import ValidatedFormula, select_formula


def test_the_world_is_searched_as_in_the_paper_and_real_pages_further() -> None:
    real, world = kinds(TraceSource("snap")), kinds(TraceSource("world"))
    assert world == (*VISIT_KINDS, *CYCLE_KINDS)
    assert set(world) < set(real)
    assert {kind.terminals for kind in real} == {"basic", "all", "extended"}
    assert {kind.clock for kind in real} == {"visit", "cycle"}


def test_every_fold_keeps_formulas_of_every_kind(results: TraceResults) -> None:
    assert set(results.formulas) == {*VISIT_KINDS, *CYCLE_KINDS}
    assert all(len(folds) == 3 and all(folds) for folds in results.formulas.values())


def test_learned_formulas_beat_chance_on_pages_that_no_search_used(results: TraceResults) -> None:
    for crawls in results.fold_crawls:
        chance = crawls.curves["rand", BUDGET].ndcg
        learned = crawls.curves[label(SearchKind("all", "ndcg")), BUDGET].ndcg
        assert np.nanmean(learned) > 2 * np.nanmean(chance)


def test_the_formula_for_all_variables_crawls_with_every_budget(results: TraceResults) -> None:
    budgets_used = {
        entry.budget
        for entry in crawl_entries(results.source, results.formulas, 0)
        if entry.name == label(SearchKind("all", "ndcg"))
    }
    assert budgets_used == set(BUDGETS)


def test_a_selected_formula_is_tested_without_each_of_its_variables(results: TraceResults) -> None:
    kind = SearchKind("all", "ndcg")
    best = select_formula(results.formulas[kind][0], "best").formula
    names = {entry.name for entry in crawl_entries(results.source, results.formulas, 0)}
    assert best.variables
    assert all(f"{label(kind)} without {name}" in names for name in best.variables)


def test_a_simple_formula_is_short_and_nearly_as_good() -> None:
    formulas = [
        ValidatedFormula(Formula(("*", "t", "X")), 0.5, 0.600),
        ValidatedFormula(Formula(("X",)), 0.5, 0.596),
        ValidatedFormula(Formula(("t",)), 0.9, 0.590),
    ]
    assert str(simplest(formulas).formula) == "X"
