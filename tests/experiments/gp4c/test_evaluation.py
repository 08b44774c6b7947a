"""The tables show the results of the crawls beside the published figures."""

import numpy as np
import pytest
from experiments.gp4c.crawls import FoldCurve
from experiments.gp4c.evaluation import (
    ChosenFormulaRow,
    DifferenceRow,
    FigurePoint,
    MeanRow,
    ResultRow,
    VariableRow,
    WinLossRow,
    compared_rules,
    crawl_name,
    result_rows,
)
from experiments.gp4c.experiment import TraceResults
from experiments.gp4c.paper_figures import PAPER_MEANS, PAPER_WINS


@pytest.fixture(scope="module")
def table(results: TraceResults) -> list[ResultRow]:
    return result_rows([results])


def of_table(table: list[ResultRow], name: str) -> list[ResultRow]:
    return [row for row in table if row.table == name]


def test_every_published_figure_has_one_of_ours_beside_it(table: list[ResultRow]) -> None:
    means = {(row.method, row.metric) for row in of_table(table, "t2") if isinstance(row, MeanRow)}
    duels = {
        (row.method, row.against, row.metric)
        for row in of_table(table, "t3")
        if isinstance(row, WinLossRow)
    }
    by_cycle = {("gp-all-cycle", rule) for rule in compared_rules("gp-all-cycle")}
    assert set(PAPER_MEANS) <= means
    assert set(PAPER_WINS) == {duel for duel in duels if duel[:2] not in by_cycle}
    assert by_cycle <= {duel[:2] for duel in duels}


@pytest.mark.parametrize("rule", ["nad", "sad", "aad", "gad", "gp-all"])
def test_the_paper_figure_is_shown_for_either_clock(table: list[ResultRow], rule: str) -> None:
    papers = {
        row.method: row.paper for row in table if isinstance(row, MeanRow) and row.metric == "ndcg"
    }
    assert papers[rule] == papers[f"{rule}-cycle"] == PAPER_MEANS[rule, "ndcg"][0]


def test_formulas_by_cycle_are_compared_with_rules_by_cycle(table: list[ResultRow]) -> None:
    against = {
        row.against
        for row in table
        if isinstance(row, WinLossRow | DifferenceRow) and _by_cycle(row)
    }
    assert against == {"nad-cycle", "aad-cycle", "gad-cycle", "cg", "gp-all", "gp-basic"}


def _by_cycle(row: WinLossRow | DifferenceRow) -> bool:
    return row.method == "gp-all-cycle"


def test_the_clocks_are_compared_fold_by_fold(table: list[ResultRow]) -> None:
    means = {(row.method, row.metric): row.ours for row in table if isinstance(row, MeanRow)}
    rows = [row for row in of_table(table, "clocks") if isinstance(row, DifferenceRow)]
    assert {row.against for row in rows} == {"nad", "sad", "aad", "gad", "gp-all"}
    for row in rows:
        ours, theirs = means[row.method, row.metric], means[row.against, row.metric]
        assert row.ours == pytest.approx(ours - theirs)


def test_a_mean_is_that_of_its_folds(table: list[ResultRow], results: TraceResults) -> None:
    row = next(
        r for r in table if isinstance(r, MeanRow) and (r.method, r.metric) == ("nad", "ndcg")
    )
    folds = [_ndcg(crawls.curves["nad", 0.05]) for crawls in results.fold_crawls]
    assert row.ours == pytest.approx(sum(folds) / len(folds))
    assert row.margin is not None
    assert row.margin > 0
    assert row.paper == 0.7288


def _ndcg(curve: FoldCurve) -> float:
    return float(np.nanmean(curve.ndcg))


def test_a_learned_method_is_measured_by_the_formula_for_the_metric() -> None:
    assert crawl_name("gp-basic", "changerate") == "gp-basic changerate best"


def test_every_cycle_is_won_lost_or_tied(table: list[ResultRow]) -> None:
    for row in of_table(table, "t3"):
        assert isinstance(row, WinLossRow)
        assert row.won + row.lost + row.tied == 28


def test_a_difference_row_is_the_difference_of_two_means(table: list[ResultRow]) -> None:
    means = {(row.method, row.metric): row.ours for row in table if isinstance(row, MeanRow)}
    gaps = [row for row in of_table(table, "gaps") if isinstance(row, DifferenceRow)]
    assert ("gp-all", "gp-basic") in {(row.method, row.against) for row in gaps}
    for row in gaps:
        ours, theirs = means[row.method, row.metric], means[row.against, row.metric]
        assert row.ours == pytest.approx(ours - theirs)


def test_no_policy_wins_against_an_oracle(table: list[ResultRow]) -> None:
    means = {
        row.method: row.ours for row in table if isinstance(row, MeanRow) and row.metric == "ndcg"
    }
    assert max(means, key=lambda name: means[name]).startswith("oracle")


def test_figures_have_a_point_for_every_cycle_and_budget(table: list[ResultRow]) -> None:
    assert len(of_table(table, "fig3")) == 2 * 3 * 28
    assert len(of_table(table, "fig4")) == 2 * 6 * 28
    budgets = [row.at for row in of_table(table, "fig5") if isinstance(row, FigurePoint)]
    assert len(budgets) == 2 * 2 * 5
    assert min(budgets) == 0.01


def test_formulas_are_listed_for_every_fold_and_kind(table: list[ResultRow]) -> None:
    chosen = [row for row in of_table(table, "formulas") if isinstance(row, ChosenFormulaRow)]
    short = [row for row in of_table(table, "simple") if isinstance(row, ChosenFormulaRow)]
    assert len(chosen) == len(short) == 6 * 3
    assert all(one.length <= other.length for one, other in zip(short, chosen, strict=True))


def test_a_variable_in_no_selected_formula_has_no_worth(table: list[ResultRow]) -> None:
    names = [row for row in of_table(table, "names") if isinstance(row, VariableRow)]
    assert names
    for row in names:
        assert (row.lost is None) == (row.chosen == 0)
        assert 0 <= row.share <= 1
