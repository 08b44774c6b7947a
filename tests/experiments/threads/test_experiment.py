import json
from pathlib import Path

import pytest
from experiments.threads.__main__ import main
from experiments.threads.document import TABLES, fill_tables
from experiments.threads.expected_figures import read_figures

DOCUMENT = Path(__file__).parents[3] / "docs" / "results" / "threads.md"
KEYS = {
    "policy", "kind", "mode", "visits_per_post", "t_score", "silent_visits", "mape", "pr_error",
    "threads",
}  # fmt: skip


def test_generated_threads_give_rows_of_every_mode_and_ratio(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    stored = tmp_path / "figures.json"
    main(["--threads", "8", "--part", "closed", "--json", "--keep", "--figures", str(stored)])
    document = json.loads(capsys.readouterr().out)
    rows = [row for row in document["rows"] if "table" not in row]
    assert (document["name"], document["data"]) == ("threads", "generated")
    assert {frozenset(row) for row in rows} == {frozenset(KEYS)}
    assert {(row["mode"], row["visits_per_post"]) for row in rows} == {
        (mode, visits) for mode in ("fleet", "thread") for visits in (1.0, 2.0, 5.0, 16.0)
    }
    assert len(read_figures(stored).rows) == len(rows)


def test_the_tables_of_the_document_are_the_stored_figures() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert fill_tables(text, read_figures()) == text


@pytest.mark.parametrize("name", TABLES)
def test_the_document_has_every_table_with_rows(name: str) -> None:
    text = DOCUMENT.read_text("utf-8")
    _, _, after = text.partition(f"<!-- table: {name} -->\n")
    table, end, _ = after.partition("<!-- end of table -->")
    assert end
    head, rule, *rows = table.splitlines()
    assert rule == "|---" * (head.count("|") - 1) + "|"
    assert rows
