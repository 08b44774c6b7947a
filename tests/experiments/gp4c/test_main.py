"""The command states its searches and traces, and prints one JSON document on request."""

import json
from pathlib import Path

import pytest
from experiments.gp4c import __main__ as command
from experiments.gp4c.data import TraceSource
from experiments.gp4c.expected_figures import EXPECTED

SMALL = ("--pages=800", "--population=6", "--generations=2", "--seeds=1", "--folds=2")


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr("sys.argv", ["gp4c", *SMALL, "--processes=1", *words])
    command.main()


def test_the_last_thing_printed_is_one_document(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run(monkeypatch, "--json", "--work", str(tmp_path / "work"), "--pictures", str(tmp_path))
    output = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert output["name"] == "gp4c"
    assert "generated world only" in output["data"]
    assert "2 generations of 6 formulas" in output["data"]
    tables = {row["table"] for row in output["rows"]}
    assert {"t2", "t3", "fig3", "fig4", "fig5", "formulas", "names"} <= tables
    assert len(list(tmp_path.glob("fig?-world-*.svg"))) == 6
    assert len(list((tmp_path / "work").iterdir())) == 2 * 6


def test_searches_of_another_machine_are_tested_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ("--device=arrays", "--trace=world", "--work", str(tmp_path))
    run(monkeypatch, *options, "--only-searches")
    assert "the searches are in" in capsys.readouterr().out
    stored = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(stored) == 2 * 6
    run(monkeypatch, *options, "--json")
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == stored


def test_without_data_the_tables_say_so_and_nothing_is_stored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = EXPECTED.read_text("utf-8")
    run(monkeypatch)
    output = capsys.readouterr()
    assert output.out.startswith("gp4c: the generated world only")
    assert "| `gp-all` | .726 ± .006 |" in output.out
    assert "| ChangeRate | paper | world |\n" in output.out
    assert "1 seed, 2 folds" in output.out
    assert "world: search 12 of 12" in output.err
    assert EXPECTED.read_text("utf-8") == before


def test_the_paper_searches_more() -> None:
    options = command.make_parser().parse_args(["--full", "--seeds", "2"])
    size = command.size_of(TraceSource("world"), options)
    assert (size.population, size.generations, size.seeds) == (300, 50, 2)


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("--trace=foo",), "invalid choice: 'foo'"),
        (("--only-searches",), "--only-searches needs --work FOLDER"),
        (("--trace=mixed",), "--trace mixed needs --data DIR"),
        (("--folds=6",), "'6' is not a whole number from 1 to 5"),
        (("--folds=0",), "'0' is not a whole number from 1 to 5"),
        (("--population=1",), "'1' is not a whole number of at least 2"),
        (("--generations=-3",), "'-3' is not a whole number"),
        (("--pages=many",), "'many' is not a whole number of at least 100"),
        (("--keep",), "--keep keeps no figures of less than the usual search"),
    ],
)
def test_invalid_options_give_a_one_line_error(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    output: str,
) -> None:
    before = EXPECTED.read_text("utf-8")
    with pytest.raises(SystemExit) as stopped:
        run(monkeypatch, *words)
    assert stopped.value.code == 2
    assert output in capsys.readouterr().err.splitlines()[-1]
    assert EXPECTED.read_text("utf-8") == before


def test_a_folder_without_pages_gives_a_one_line_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(monkeypatch, "--data", str(tmp_path))
    assert stopped.value.code == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"gp4c: {tmp_path} has no pages/observations.parquet; give the folder in which pages/ lies"
    )


@pytest.mark.parametrize(
    ("words", "small"),
    [
        ((), set()),
        (("--full",), set()),
        (("--pages=5000",), {"world"}),
        (("--seed=2",), {"world"}),
        (("--seeds=1",), {"snap"}),
        (("--folds=4",), {"world", "snap"}),
        (("--full", "--generations=10"), {"world", "snap"}),
    ],
)
def test_less_than_the_default_search_or_another_world_is_small(
    words: tuple[str, ...], small: set[str]
) -> None:
    options = command.make_parser().parse_args(list(words))
    world = TraceSource("world", pages=options.pages, seed=options.seed)
    small_names = {
        source.name for source in (world, TraceSource("snap")) if command.is_small(source, options)
    }
    assert small_names == small
