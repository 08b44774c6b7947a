"""The tables of the document equal the stored figures."""

from dataclasses import replace
from pathlib import Path

import pytest
from experiments.gp4c import expected_figures
from experiments.gp4c.document import NO_VALUE, TABLES, fill_tables, markdown
from experiments.gp4c.evaluation import MeanRow
from experiments.gp4c.expected_figures import ExpectedFigures, TraceRecord

DOCUMENT = Path(__file__).parents[3] / "docs/results/gp4c.md"


@pytest.fixture(scope="module")
def text() -> str:
    return DOCUMENT.read_text("utf-8")


def test_the_tables_of_the_document_equal_the_stored_figures(text: str) -> None:
    assert fill_tables(text, expected_figures.read_figures()) == text


def test_every_table_stands_in_the_document(text: str) -> None:
    assert all(f"<!-- table: {name} -->" in text for name in TABLES)


def test_other_figures_give_another_table_and_leave_the_words(text: str) -> None:
    stored = expected_figures.read_figures()
    rows = [
        replace(row, ours=0.987, margin=None)
        if isinstance(row, MeanRow)
        and (row.trace, row.method, row.metric) == ("world", "cg", "ndcg")
        else row
        for row in stored.rows
    ]
    after = fill_tables(text, ExpectedFigures(stored.traces, rows)).splitlines()
    different = [line for line, old in zip(after, text.splitlines(), strict=True) if line != old]
    assert len(different) == 1
    assert different[0].startswith("| `cg` | .689 ± .004 | .987 |")


def test_stored_figures_are_written_as_they_were_read() -> None:
    stored = expected_figures.read_figures()
    assert expected_figures.to_json(
        stored.traces, stored.rows
    ) == expected_figures.EXPECTED.read_text("utf-8")


def test_the_document_says_how_much_each_kind_of_search_was() -> None:
    traced = TraceRecord("snap", 412, "0123", "two seeds", "one seed")
    assert markdown("traces", ExpectedFigures([traced, replace(traced, extended="")], []))[2:] == [
        "| snap | 412 | two seeds | one seed | `0123` |",
        f"| snap | 412 | two seeds | {NO_VALUE} | `0123` |",
    ]


def test_only_traces_that_were_crawled_have_a_column() -> None:
    rows = [row for row in expected_figures.read_figures().rows if row.trace == "snap"]
    assert markdown("ndcg", ExpectedFigures([], list(rows)))[0] == "| NDCG | paper | snap |"


def test_every_chart_of_the_document_exists(text: str) -> None:
    shown = [word.split(")")[0] for word in text.split("](gp4c/")[1:]]
    assert shown
    assert all((DOCUMENT.parent / "gp4c" / name).is_file() for name in shown)
