"""Commands that are interrupted, or whose reader goes away."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from freshet.cli.app import COMMANDS
from freshet.record.collection_store import CollectionStore
from tests.cli.cli_runs import Run

HEAVY = {
    "alembic", "altair", "fastwarc", "numba", "numpy", "polars", "resiliparse", "scipy", "scrapy",
    "sqlalchemy", "twisted", "vl_convert",
}  # fmt: skip
# Runs the command line; its reader sends signals to its own process when it has read some rows.
DRIVER = """
import os, sys
from freshet.cli.app import main
from freshet.collection import imports

imports.BATCH_VISITS = 20
kind, signals = sys.argv.pop(1), [int(number) for number in sys.argv.pop(1).split(",")]
read = imports.IMPORT_READERS[kind]

class Signalling:
    def __init__(self, reader):
        self.reader = reader

    def __getattr__(self, name):
        return getattr(self.reader, name)

    def __iter__(self):
        for number, item in enumerate(self.reader):
            if number == 50:
                for each in signals:
                    os.kill(os.getpid(), each)
            yield item

imports.IMPORT_READERS = {kind: lambda *words, **options: Signalling(read(*words, **options))}
main()
"""


def interrupted(kind: str, path: Path, *signals: int) -> subprocess.CompletedProcess[str]:
    """Import in a process of its own that gets signals in the midst of it."""
    numbers = ",".join(str(int(number)) for number in signals)
    words = [sys.executable, "-c", DRIVER, kind, numbers, "import", kind, str(path)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_import_keeps_whole_batches_and_goes_on_later(
    run: Run, empty: Path, small_warc: Path, number: int
) -> None:
    result = interrupted("warc", small_warc, number)
    assert result.returncode == 130
    assert result.stderr.endswith("run the same command again to continue\n")
    assert run("check").code == 0
    assert run("status", "--json").json["counts"]["visits"] == 60
    again = run("import", "warc", str(small_warc), "--json").json
    assert (again["visits"], again["already_there"]) == (108, 60)
    assert run("check", "--json").json["rows"] == 168


def test_a_second_signal_stops_at_once_and_nothing_acknowledged_is_lost(
    run: Run, empty: Path, small_warc: Path
) -> None:
    result = interrupted("warc", small_warc, signal.SIGINT, signal.SIGINT)
    assert result.returncode == 130
    assert "Traceback" not in result.stderr
    assert run("status", "--json").json["counts"]["visits"] == 40
    run("import", "warc", str(small_warc))
    assert run("check", "--json").json["rows"] == 168
    assert run("status", "--json").json["counts"]["visits"] == 168


def test_an_interrupted_import_of_observations_goes_on_later(run: Run, empty: Path) -> None:
    rows = (f"https://a.example/{number},2026-01-01,0" for number in range(100))
    Path("seen.csv").write_text("\n".join(["page,time,changed", *rows]) + "\n", "utf-8")
    assert interrupted("csv", Path("seen.csv"), signal.SIGTERM).returncode == 130
    assert "interrupted: run it again" in run("status").out
    assert run("import", "csv", "seen.csv", "--json").json["visits"] == 40
    assert len(run("list", "--json").json) == 100


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["show", "--dom", "{news}"]])
def test_a_reader_that_goes_away_is_no_error_to_talk_about(
    collection: Path, words: list[str]
) -> None:
    command = [word.format(news="https://news.example/") for word in words]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        result = subprocess.run(
            [sys.executable, "-m", "freshet", *command],
            stdout=gone, stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    assert (result.returncode, result.stderr) == (1, b"")


def loading(*words: str) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """Run a command in a process of its own; return it, and which heavy packages it has loaded."""
    code = (
        f"import sys, atexit; sys.argv = ['freshet', *{words!r}];"
        "atexit.register(lambda: print('MODULES', *sys.modules));"
        "from freshet.__main__ import main; main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    loaded = {name.partition(".")[0] for name in result.stdout.rpartition("MODULES")[2].split()}
    assert "freshet" in loaded
    return result, loaded & HEAVY


def test_help_loads_nothing_heavy() -> None:
    result, loaded = loading("--help")
    assert (result.returncode, loaded) == (0, set())
    assert all(f"  {name}" in result.stdout for name in COMMANDS)


@pytest.mark.parametrize(
    "words", [("run",), ("watch", "https://new.example/"), ("import", "csv", "x.csv")]
)
def test_a_second_writer_is_refused_before_anything_heavy_is_loaded(
    collection: Path, words: tuple[str, ...]
) -> None:
    with CollectionStore.open(collection) as opened, opened.appending():
        result, loaded = loading(*words, "--collection", str(collection))
    assert (result.returncode, loaded) == (6, set())
    assert f"(process {os.getpid()}, since" in result.stderr


def test_python_m_freshet_is_the_command() -> None:
    words = [sys.executable, "-m", "freshet", "--version"]
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.startswith("freshet ")
