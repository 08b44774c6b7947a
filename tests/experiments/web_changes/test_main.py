"""The command states what it measured, and prints one JSON document on request."""

import json

import pytest
from experiments.web_changes import __main__ as command


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr("sys.argv", ["web_changes", "--pages", "30", "--processes", "1", *words])
    command.main()


def test_the_last_thing_printed_is_one_document(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "--json")
    output = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert output["name"] == "web_changes"
    assert "generated world only" in output["data"]
    tables = {row["table"] for row in output["rows"]}
    assert {"t1_tld", "t1_depth", "t2", "curves", "t4"} <= tables
    assert all(row["real"] is None for row in output["rows"])


def test_without_data_the_table_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch)
    output = capsys.readouterr()
    assert output.out.startswith("web_changes: the generated world only")
    assert "batch 1 of 1" in output.err


def test_figures_are_stored_only_from_a_run_with_data(monkeypatch: pytest.MonkeyPatch) -> None:
    before = command.EXPECTED.read_text("utf-8")
    run(monkeypatch, "--keep")
    assert command.EXPECTED.read_text("utf-8") == before
