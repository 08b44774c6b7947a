"""The document's tables are those of the stored figures."""

import json
from pathlib import Path

from experiments.content_change.charts import charts, draw_charts
from experiments.content_change.crawl import CrawlPoint, CrawlRow
from experiments.content_change.document import TABLES, fill_tables
from experiments.content_change.evaluation import ComparisonRow, ForecastRow
from experiments.content_change.expected_figures import (
    SourceRecord,
    StoredFigures,
    read_figures,
    save_figures,
    with_result,
)
from experiments.content_change.page_breakdown import PageGainRow, PageGroupRow
from experiments.content_change.result_tables import ExperimentResult, as_json, as_text
from experiments.content_change.sweeps import SweepRow
from experiments.document_tables import NO_VALUE

DOCUMENT = Path(__file__).parents[3] / "docs" / "results" / "content_change.md"
SOURCE = SourceRecord("pages", 9, 3, 184, 40, "d")
TEST = ComparisonRow("pages", "any_text", 0.3, "pooled", "", "majority", "", 9, 0.0134, 0.02)
SWEEPS = tuple(
    SweepRow("pages", "any_text", 0.3, sweep, value, "hedge", "xcorr", 9, 900, 0.71, 0.7)
    for sweep in ("training_size", "experts")
    for value in (30, 50)
)
CRAWL = CrawlRow("pages", "pooled", 9, 183, 0.1, 3, 0.85, 0.002, 0.86, 0.3)
POINT = CrawlPoint("pages", "pooled", 20, 0.9)
GROUP = PageGroupRow(
    "pages", "any_text", "hedge", "xcorr", "all", 9, 3, 0.01, 0.2, -0.01, 0.3, -0.05
)  # fmt: skip
GAIN = PageGainRow("pages", "any_text", "hedge", "xcorr", 1, "a.example", 12, 0.5, 0.02, 0.03)


def row(method: str, accuracy: float) -> ForecastRow:
    return ForecastRow(
        "pages", method, "any_text", 0.3, "", 9, 1000, accuracy, 0.6, 0.71234, 0.5
    )  # fmt: skip


def result(accuracy: float = 0.7) -> ExperimentResult:
    rows = (row("pooled", accuracy),)
    return ExperimentResult(rows, (TEST,), SWEEPS, (CRAWL,), (POINT,), (GROUP,), (GAIN,))


def test_the_document_has_the_stored_figures() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert fill_tables(text, read_figures()) == text


def test_every_table_can_be_written() -> None:
    figures = StoredFigures((SOURCE,), result())
    for name in TABLES:
        text = f"<!-- table: {name} -->\nold\n<!-- end of table -->"
        assert "old" not in fill_tables(text, figures)
    table = fill_tables("<!-- table: any_text -->\n<!-- end of table -->", figures)
    assert f"| 30 % | pooled | {NO_VALUE} | 9 | 70.0 % | 60.0 % | .712 | .500 |" in table
    table = fill_tables("<!-- table: training-sizes -->\n<!-- end of table -->", figures)
    assert "| hedge | xcorr | 71.0 % | 71.0 % |" in table


def test_a_new_result_replaces_the_same_rows_only(tmp_path: Path) -> None:
    older = ExperimentResult((row("pooled", 0.7), row("coin", 0.5)), (TEST,))
    merged = with_result(StoredFigures((SOURCE,), older), SOURCE, result(0.8))
    rows = [(r.method, r.accuracy) for r in merged.result.rows]
    assert rows == [("coin", 0.5), ("pooled", 0.8)]
    assert (len(merged.sources), len(merged.result.comparisons)) == (1, 1)
    save_figures(merged, tmp_path / "expected.json")
    assert read_figures(tmp_path / "expected.json") == merged


def test_all_rows_are_printed_and_those_of_other_tables_say_which() -> None:
    rows = json.loads(as_json("pages", result()))["rows"]
    assert [r.get("table") for r in rows[:2]] == [None, "comparisons"]
    assert len(rows) == len(as_text(result()).splitlines()) + 1
    assert {r["method"] for r in rows} == {"pooled", "hedge"}


def test_figures_6_to_8_are_drawn(tmp_path: Path) -> None:
    assert [name for name, _ in charts(result())] == ["fig6-pages", "fig7-pages", "fig8-pages"]
    files = draw_charts(tmp_path / "charts", ExperimentResult(crawl_points=(POINT,)))
    assert [path.name for path in files] == ["fig8-pages.svg"]
    assert files[0].read_text("utf-8").startswith("<svg")
