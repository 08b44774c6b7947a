"""A search travels to an engine as columns and returns formulas of its variables."""

from dataclasses import replace

import numpy as np
from experiments.gp4c.data import TraceSource, open_source
from experiments.gp4c.searches import (
    SearchCase,
    SearchKind,
    SearchSize,
    case_from_columns,
    cases,
    formulas_from_columns,
    search,
)

from freshet.learning.evolve.evolution import evolve
from freshet.learning.evolve.model_selection import select_formula
from freshet.schedule.formulas.extended_formula_policy import VARIABLES_BY_TERMINAL_SET

SOURCE = TraceSource("world", pages=1_000, cycles=20, seed=3)
CASE = SearchCase(SOURCE, "any", 1, 2, SearchKind("basic", "changerate", "cycle"), 8, 2)


def test_a_case_is_the_same_after_an_engine_carried_it() -> None:
    assert case_from_columns(CASE.columns()) == CASE


def test_another_seed_is_another_batch() -> None:
    one, other = list(cases(SOURCE, SearchKind(), SearchSize(8, 2, 2, 1)))
    assert one.columns()["seed"] != other.columns()["seed"]
    assert one.columns()["source_seed"] == other.columns()["source_seed"]


def test_a_size_has_a_search_for_every_fold_and_seed() -> None:
    fold_seeds = [
        (case.fold, case.seed) for case in cases(SOURCE, SearchKind(), SearchSize(8, 2, 2, 3))
    ]
    assert fold_seeds == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]


def test_a_search_keeps_formulas_of_its_names_the_best_first() -> None:
    formulas = formulas_from_columns(search(CASE.columns()), VARIABLES_BY_TERMINAL_SET["basic"])
    assert formulas
    assert all(
        validated.formula.variables <= set(VARIABLES_BY_TERMINAL_SET["basic"])
        for validated in formulas
    )
    training = [validated.training for validated in formulas]
    assert training == sorted(training, reverse=True)


def test_a_search_is_one_of_those_that_freshet_evolve_makes() -> None:
    task = replace(CASE.task, seeds=2, folds=2)
    among = evolve(open_source(CASE.source), task).searches
    best = select_formula(
        formulas_from_columns(search(CASE.columns()), VARIABLES_BY_TERMINAL_SET["basic"]),
        task.selection,
    )
    same_search = next(
        validated
        for validated in among
        if (validated.fold, validated.seed) == (CASE.fold + 1, CASE.seed)
    )
    assert (same_search.formula, same_search.training) == (best.formula, best.training)
    assert same_search.validation == best.validation


def test_seeds_side_by_side_find_what_they_find_alone() -> None:
    together, *others = cases(SOURCE, CASE.kind, SearchSize(8, 2, 2, 1), "arrays")
    assert (together.seeds, others) == (2, [])
    alone = [search(case.columns()) for case in cases(SOURCE, CASE.kind, SearchSize(8, 2, 2, 1))]
    joint = search(together.columns())
    for name in ("formulas", "training", "validation"):
        assert joint[name].tolist() == [value for one in alone for value in one[name].tolist()]


def test_a_search_finds_the_same_again() -> None:
    one, other = search(CASE.columns()), search(CASE.columns())
    assert all(np.array_equal(one[name], other[name]) for name in one)
