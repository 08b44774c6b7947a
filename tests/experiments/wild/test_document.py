"""The document's tables are those of the stored figures."""

from pathlib import Path

from experiments.wild.document import TABLES, fill_tables
from experiments.wild.evaluation import WildRow
from experiments.wild.expected_figures import (
    StoredFigures,
    TraceRecord,
    read_figures,
    save_figures,
    with_crawls,
)

DOCUMENT = Path(__file__).parents[3] / "docs" / "results" / "wild.md"
TRACE = TraceRecord("raw", "2026-04-01", 91, 1180, 8858, "d")
ROW = WildRow("raw", "cold", 0.05, "age", 0.41, 0.608)


def test_the_document_has_the_stored_figures() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert fill_tables(text, read_figures()) == text


def test_a_table_has_a_column_for_each_budget() -> None:
    figures = StoredFigures((TRACE,), (ROW, WildRow("raw", "cold", 0.1, "age", 0.3, 0.7)))
    assert list(TABLES["raw-cold"](figures)) == [
        ("policy", "5 %", "10 %"),
        ("`age`", ".410 / .608", ".300 / .700"),
    ]


def test_new_figures_replace_those_of_the_same_trace(tmp_path: Path) -> None:
    other = WildRow("raw-may", "warm", 0.05, "age", 0.5, 0.5)
    stored = StoredFigures((TRACE,), (ROW, other))
    new_row = WildRow("raw", "warm", 0.05, "nutch", 0.6, 0.6)
    figures = with_crawls(stored, [TRACE], [new_row])
    assert figures.rows == (other, new_row)
    save_figures(figures, tmp_path / "figures.json")
    assert read_figures(tmp_path / "figures.json") == figures
