"""A full disk, a read-only folder, a broken catalog: one clear error, nothing half-done."""

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.warc import writer as write
from freshet.collection.collection import Collection
from freshet.core.errors import (
    DamagedError,
    NoSpaceError,
    NotFoundError,
    SettingsError,
    StorageError,
    TooNewError,
)
from freshet.record import record_store
from tests.record.record_samples import (
    CLOCK,
    URL,
    bodies,
    hop,
    html,
    make_collection,
    marks,
    observe,
    page_facts,
    record,
)

OTHER = "https://example.org/other"
THERE = "https://example.org/there"
OBSERVATIONS = [observe(day, html(f"day {day}", f"l{day}")) for day in range(4)]


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


def on(disk: write.WriteAt, monkeypatch: pytest.MonkeyPatch) -> None:
    def writer(*arguments: object, **options: object) -> write.WarcWriter:
        return write.WarcWriter(*arguments, **options, write_at=disk)

    monkeypatch.setattr(record_store, "WarcWriter", writer)


@pytest.mark.parametrize("room", range(0, 1700, 130))
def test_a_full_disk_leaves_nothing_half_written_and_going_on_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    disk = Disk(room)
    on(disk.write, monkeypatch)
    with (
        make_collection(tmp_path / "plain") as plain,
        make_collection(tmp_path / "c") as collection,
    ):
        with collection.recording() as recorder:
            with pytest.raises(NoSpaceError, match="free disk space"):
                recorder.record(OBSERVATIONS)
            disk.room = 1 << 30
            recorder.record(OBSERVATIONS)
        record(plain, OBSERVATIONS)
        assert page_facts(collection) == page_facts(plain)
        assert collection.check().is_sound


class Failing:
    """A function that fails at its n-th call, and works before and after."""

    def __init__(self, plain: Callable[..., Any], at: int, error: Exception | None = None) -> None:
        self.plain = plain
        self.left = at
        self.error = error or OSError(errno.EIO, os.strerror(errno.EIO))

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise self.error
        return self.plain(*arguments, **options)


BATCHES = [
    [
        observe(day, html(f"day {day}", f"l{day}"), hops=(hop(URL, THERE),), final_url=THERE),
        observe(day, html("the same"), url=OTHER),
    ]
    for day in range(3)
]


def taken_at_last(collection: Collection) -> None:
    """Record batches, each again where it failed, and whatever failed at the very end."""
    with suppress(StorageError), collection.recording() as recorder:
        for batch in BATCHES:
            before = collection.catalog.counts().visits
            try:
                recorder.record(batch)
            except StorageError:
                assert collection.catalog.counts().visits == before
                recorder.record(batch)
            assert collection.catalog.counts().visits == before + len(batch)
    record(collection, [])


def goes_on_as_if_nothing_had_been(folder: Path) -> None:
    """Record with a failure at some point, and compare with an undisturbed recording."""
    with make_collection(folder / "c") as collection, make_collection(folder / "plain") as plain:
        taken_at_last(collection)
        record(plain, *BATCHES)
        for url in (URL, OTHER):
            assert page_facts(collection, url) == page_facts(plain, url)
            assert bodies(collection, url) == bodies(plain, url)
        report = collection.check()
        assert (report.is_sound, report.records) == (True, report.rows)
        assert not list(collection.archive_folder.glob("*.open"))


@pytest.mark.parametrize("at", range(1, 17, 2))
def test_taking_again_makes_good_a_write_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    failing = Failing(os.pwrite, at)
    on(failing, monkeypatch)
    goes_on_as_if_nothing_had_been(tmp_path)
    assert failing.left <= 0


@pytest.mark.parametrize(
    ("file_bytes", "at"),
    [*((1, at) for at in range(1, 26, 3)), *((1_000_000, at) for at in range(1, 8))],
)
def test_taking_again_makes_good_a_sync_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, file_bytes: int
) -> None:
    monkeypatch.setenv("FRESHET_ARCHIVE__FILE_BYTES", str(file_bytes))
    make_collection(tmp_path / "warm").close()
    failing = Failing(os.fsync, at)
    monkeypatch.setattr(os, "fsync", failing)
    goes_on_as_if_nothing_had_been(tmp_path)
    assert failing.left <= 0


