"""Formulas with ``chance``, with and without planting it."""

import json

import pytest
from experiments.gp4c import __main__ as command
from experiments.gp4c import planting
from experiments.gp4c.data import TraceSource, open_source
from experiments.gp4c.planting import PlantingRow, planting_rows, table_lines

from freshet.learning.evolve.genetic_search import GPConfig


def test_the_same_searches_run_with_and_without_planting() -> None:
    trace = open_source(TraceSource("world", pages=300))
    rows = list(planting_rows(trace, GPConfig(20, 1, 4), folds=1, seeds=1))
    assert [(row.planted, row.searches) for row in rows] == [(True, 1), (False, 1)]
    assert all(0 < row.validation < 1 and row.with_chance in (0, 1) for row in rows)
    heading, *lines = table_lines(rows)
    assert [len(line) for line in lines] == [len(heading)] * 2


def test_a_part_prints_one_json_document(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(planting, "run_rows", lambda data: [PlantingRow(True, 4, 3, 0.5)])
    monkeypatch.setattr("sys.argv", ["gp4c", "--part", "planting", "--json"])
    command.main()
    document = json.loads(capsys.readouterr().out)
    assert document["name"] == "planting"
    assert document["rows"] == [
        {"planted": True, "searches": 4, "with_chance": 3, "validation": 0.5}
    ]
