"""The paper's claims about stability, computed on a small world."""

from dataclasses import replace

import numpy as np
from experiments.gp4c.experiment import TraceResults, fold_curves, label
from experiments.gp4c.searches import SearchKind
from experiments.gp4c.stability import lead_rows, same_choice_rows, stability_rows

from freshet.learning.evolve.model_selection import select_formula


def test_selections_that_choose_the_same_formula_agree_in_every_cycle(
    results: TraceResults,
) -> None:
    rows = list(same_choice_rows(results))
    assert [(row.metric, row.selection) for row in rows] == [
        ("changerate", "avg"), ("changerate", "sum"), ("ndcg", "avg"), ("ndcg", "sum"),
    ]  # fmt: skip
    assert all(row.equal_cycles == row.cycles for row in rows if row.same_folds == row.folds)
    only_one = {kind: [fold[:1] for fold in folds] for kind, folds in results.formulas.items()}
    assert {row.same_folds for row in same_choice_rows(replace(results, formulas=only_one))} == {3}


def test_stability_is_the_largest_share_between_training_and_test(results: TraceResults) -> None:
    row = next(row for row in stability_rows(results) if row.method == "gp-all-cycle")
    kind = SearchKind("all", row.metric, "cycle")
    choices = [select_formula(fold, "best") for fold in results.formulas[kind]]
    test = np.nanmean(fold_curves(results, label(kind), row.metric), axis=1)
    shares = [
        abs(mine - one.training) / one.training for mine, one in zip(test, choices, strict=True)
    ]
    assert row.to_test == max(shares)
    assert row.across == (max(test) - min(test)) / np.mean(test)


def test_a_method_equal_to_the_best_rule_is_never_below_it(results: TraceResults) -> None:
    oracle = {
        (name, budget): fold.curves["oracle-change", 0.05]
        for fold in results.fold_crawls[:1]
        for name, budget in fold.curves
        if name.startswith("gp-")
    }
    leading = [
        replace(
            fold,
            curves={**fold.curves, **dict.fromkeys(oracle, fold.curves["oracle-change", 0.05])},
        )
        for fold in results.fold_crawls
    ]
    rows = list(lead_rows(replace(results, fold_crawls=leading)))
    assert {(row.last_below, row.last_lost, row.below_later) for row in rows} == {(0, 0, 0)}
    trailing = [
        replace(fold, curves={**fold.curves, **dict.fromkeys(oracle, fold.curves["rand", 0.05])})
        for fold in results.fold_crawls
    ]
    rows = list(lead_rows(replace(results, fold_crawls=trailing)))
    assert all(row.last_below == row.cycles == 28 for row in rows)
