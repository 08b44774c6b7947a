"""The words of the command line: help, wrong usage, faults, and how things are written."""

import io
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.cli import output
from freshet.cli.app import COMMANDS, load_command
from freshet.cli.commands.pages import list as list_command
from freshet.cli.terminal import safe_text
from tests.cli.cli_runs import Run


class Terminal(io.StringIO):
    """Somebody who answers."""

    def isatty(self) -> bool:
        return True


def leaves() -> Iterator[tuple[str, Any]]:
    """Yield every command with its full name, the kinds of import and export one by one."""
    for name in COMMANDS:
        command = load_command(name)
        yield name, command
        yield from (
            (f"{name} {kind}", text) for kind, text in getattr(command, "commands", {}).items()
        )


LEAVES = dict(leaves())


@pytest.mark.parametrize("name", LEAVES)
def test_everything_that_can_be_said_is_explained(name: str) -> None:
    command = LEAVES[name]
    assert command.help
    for parameter in command.params:
        assert getattr(parameter, "help", ""), f"{name}: {parameter.name} has no help"


@pytest.mark.parametrize("name", [name for name in LEAVES if name not in ("import", "export")])
def test_every_command_can_answer_in_json(name: str) -> None:
    assert any("--json" in parameter.opts for parameter in LEAVES[name].params)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("import", "export")])
def test_a_command_says_of_itself_what_the_list_says(name: str) -> None:
    assert LEAVES[name].callback.__doc__ == COMMANDS[name]


def test_help_fits_into_eighty_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in LEAVES:
        lines = run(*name.split(), "-h").out.splitlines()
        assert max(map(len, lines)) <= 80
    assert "..." not in run("--help").out.partition("Commands:")[2]


def test_without_a_command_there_is_help(run: Run) -> None:
    result = run()
    assert result.code == 0
    assert result.out.startswith("Usage: freshet")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nosuch"], "No such command 'nosuch'"),
        (["list", "--nosuch"], "No such option: --nosuch"),
        (["history"], "Missing argument 'URL'"),
        (["list", "--limit", "-1"], "Invalid value for '--limit'"),
        (["status", "--days", "\x1b[31m"], "Invalid value for '--days'"),
    ],
)
def test_wrong_usage_is_one_line(run: Run, words: list[str], message: str) -> None:
    result = run(*words)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1
    assert "--help" in result.err
    assert "\x1b" not in result.err


def test_an_error_is_no_json_but_a_line_and_a_code(run: Run, empty: Path) -> None:
    result = run("show", "https://nowhere.example/", "--json")
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("freshet: ")


def test_an_internal_error_is_one_line_without_the_debug_option(
    run: Run, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*words: Any, **options: Any) -> None:
        raise RuntimeError("never seen before")

    monkeypatch.setattr(list_command.CollectionStore, "open", fail)
    result = run("list")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "never seen before" in result.err
    monkeypatch.setenv("FRESHET_DEBUG", "1")
    assert "Traceback" in run("list").err


def test_a_system_error_says_which_file_and_what_to_do(
    run: Run, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*words: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device", "catalog.db")

    monkeypatch.setattr(list_command.CollectionStore, "open", fail)
    result = run("list")
    assert result.code == 5
    assert result.err.startswith("freshet: catalog.db: No space left on device; ")


def test_a_file_name_that_is_not_utf_8_can_be_named(run: Run, empty: Path) -> None:
    result = run("import", "csv", "\udcff.csv")
    assert result.code == 4
    assert result.err.startswith("freshet: ?.csv")


@given(st.text())
def test_safe_text_is_one_line_that_steers_nothing(text: str) -> None:
    printable = safe_text(text)
    assert len(printable) == len(text)
    assert all(char.isprintable() or char in "\u200c\u200d" for char in printable)


@given(st.text(st.characters(categories=["L", "N", "P"])))
def test_safe_text_is_left_as_it_is(text: str) -> None:
    assert safe_text(text) == text


def test_piped_tables_are_one_line_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    long = "https://a.example/" + "x" * 300
    output.print_table(("page", "empty", "n"), [(long, None, 1), ("b", None, 20)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["page", "n"]
    assert lines[1] == f"{long}   1"
    assert lines[2].split() == ["b", "20"]


def test_tables_on_a_narrow_terminal_break_only_long_cells(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = output.Console(highlight=False, width=80, force_terminal=True, color_system=None)
    monkeypatch.setattr(output, "console", narrow)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    output.print_table(("page", "time", "n"), [("https://a.example/" + "x" * 100, moment, 1234)])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("2026-01-01 00:00:00 UTC  1,234" in line for line in lines)


@pytest.mark.parametrize("columns", ["0", "1"])
def test_a_width_too_small_for_any_text_is_ignored(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    terminal = output.new_console(force_terminal=True, color_system=None)
    monkeypatch.setattr(output, "console", terminal)
    output.print_text("two pages")
    output.print_table(("page", "n"), [("https://a.example/", 12)])
    assert "two pages\npage                 n\nhttps://a.example/  12" in capsys.readouterr().out


def test_json_holds_no_number_that_json_has_not() -> None:
    assert output.to_json_value({"a": float("inf"), "b": {1}}) == {"a": None, "b": [1]}


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress_bar("work", quiet=False) as advance:
        advance(1, 2)
    assert capsys.readouterr() == ("", "")
    assert not sys.stderr.isatty()


def test_an_interrupted_command_says_so(
    run: Run, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*words: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(list_command.CollectionStore, "open", stop)
    result = run("list")
    assert (result.code, result.out) == (130, "")
    assert result.err.startswith("freshet: interrupted; ")


def test_a_terminal_is_prompted_for_the_contact(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("you@example.org\n"))
    result = run("init", str(tmp_path / "c"), "--json")
    assert result.json["contact"] == "you@example.org"
    assert "Contact" in result.err


def test_a_no_at_the_terminal_changes_nothing(
    run: Run, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    result = run("remove", "--source", "", "--purge")
    assert (result.code, result.out.strip()) == (1, "")
    assert "Delete 6 pages with all versions permanently?" in result.err
    assert len(run("list", "--json").json) == 6
