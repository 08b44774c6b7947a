"""The demonstration as a user runs it, in the short form; `make demo` is the long one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FEW_DAYS = ("--days", "3", "--speed", "15000")


def freshet(*words: str, folder: Path) -> subprocess.Popen[str]:
    """Start the command in a process of its own, whose temporary files lie in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "freshet", *words],
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A crawl of a few days of the simulated web, and its figures."""
    folder = tmp_path_factory.mktemp("demo")
    words = ("demo", "--headless", "--assert", "--json", "--keep", str(folder / "kept"))
    with freshet(*words, *FEW_DAYS, folder=folder) as running:
        out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    return folder / "kept" / "collection", json.loads(out)


def test_every_promise_is_kept(kept: tuple[Path, dict[str, Any]]) -> None:
    verdicts = {each["promise"]: each for each in kept[1]["verdicts"]}
    assert len(verdicts) == 11
    assert [each for each in verdicts.values() if not each["kept"]] == []


def test_the_figures_are_those_of_all_who_raced(kept: tuple[Path, dict[str, Any]]) -> None:
    figures = kept[1]
    assert [each["policy"] for each in figures["standings"]] == ["freshet", "age", "nutch"]
    assert all(0 < each["freshness"] < 1 for each in figures["standings"])
    assert all(each["changes_found"] > 20 for each in figures["standings"])
    assert figures["visits"] == sum(figures["outcomes"].values()) > 250
    assert figures["outcomes"]["not-modified"] > 0
    assert (figures["pages"], figures["hosts"]) == (60, 8)


def test_what_is_kept_is_a_collection_like_any_other(kept: tuple[Path, dict[str, Any]]) -> None:
    place, figures = kept
    with freshet("status", "--json", "-C", str(place), folder=place) as running:
        status = json.loads(running.communicate(timeout=60)[0])
    assert status["counts"]["pages"] == 61
    assert status["counts"]["visits"] == figures["visits"]


def test_a_folder_that_is_not_empty_is_left_alone(kept: tuple[Path, dict[str, Any]]) -> None:
    with freshet("demo", "--keep", str(kept[0]), folder=kept[0]) as running:
        _, err = running.communicate(timeout=60)
    assert running.returncode == 2
    assert "is not empty" in err


@pytest.mark.parametrize(
    ("moment", "summary"),
    [("Preparing", ""), ("fresh on average", "With the same 100 requests a day, Freshet's")],
)
def test_a_stopped_demonstration_sums_up_and_leaves_nothing_behind(
    tmp_path: Path, moment: str, summary: str
) -> None:
    with freshet("demo", "--headless", folder=tmp_path) as running:
        assert running.stdout is not None
        told = next(running.stdout)
        assert any(moment in line for line in running.stdout)
        assert any(tmp_path.iterdir())
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert "simulated web of 60 pages" in told
    assert running.returncode == 130
    assert err.startswith("freshet: the demo was stopped")
    assert summary in out
    assert list(tmp_path.iterdir()) == []
