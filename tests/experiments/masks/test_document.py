"""The tables of the document on noise equal the stored counts."""

from pathlib import Path

from experiments.masks.document import TABLES, demo_text, expected_counts, fill_tables

DOCUMENT = Path(__file__).parents[3] / "docs/results/masks.md"


def test_the_tables_of_the_document_equal_the_stored_counts() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert fill_tables(text, expected_counts()) == text
    assert all(f"<!-- table: {name} -->" in text for name in TABLES)


def test_the_counts_of_the_demo_are_the_stored_ones() -> None:
    assert f'"{demo_text()}"' in " ".join(DOCUMENT.read_text("utf-8").split())


def test_the_stored_counts_keep_the_limits() -> None:
    totals = [row for row in expected_counts() if row["kind"] == "all"]
    assert len(totals) == 4
    assert all(row["recognised"] >= 0.95 * row["noise_only"] for row in totals)
    assert all(row["hidden"] <= 0.01 * row["real"] for row in totals)