@pytest.mark.parametrize("at", range(1, 4))
def test_taking_again_makes_good_a_catalog_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    failing = Failing(Catalog.append_visits, at, NoSpaceError("full"))
    monkeypatch.setattr(Catalog, "append_visits", lambda *args, **kw: failing(*args, **kw))
    goes_on_as_if_nothing_had_been(tmp_path)
    assert failing.left <= 0


def test_what_a_failed_sync_cut_off_is_no_one_s_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (observe(day, html("the same")) for day in (1, 2))
    with make_collection(tmp_path / "c") as collection, collection.recording() as recorder:
        recorder.record([observe(0, html("before"))])
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", Failing(os.fsync, 1))
            with pytest.raises(StorageError):
                recorder.record([first])
        recorder.record([second])
        assert bodies(collection) == [html("before"), html("the same")]
        assert collection.check().is_sound


def test_after_a_full_disk_the_next_start_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(1200)
    on(disk.write, monkeypatch)
    with make_collection(tmp_path / "c") as collection:
        with pytest.raises(NoSpaceError):
            record(collection, OBSERVATIONS)
        disk.room = 1 << 30
        record(collection, OBSERVATIONS)
        assert len(bodies(collection)) == 4
        assert collection.check().is_sound


def test_a_catalog_that_is_full_loses_no_record(tmp_path: Path) -> None:
    many = [observe(day, html(f"day {day}", f"l{day}")) for day in range(150)]
    with make_collection(tmp_path / "c") as collection:
        with collection.catalog._read_engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 2}")
        with pytest.raises(NoSpaceError, match="free some disk space"):
            record(collection, many)
        assert collection.catalog.counts().visits == 0
    with Collection.open(tmp_path / "c", clock=CLOCK) as collection:
        record(collection, [])
        assert sum(repairs.adopted for repairs in collection.repairs) == 150
        record(collection, many)
        assert len(marks(collection)) == 150
        assert collection.check().is_sound


def test_a_folder_that_cannot_be_written_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.open

    def refuse(path: str | Path, flags: int, *rest: object, **options: object) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return plain(path, flags, *rest, **options)

    with make_collection(tmp_path / "c") as collection:
        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(NoSpaceError, match="cannot be written: Read-only file system"):
            record(collection, OBSERVATIONS)
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
        (newer, TooNewError, "install a newer Freshet"),
        (overwritten, DamagedError, "restore a copy"),
        (corrupt, DamagedError, "restore a copy"),
        (without_catalog, NotFoundError, "check --repair"),
        (without_settings, NotFoundError, "freshet init"),
        (with_bad_settings, SettingsError, "correct the file"),
    ],
)
def test_a_collection_that_cannot_be_opened_says_why_in_one_line(
    tmp_path: Path, spoil: Callable[[Path], None], kind: type[Exception], says: str
) -> None:
    make_collection(tmp_path / "c").close()
    for suffix in ("-wal", "-shm"):
        (tmp_path / "c" / f"catalog.db{suffix}").unlink(missing_ok=True)
    spoil(tmp_path / "c")
    with pytest.raises(kind, match=says) as caught:
        Collection.open(tmp_path / "c", clock=CLOCK)
    assert "\n" not in str(caught.value)


def test_an_archive_file_that_is_missing_is_one_clear_error(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, OBSERVATIONS)
        [path] = collection.archive_folder.glob("*.warc.gz")
        path.unlink()
        with pytest.raises(NotFoundError, match="freshet check"):
            collection.page(URL).snapshot(1)


def test_a_record_that_is_damaged_is_one_clear_error(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, OBSERVATIONS)
        location = collection.page(URL).history()[0].visit.location
        path = collection.archive_folder / location.file
        content = bytearray(path.read_bytes())
        content[location.offset + 40] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(DamagedError, match="check --repair"):
            collection.page(URL).snapshot(1)
        assert issubclass(DamagedError, StorageError)
