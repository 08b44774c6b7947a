"""Output files that are complete or absent."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from freshet.core.errors import NoSpaceError
from freshet.core.files import atomic_output


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with atomic_output(path) as partial:
        partial.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def _fail_half_way(path: Path) -> None:
    with atomic_output(path) as partial:
        partial.write_text("half")
        raise KeyboardInterrupt


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _fail_half_way(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with (
        pytest.raises(NoSpaceError, match="cannot be written"),
        atomic_output(tmp_path / "no" / "out"),
    ):
        pass


def dead_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_unfinished_output_of_a_killed_process_is_removed(tmp_path: Path) -> None:
    partial = f".out.{dead_process()}.part"
    (tmp_path / partial).write_text("half")
    (tmp_path / f"{partial}.pieces").mkdir()
    (tmp_path / f"{partial}.pieces" / "0.parquet").write_text("half")
    with atomic_output(tmp_path / "out") as new:
        new.write_text("complete")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_files_that_no_dead_process_left_are_kept(tmp_path: Path) -> None:
    dead = dead_process()
    others = [f".out.{os.getppid()}.part", ".out.part", f".other.{dead}.part", f"out.{dead}.part"]
    for name in others:
        (tmp_path / name).write_text("mine")
    with atomic_output(tmp_path / "out") as new:
        new.write_text("complete")
    assert {path.name for path in tmp_path.iterdir()} == {"out", *others}


def test_unfinished_output_of_a_process_on_another_machine_is_kept(tmp_path: Path) -> None:
    partial = tmp_path / f".out.{dead_process()}.part"
    with partial.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with atomic_output(tmp_path / "out") as new:
            new.write_text("complete")
    assert partial.exists()


def test_unfinished_output_is_locked(tmp_path: Path) -> None:
    with (
        atomic_output(tmp_path / "out") as partial,
        partial.open() as file,
        pytest.raises(BlockingIOError),
    ):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
