"""All crawls of the test pages are measured by the same metrics."""

import numpy as np
import pytest
from experiments.gp4c.crawls import (
    CrawlEntry,
    FoldCurve,
    crawl_all,
    crawls_from_columns,
    entry_columns,
)
from experiments.gp4c.data import TraceSource

SOURCE = TraceSource("world", pages=2_000, cycles=20)
AGE, T = CrawlEntry("age", "age"), CrawlEntry("t", "t", is_formula=True)
LESS = CrawlEntry("t", "t", is_formula=True, budget=0.01)


@pytest.fixture(scope="module")
def curves() -> dict[tuple[str, float], FoldCurve]:
    return dict(crawls_from_columns(crawl_all(entry_columns(SOURCE, 0, [AGE, T, LESS]))).curves)


def test_a_rule_and_its_formula_find_the_same(curves: dict[tuple[str, float], FoldCurve]) -> None:
    rule, formula = curves["age", 0.05], curves["t", 0.05]
    assert np.array_equal(rule.changerate, formula.changerate)
    assert np.array_equal(rule.freshness, formula.freshness)
    assert np.nanmean(rule.ndcg) == pytest.approx(np.nanmean(formula.ndcg), abs=0.03)


def test_every_cycle_after_the_warm_up_is_measured(
    curves: dict[tuple[str, float], FoldCurve],
) -> None:
    assert {len(curve.changerate) for curve in curves.values()} == {18}


def test_with_fewer_visits_copies_are_less_fresh(
    curves: dict[tuple[str, float], FoldCurve],
) -> None:
    assert curves["t", 0.01].freshness.mean() < curves["t", 0.05].freshness.mean()
