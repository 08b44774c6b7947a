"""The document's tables are those of the stored figures."""

from pathlib import Path

import pytest
from experiments.document_tables import NO_VALUE
from experiments.outlinks.charts import charts, draw_charts
from experiments.outlinks.crawls import CrawlRow
from experiments.outlinks.document import TABLES, fill_tables
from experiments.outlinks.evaluation import OutlinkRow
from experiments.outlinks.expected_figures import (
    SourceRecord,
    StoredFigures,
    read_figures,
    save_figures,
    with_result,
)
from experiments.outlinks.required_figures import bound_lines
from experiments.outlinks.result_tables import ExperimentResult, as_text
from experiments.outlinks.summaries import FigurePoint, WeekRow

DOCUMENT = Path(__file__).parents[3] / "docs" / "results" / "outlinks.md"
SOURCE = SourceRecord("pages", 9, 3, 27, "d")
FLOW = (FigurePoint("pages", "3", "internal", "0", "0", 0.9),)
CURVE = tuple(
    FigurePoint("pages", "5", "internal", "pages", str(count), 1 / count) for count in (1, 10)
)


def row(model: str, f1: float, split: str = "page") -> OutlinkRow:
    return OutlinkRow(
        "pages", model, "", "nl", "internal", split, f1, 0.7, 0.8, 0.4, 0.3, None, None, 0.6, 0.7,
        1.5, 9,
    )  # fmt: skip


def crawl(policy: str, per_fetch: float) -> CrawlRow:
    return CrawlRow("pages", "all", policy, 0.05, 9, per_fetch, 0.5)


def figures() -> StoredFigures:
    policies = {"bayes-links": 2.5, "nnl-pr": 2.0, "nnl-av": 1.0, "lcr": 1.0, "ccr": 1.0}
    result = ExperimentResult(
        (row("default", 0.6), row("default", 0.3, "host_time"), row("NNL-Av", 0.4, "host_time")),
        (WeekRow("pages", "internal", 18, 9, 1.25, 4.0, 0.9, 0.1),),
        (*FLOW, *CURVE),
        tuple(crawl(policy, found) for policy, found in policies.items()),
    )
    return StoredFigures((SOURCE,), result)


def test_the_tables_of_the_document_are_those_of_the_stored_figures() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert fill_tables(text, read_figures()) == text


def test_a_bar_is_met_or_not() -> None:
    lines = {line[0]: line[1:] for line in bound_lines(figures())}
    assert lines["page split, NL F1, internal"] == ("0.560", "0.600", "yes")
    unseen = "unseen hosts, next week, f1, internal: above the rules"
    assert lines[unseen] == ("0.400", "0.300", "no")
    assert lines["page split, NL F1, external"] == (NO_VALUE,) * 3
    crawls = "simulate at 5 %, pages, all links: links per fetch above the rankings"
    assert lines[crawls] == ("2.000", "2.500", "yes")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_lines_of_one_length(name: str) -> None:
    assert len({len(line) for line in TABLES[name](figures())}) == 1


def test_figures_are_stored_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "expected.json"
    assert read_figures(path) == StoredFigures()
    save_figures(figures(), path)
    assert read_figures(path) == figures()
    newer = ExperimentResult(rows=(row("default", 0.7),))
    merged = with_result(figures(), SOURCE, newer).result
    assert [one.f1 for one in merged.rows] == [0.3, 0.4, 0.7]
    assert "f1=0.7" in as_text(newer)


def test_charts_are_drawn_for_each_source_and_kind(tmp_path: Path) -> None:
    result = figures().result
    assert [name for name, _ in charts(result)] == ["fig3-pages-internal", "fig5-pages-internal"]
    files = draw_charts(tmp_path, ExperimentResult(points=CURVE))
    assert files[0].read_text("utf-8").startswith("<svg")
