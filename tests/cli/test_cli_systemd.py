"""The unit that `freshet systemd` prints runs the crawl of that collection."""

import shlex
from configparser import ConfigParser
from pathlib import Path

import pytest

from tests.cli.cli_runs import Run


def parsed(unit: str) -> ConfigParser:
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(unit)
    return parser


@pytest.mark.parametrize("name", ["news", "my news", '50% "off"'])
def test_the_unit_runs_the_crawl_of_the_collection(name: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / name
    run("init", str(path), "--contact", "a@example.org")
    message = run("systemd", "-C", str(path), "--user", "freshet", "--metrics-port", "9188")
    assert message.code == 0
    service = parsed(message.out)["Service"]
    words = [word.replace("%%", "%") for word in shlex.split(service["ExecStart"])]
    assert Path(words[0]).name == "freshet"
    assert words[1:4] == ["run", "--collection", str(path)]
    assert words[-2:] == ["--metrics-port", "9188"]
    assert shlex.split(service["ReadWritePaths"].replace("%%", "%")) == [str(path)]
    assert service["User"] == "freshet"


def test_a_folder_that_is_no_collection_has_no_unit(run: Run, tmp_path: Path) -> None:
    assert run("systemd", "-C", str(tmp_path)).code == 3


def test_a_user_that_would_forge_a_line_is_refused(run: Run, empty: Path) -> None:
    assert run("systemd", "--user", "a\nExecStart=b").code == 2
