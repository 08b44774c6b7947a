"""Compiling is announced where it happens, and can be done beforehand."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from freshet.archive.observation import Observation
from freshet.cli.compile_notice import NOTICE
from freshet.collection.collection import Collection
from freshet.core.types import Snapshot
from tests.cli.cli_runs import Run

ROOT = Path(__file__).parents[2]
URL = "https://example.org/notes.txt"


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with one visit to a page of plain text."""
    path = tmp_path_factory.mktemp("noted") / "c"
    snapshot = Snapshot(URL, b"the river rose", 200, (("content-type", "text/plain"),))
    observation = Observation(
        URL, "", datetime(2026, 1, 1, tzinfo=UTC), b"u" * 16, snapshot, status=200
    )
    with Collection.create(path, contact="you@example.org") as collection:
        collection.add(URL)
        with collection.recording() as recorder:
            recorder.record([observation])
    return path


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "freshet", *words]


def cache_in(folder: Path) -> dict[str, str]:
    """Return an environment whose compiled functions are kept in a folder."""
    return {**os.environ, "NUMBA_CACHE_DIR": str(folder)}


def test_a_cold_cache_is_announced_on_stderr_and_a_warm_one_is_not(
    noted: Path, tmp_path: Path
) -> None:
    words = command("show", URL, "--text", "--json", "--collection", str(noted))
    cold, warm = (
        subprocess.run(words, capture_output=True, text=True, env=cache_in(tmp_path), check=True)
        for _ in range(2)
    )
    assert cold.stderr == f"{NOTICE}\n"
    assert warm.stderr == ""
    assert cold.stdout == warm.stdout


@pytest.mark.parametrize("words", [("run", "--quiet", "--json"), ("watch", URL, "--json")])
def test_a_first_crawl_announces_that_it_compiles(
    noted: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    process = subprocess.Popen(
        command(*words, "--collection", str(noted)), env=cache_in(tmp_path), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.kill()
        assert process.stdout is not None
        assert (first, process.stdout.read()) == (f"{NOTICE}\n", "")


def test_what_was_compiled_beforehand_is_not_compiled_again(run: Run) -> None:
    message = run("compile")
    assert re.match(r"Compiled \d+ functions? in|All functions are already compiled", message.out)
    assert run("compile", "--json").json["functions"] == 0


def test_crawls_and_the_demo_need_no_function_that_was_not_compiled_beforehand(
    tmp_path: Path,
) -> None:
    words = [sys.executable, "-m", "tests.cli.compiled_functions", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
