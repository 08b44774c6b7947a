"""One writer at a time; a lock never outlives its process."""

import os
from pathlib import Path

import pytest

from freshet.archive.warc.lock import LOCK_NAME, ArchiveLock
from freshet.archive.warc.writer import WarcWriter
from freshet.core.errors import LockedError, NoSpaceError
from tests.archive.warc.warc_samples import CLOCK, ORIGIN


def test_a_second_process_learns_who_holds_the_lock(tmp_path: Path) -> None:
    second = ArchiveLock(tmp_path)
    with (
        ArchiveLock(tmp_path, command="freshet run", clock=CLOCK),
        pytest.raises(
            LockedError, match=rf"'freshet run' \(process {os.getpid()}, since 2026-11-15"
        ),
    ):
        second.acquire()
    assert not second.is_held


def test_a_released_lock_can_be_acquired(tmp_path: Path) -> None:
    first = ArchiveLock(tmp_path).acquire()
    first.release()
    with ArchiveLock(tmp_path) as second:
        assert second.is_held


def test_acquiring_a_lock_twice_changes_nothing(tmp_path: Path) -> None:
    with ArchiveLock(tmp_path) as lock:
        assert lock.acquire() is lock


def test_the_lock_of_a_dead_process_can_be_acquired(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        ArchiveLock(tmp_path, command="freshet import").acquire()
        os._exit(0)
    os.waitpid(child, 0)
    assert "freshet import" in (tmp_path / LOCK_NAME).read_text()
    with ArchiveLock(tmp_path) as lock:
        assert lock.is_held


def test_two_writers_never_share_a_folder(tmp_path: Path) -> None:
    with WarcWriter(tmp_path, ORIGIN), pytest.raises(LockedError, match="wait until it ends"):
        WarcWriter(tmp_path, ORIGIN)


def test_an_unknown_holder_is_another_process(tmp_path: Path) -> None:
    with ArchiveLock(tmp_path):
        (tmp_path / LOCK_NAME).write_text("")
        with pytest.raises(LockedError, match="another process"):
            ArchiveLock(tmp_path).acquire()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NoSpaceError, match="file/archive cannot be written"):
        ArchiveLock(tmp_path / "file" / "archive").acquire()


def test_asking_for_the_holder_creates_no_file(tmp_path: Path) -> None:
    assert ArchiveLock(tmp_path / "archive").holder() == ""
    assert ArchiveLock(tmp_path).holder() == ""
    assert list(tmp_path.iterdir()) == []


def test_the_holder_can_be_read_in_a_read_only_folder(tmp_path: Path) -> None:
    with ArchiveLock(tmp_path, command="freshet run"):
        (tmp_path / LOCK_NAME).chmod(0o444)
        assert "freshet run" in ArchiveLock(tmp_path).holder()
    assert ArchiveLock(tmp_path).holder() == ""
