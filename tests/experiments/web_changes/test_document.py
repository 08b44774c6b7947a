"""The tables of the document equal the stored figures."""

from dataclasses import replace
from pathlib import Path

import pytest
from experiments.web_changes.document import TABLES, expected_rows, fill_tables

DOCUMENT = Path(__file__).parents[3] / "docs/results/web_changes.md"


@pytest.fixture(scope="module")
def text() -> str:
    return DOCUMENT.read_text("utf-8")


def test_the_tables_of_the_document_equal_the_stored_figures(text: str) -> None:
    assert fill_tables(text, expected_rows()) == text


def test_every_table_stands_in_the_document(text: str) -> None:
    assert all(f"<!-- table: {name} -->" in text for name in TABLES)


def test_other_figures_give_another_table_and_leave_the_words(text: str) -> None:
    rows = [
        replace(row, world=0.5) if (row.table, row.metric) == ("t1_all", "never_changed") else row
        for row in expected_rows()
    ]
    before, after = text.splitlines(), fill_tables(text, rows).splitlines()
    different = [line for line, other in zip(after, before, strict=True) if line != other]
    assert len(different) == 1
    assert different[0].startswith("| never changed | 34.0 % | 50.0 % |")


def test_a_document_without_tables_stays_as_it_is() -> None:
    assert fill_tables("words", expected_rows()) == "words"
