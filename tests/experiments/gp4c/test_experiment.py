"""The short form: searches on a small world find what beats chance, and all of it is tested."""

import numpy as np
from experiments.gp4c.data import Source
from experiments.gp4c.experiment import (
    BUDGETS,
    CLOCKED,
    PLAIN,
    Found,
    entries,
    kinds,
    label,
    simple,
)
from experiments.gp4c.searches import BUDGET, Kind

from freshet.formula.expression import Formula
from freshet.learning.evolve.model_selection import Judged, chosen


def test_the_world_is_searched_as_in_the_paper_and_real_pages_further() -> None:
    real, world = kinds(Source("snap")), kinds(Source("world"))
    assert world == (*PLAIN, *CLOCKED)
    assert set(world) < set(real)
    assert {kind.terminals for kind in real} == {"basic", "all", "extended"}
    assert {kind.clock for kind in real} == {"visit", "cycle"}


def test_every_fold_keeps_formulas_of_every_kind(found: Found) -> None:
    assert set(found.kept) == {*PLAIN, *CLOCKED}
    assert all(len(folds) == 3 and all(folds) for folds in found.kept.values())


def test_what_is_learnt_beats_chance_on_pages_that_no_search_saw(found: Found) -> None:
    for each in found.crawled:
        chance = each.curves["rand", BUDGET].ndcg
        learnt = each.curves[label(Kind("all", "ndcg")), BUDGET].ndcg
        assert np.nanmean(learnt) > 2 * np.nanmean(chance)


def test_the_formula_for_all_names_crawls_with_every_budget(found: Found) -> None:
    held = {
        entry.budget
        for entry in entries(found.source, found.kept, 0)
        if entry.name == label(Kind("all", "ndcg"))
    }
    assert held == set(BUDGETS)


def test_a_chosen_formula_is_tested_without_each_of_its_names(found: Found) -> None:
    kind = Kind("all", "ndcg")
    best = chosen(found.kept[kind][0], "best").formula
    names = {entry.name for entry in entries(found.source, found.kept, 0)}
    assert best.names
    assert all(f"{label(kind)} without {name}" in names for name in best.names)


def test_a_simple_formula_is_short_and_nearly_as_good() -> None:
    formulas = [
        Judged(Formula(("*", "t", "X")), 0.5, 0.600),
        Judged(Formula(("X",)), 0.5, 0.596),
        Judged(Formula(("t",)), 0.9, 0.590),
    ]
    assert str(simple(formulas).formula) == "X"
