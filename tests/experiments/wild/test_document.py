"""The document's tables are those of the stored figures."""

from pathlib import Path

from experiments.wild.document import TABLES, fill_tables
from experiments.wild.evaluation import DifferenceRow, WildRow
from experiments.wild.expected_figures import (
    StoredFigures,
    TraceRecord,
    read_figures,
    save_figures,
    with_crawls,
)

DOCUMENT = Path(__file__).parents[3] / "docs" / "results" / "wild.md"
TRACE = TraceRecord("raw", "2026-04-01", 91, 1180, 8858, 6, 3000, "sites", "d")
DIFFERENCE = DifferenceRow(
    "raw", "warm", 0.05, "bayes-freshness", "age", 0.1, 0.05, 0.15, 0.0213, -0.009, 0.05
)


def row(trace: str, budget: float, changerate: float, freshness: float) -> WildRow:
    return WildRow(
        trace, "cold", budget, "age", changerate, 0.0, 1.0, freshness, 0.0, 1.0
    )  # fmt: skip


def test_the_document_has_the_stored_figures() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert fill_tables(text, read_figures()) == text


def test_a_table_has_a_column_for_each_budget() -> None:
    figures = StoredFigures((TRACE,), (row("raw", 0.05, 0.41, 0.608), row("raw", 0.1, 0.3, 0.7)))
    assert list(TABLES["raw-cold"](figures)) == [
        ("policy", "5 %", "10 %"),
        ("`age`", ".410 / .608", ".300 / .700"),
    ]


def test_a_difference_is_that_of_the_policys_own_objective_with_its_interval() -> None:
    figures = StoredFigures(differences=(DIFFERENCE,))
    assert list(TABLES["raw-warm-differences"](figures)) == [
        ("above", "5 %"),
        (
            "freshness, `bayes-freshness` above `age`",
            "+.021 (\N{MINUS SIGN}.009 to +.050)",
        ),
    ]


def test_settings_below_the_best_rule_are_counted_and_listed() -> None:
    rows = [
        WildRow("raw", "cold", 0.05, policy, changerate, 0.0, 1.0, freshness, 0.0, 1.0)
        for policy, changerate, freshness in (
            ("age", 0.3, 0.70), ("nutch", 0.5, 0.60), ("known-rate", 0.9, 0.90),
            ("bayes-changes", 0.48, 0.9), ("bayes-freshness", 0.9, 0.72),
            ("bayes-changes without waiting", 0.9, 0.9),
        )
    ]  # fmt: skip
    figures = StoredFigures(rows=tuple(rows))
    minus = "\N{MINUS SIGN}"
    assert list(TABLES["margins"](figures))[1:3] == [
        ("`bayes-changes`", "1", "1", "+.030", "0 of 1", "0 of 1"),
        ("`bayes-freshness`", "1", "0", "+.010", "1 of 1", "1 of 1"),
    ]
    assert list(TABLES["below-the-best-rule"](figures))[1:] == [
        ("`raw`, cold", "5 %", "`bayes-changes`", "ChangeRate", ".480", "`nutch` .500",
         f"{minus}.020"),
    ]  # fmt: skip


def test_new_figures_replace_those_of_the_same_trace(tmp_path: Path) -> None:
    other, new_row = row("raw-may", 0.05, 0.5, 0.5), row("raw", 0.05, 0.6, 0.6)
    stored = StoredFigures((TRACE,), (row("raw", 0.05, 0.4, 0.6), other), (DIFFERENCE,))
    figures = with_crawls(stored, StoredFigures((TRACE,), (new_row,)))
    assert (figures.rows, figures.differences) == ((other, new_row), ())
    save_figures(figures, tmp_path / "figures.json")
    assert read_figures(tmp_path / "figures.json") == figures
