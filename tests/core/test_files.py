"""Files that are whole or not there."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from freshet.core.errors import NoSpaceError
from freshet.core.files import atomic_output


def test_the_old_file_stands_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with atomic_output(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def _fail_half_way(path: Path) -> None:
    with atomic_output(path) as part:
        part.write_text("half")
        raise KeyboardInterrupt


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _fail_half_way(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(NoSpaceError, match="cannot be written"),
        atomic_output(tmp_path / "no" / "out"),
    ):
        pass


def dead_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    part = f".out.{dead_process()}.part"
    (tmp_path / part).write_text("half")
    (tmp_path / f"{part}.pieces").mkdir()
    (tmp_path / f"{part}.pieces" / "0.parquet").write_text("half")
    with atomic_output(tmp_path / "out") as new:
        new.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_is_not_left_by_a_dead_process_stays(tmp_path: Path) -> None:
    dead = dead_process()
    others = [f".out.{os.getppid()}.part", ".out.part", f".other.{dead}.part", f"out.{dead}.part"]
    for name in others:
        (tmp_path / name).write_text("mine")
    with atomic_output(tmp_path / "out") as new:
        new.write_text("whole")
    assert {path.name for path in tmp_path.iterdir()} == {"out", *others}


def test_what_a_process_of_another_machine_is_writing_stays(tmp_path: Path) -> None:
    part = tmp_path / f".out.{dead_process()}.part"
    with part.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with atomic_output(tmp_path / "out") as new:
            new.write_text("whole")
    assert part.exists()


def test_what_is_being_written_is_locked(tmp_path: Path) -> None:
    with (
        atomic_output(tmp_path / "out") as part,
        part.open() as file,
        pytest.raises(BlockingIOError),
    ):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
