"""The command line run as a user would, in a collection of its own for every test."""

import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.cli.app import main
from freshet.collection.imports import import_history
from freshet.record.collection_store import CollectionStore
from tests.cli.cli_runs import CommandResult, Run
from tests.cli.small_web import write_warc

collect_ignore = [] if shutil.which("git") else ["test_cli_git.py"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run a command in this process, through the same door as a user."""
    before = signal.getsignal(signal.SIGTERM)

    def freshet(*words: str) -> CommandResult:
        monkeypatch.setattr(sys, "argv", ["freshet", *words])
        with pytest.raises(SystemExit) as result:
            main()
        printed = capsys.readouterr()
        return CommandResult(int(result.value.code or 0), printed.out, printed.err)

    yield freshet
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def small_warc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WARC file with a month of daily visits to six pages."""
    return write_warc(tmp_path_factory.mktemp("web"))[0]


@pytest.fixture(scope="session")
def prepared(small_warc: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection that holds the small web; copied, never changed."""
    path = tmp_path_factory.mktemp("prepared") / "news"
    with CollectionStore.create(path, contact="you@example.org") as collection:
        import_history(collection, "warc", small_warc, source="")
    return path


@pytest.fixture
def collection(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the small web's collection, with the command line standing in it."""
    path = tmp_path / "news"
    shutil.copytree(prepared, path)
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def empty(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new collection without pages, with the command line standing in it."""
    path = tmp_path / "empty"
    run("init", str(path), "--contact", "you@example.org")
    monkeypatch.chdir(path)
    return path
