"""The tables of the document equal the stored figures, and a section can be measured again."""

from dataclasses import replace
from pathlib import Path

import pytest
from experiments.schedule import __main__ as command
from experiments.schedule import sections
from experiments.schedule.sections import ALL_NAMES, SECTIONS, BacktestSection, run_section
from experiments.schedule.stored_figures import (
    fill_tables,
    read_figures,
    save_figures,
    table_names,
)

from tests.backtest.traces import by_chance, in_groups

DOCUMENT = Path(__file__).parents[3] / "docs/results/schedule.md"


def test_the_tables_of_the_document_equal_the_stored_figures() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert fill_tables(text, read_figures()) == text
    measured = {row.section for row in read_figures()}
    shown = [name for name in table_names() if name.rsplit("-", 1)[0] in measured]
    assert shown
    assert all(f"<!-- table: {name} -->" in text for name in shown)


def test_every_stored_section_has_all_policies() -> None:
    rows = read_figures()
    for section in {row.section for row in rows}:
        policies = [row.policy for row in rows if (row.section, row.budget) == (section, 0.05)]
        assert sorted(policies) == sorted(ALL_NAMES)


def test_new_figures_replace_those_of_their_section(tmp_path: Path) -> None:
    path = tmp_path / "expected.json"
    rows = read_figures()
    save_figures(rows, path)
    changed = [replace(row, changerate=0.123) for row in rows if row.section == "living"]
    save_figures(changed, path)
    assert {row.changerate for row in read_figures(path) if row.section == "living"} == {0.123}
    assert [row for row in read_figures(path) if row.section != "living"] == [
        row for row in rows if row.section != "living"
    ]


def test_a_section_has_figures_of_every_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "ALL_NAMES", ("age", "oracle-change"))
    monkeypatch.setattr(sections, "SEEDS", 1)
    section = BacktestSection("living", lambda: in_groups(by_chance(40, 6, seed=1)))
    rows = list(run_section(section))
    assert [(row.policy, row.budget) for row in rows] == [
        ("age", 0.05), ("oracle-change", 0.05), ("age", 0.1), ("oracle-change", 0.1),
    ]  # fmt: skip
    assert all(row.changerate == row.weighted_changerate for row in rows)


def test_the_stored_figures_are_written_without_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "schedule.md"
    document.write_text("<!-- table: living-5 -->\n<!-- end of table -->\n", "utf-8")
    words = ["schedule", "--only-document", "--document", str(document)]
    monkeypatch.setattr("sys.argv", words)
    command.main()
    assert "| `bayes-changes` | .850 |" in document.read_text("utf-8")


def test_every_section_has_stored_figures() -> None:
    assert {row.section for row in read_figures()} == set(SECTIONS)
