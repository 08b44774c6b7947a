"""The document's tables are those of the stored figures."""

from pathlib import Path

from experiments.content_change.document import NO_VALUE, TABLES, fill_tables
from experiments.content_change.evaluation import ComparisonRow, ForecastRow
from experiments.content_change.expected_figures import (
    SourceRecord,
    StoredFigures,
    read_figures,
    save_figures,
    with_result,
)
from experiments.content_change.experiment import ExperimentResult

DOCUMENT = Path(__file__).parents[3] / "docs" / "results" / "content_change.md"
SOURCE = SourceRecord("pages", 9, 3, 184, 40, "d")
TEST = ComparisonRow("pages", "any_text", 0.3, "pooled", "", "majority", "", 9, 0.0134, 0.02)


def row(method: str, accuracy: float) -> ForecastRow:
    return ForecastRow(
        "pages", method, "any_text", 0.3, "", 9, 1000, accuracy, 0.6, 0.71234, 0.5
    )  # fmt: skip


def test_the_document_has_the_stored_figures() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert fill_tables(text, read_figures()) == text


def test_every_table_can_be_written() -> None:
    figures = StoredFigures((SOURCE,), (row("pooled", 0.7),), (TEST,))
    for name in TABLES:
        text = f"<!-- table: {name} -->\nold\n<!-- end of table -->"
        assert "old" not in fill_tables(text, figures)
    table = fill_tables("<!-- table: any_text -->\n<!-- end of table -->", figures)
    assert f"| 30 % | pooled | {NO_VALUE} | 9 | 70.0 % | 60.0 % | .712 | .500 |" in table


def test_a_new_result_replaces_the_same_rows_only(tmp_path: Path) -> None:
    stored = StoredFigures((SOURCE,), (row("pooled", 0.7), row("coin", 0.5)), (TEST,))
    merged = with_result(stored, SOURCE, ExperimentResult((row("pooled", 0.8),), (TEST,)))
    assert [(r.method, r.accuracy) for r in merged.rows] == [("coin", 0.5), ("pooled", 0.8)]
    assert (len(merged.sources), len(merged.comparisons)) == (1, 1)
    save_figures(merged, tmp_path / "expected.json")
    assert read_figures(tmp_path / "expected.json") == merged
