"""A full disk, a read-only folder, a broken catalog: one clear error, nothing half-done."""

import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from freshet.archive.warc import write
from freshet.core.errors import Damaged, NoSpace, NotFound, SettingsError, StorageError, TooNew
from freshet.flow import shelf
from freshet.flow.opened import OpenedCollection
from tests.flow.flow_samples import CLOCK, URL, arrive, bodies, html, make, marks, record, told

ARRIVALS = [arrive(day, html(f"day {day}", f"l{day}")) for day in range(4)]


class Disk:
    """Writes until it is full; a write that does not fit is done in part."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, file: int, content: bytes | memoryview, place: int) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = os.pwrite(file, bytes(content)[: self.room], place)
        self.room -= written
        return written


def on(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def writer(*arguments: object, **options: object) -> write.Writer:
        return write.Writer(*arguments, **options, write=disk.write)

    monkeypatch.setattr(shelf, "Writer", writer)


@pytest.mark.parametrize("room", range(0, 1700, 130))
def test_a_full_disk_leaves_nothing_half_written_and_going_on_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    disk = Disk(room)
    on(disk, monkeypatch)
    with make(tmp_path / "plain") as plain, make(tmp_path / "c") as collection:
        with collection.recording() as recorder:
            with pytest.raises(NoSpace, match="free space"):
                recorder.take(ARRIVALS)
            disk.room = 1 << 30
            recorder.take(ARRIVALS)
        record(plain, ARRIVALS)
        assert told(collection) == told(plain)
        assert collection.check().is_sound


def test_after_a_full_disk_the_next_start_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(1200)
    on(disk, monkeypatch)
    with make(tmp_path / "c") as collection:
        with pytest.raises(NoSpace):
            record(collection, ARRIVALS)
        disk.room = 1 << 30
        record(collection, ARRIVALS)
        assert len(bodies(collection)) == 4
        assert collection.check().is_sound


def test_a_catalog_that_is_full_loses_no_record(tmp_path: Path) -> None:
    many = [arrive(day, html(f"day {day}", f"l{day}")) for day in range(150)]
    with make(tmp_path / "c") as collection:
        with collection.catalog._engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 2}")
        with pytest.raises(NoSpace, match="free some disk space"):
            record(collection, many)
        assert collection.catalog.counts().visits == 0
    with OpenedCollection.open(tmp_path / "c", clock=CLOCK) as collection:
        record(collection, [])
        assert sum(mended.adopted for mended in collection.mended) == 150
        record(collection, many)
        assert len(marks(collection)) == 150
        assert collection.check().is_sound


def test_a_folder_that_cannot_be_written_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.open

    def refuse(path: str | Path, flags: int, *rest: object, **options: object) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return plain(path, flags, *rest, **options)

    with make(tmp_path / "c") as collection:
        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(NoSpace, match="cannot be written: Read-only file system"):
            record(collection, ARRIVALS)
        assert collection.catalog.counts().visits == 0


def newer(folder: Path) -> None:
    with sqlite3.connect(folder / "catalog.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()


def overwritten(folder: Path) -> None:
    (folder / "catalog.db").write_bytes(b"this is no database " * 400)


def corrupt(folder: Path) -> None:
    content = bytearray((folder / "catalog.db").read_bytes())
    content[100:4096] = bytes(3996)
    (folder / "catalog.db").write_bytes(content)


def without_catalog(folder: Path) -> None:
    (folder / "catalog.db").unlink()


def without_settings(folder: Path) -> None:
    (folder / "freshet.toml").unlink()


def with_bad_settings(folder: Path) -> None:
    (folder / "freshet.toml").write_text("contact = [")


@pytest.mark.parametrize(
    ("spoil", "kind", "says"),
    [
        (newer, TooNew, "install a newer Freshet"),
        (overwritten, Damaged, "restore a copy"),
        (corrupt, Damaged, "restore a copy"),
        (without_catalog, NotFound, "check --repair"),
        (without_settings, NotFound, "freshet init"),
        (with_bad_settings, SettingsError, "mend the file"),
    ],
)
def test_a_collection_that_cannot_be_opened_says_why_in_one_line(
    tmp_path: Path, spoil: Callable[[Path], None], kind: type[Exception], says: str
) -> None:
    make(tmp_path / "c").close()
    for suffix in ("-wal", "-shm"):
        (tmp_path / "c" / f"catalog.db{suffix}").unlink(missing_ok=True)
    spoil(tmp_path / "c")
    with pytest.raises(kind, match=says) as caught:
        OpenedCollection.open(tmp_path / "c", clock=CLOCK)
    assert "\n" not in str(caught.value)


def test_an_archive_file_that_is_missing_is_one_clear_error(tmp_path: Path) -> None:
    with make(tmp_path / "c") as collection:
        record(collection, ARRIVALS)
        [path] = collection.archive.glob("*.warc.gz")
        path.unlink()
        with pytest.raises(NotFound, match="freshet check"):
            collection.page(URL).snapshot(1)


def test_a_record_that_is_damaged_is_one_clear_error(tmp_path: Path) -> None:
    with make(tmp_path / "c") as collection:
        record(collection, ARRIVALS)
        place = collection.page(URL).history()[0].visit.location
        path = collection.archive / place.file
        content = bytearray(path.read_bytes())
        content[place.offset + 40] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(Damaged, match="check --repair"):
            collection.page(URL).snapshot(1)
        assert issubclass(Damaged, StorageError)
