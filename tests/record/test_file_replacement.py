"""A rewritten file is deleted only when the new one is complete and on disk."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.archive.warc.build import build_metadata, build_response
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.read import read_records
from freshet.archive.warc.record import encode_record
from freshet.collection.collection import Collection
from freshet.record.recovery import FileReplacement, finish_replacement, note_replacement
from freshet.record.rewrite import rewrite_file
from tests.record.record_samples import NOW, URL, bodies, html, make_collection, observe, record

ANSWER = build_response(URL, NOW, b"HTTP/1.1 200 OK\r\n\r\n")
NOTES = b"".join(encode_record(build_metadata({"via": name}, about=ANSWER)) for name in ("a", "b"))
VERSIONS = [html(f"day {day}") for day in range(3)]


class Killed(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path / "c") as opened:
        record(opened, [observe(day, body) for day, body in enumerate(VERSIONS)])
        yield opened


@pytest.fixture
def notes(collection: Collection) -> Path:
    """A file of the archive to which no row points, so that no row protects it."""
    path = collection.archive_folder / "notes.warc.gz"
    path.write_bytes(NOTES)
    return path


def first_then_killed(path: Path) -> Iterator[LocatedRecord]:
    yield next(records for records in read_records(path) if isinstance(records, LocatedRecord))
    raise Killed


def everything(path: Path) -> Iterator[LocatedRecord]:
    return (items for items in read_records(path) if isinstance(items, LocatedRecord))


def test_a_file_stays_when_its_successor_was_begun_and_no_row_points_to_either(
    collection: Collection, notes: Path
) -> None:
    new = collection.archive_folder / "freshet-1-00001.warc.gz.open"
    new.write_bytes(NOTES[:50])
    note_replacement(
        collection.catalog, FileReplacement(notes.name, new.name.removesuffix(".open"))
    )
    record(collection, [])
    assert notes.read_bytes() == NOTES
    assert not new.exists()


def test_a_file_stays_when_the_copying_of_its_records_is_killed(
    collection: Collection, notes: Path
) -> None:
    with collection.appending() as lock, pytest.raises(Killed):
        rewrite_file(collection, lock, notes.name, first_then_killed)
    record(collection, [])
    assert notes.read_bytes() == NOTES
    assert len(list(collection.archive_folder.glob("*.warc.gz*"))) == 2


def test_a_file_stays_when_the_disk_lost_the_end_of_its_successor(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    [old] = collection.archive_folder.glob("*.warc.gz")
    monkeypatch.setattr("freshet.record.rewrite.finish_replacement", lambda *_: None)
    with collection.appending() as lock:
        rewrite_file(collection, lock, old.name, everything)
    [new] = set(collection.archive_folder.glob("*.warc.gz")) - {old}
    new.write_bytes(new.read_bytes()[:-10])
    finish_replacement(collection.catalog, collection.archive_folder)
    assert old.exists()
    collection.repair()
    assert bodies(collection) == VERSIONS


def test_the_new_file_and_its_name_are_on_the_disk_before_the_old_one_goes(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    [old] = collection.archive_folder.glob("*.warc.gz")
    synced: dict[int, int] = {}
    before_it_went: dict[int, int] = {}
    plain_sync, plain_unlink = os.fsync, Path.unlink

    def sync(file: int) -> None:
        synced[os.fstat(file).st_ino] = os.fstat(file).st_size
        plain_sync(file)

    def unlink(path: Path, **options: bool) -> None:
        if path == old:
            before_it_went.update(synced)
        plain_unlink(path, **options)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "unlink", unlink)
    with collection.appending() as lock:
        rewrite_file(collection, lock, old.name, everything)
    [new] = collection.archive_folder.glob("*.warc.gz")
    assert new != old
    assert before_it_went[new.stat().st_ino] == new.stat().st_size
    assert collection.archive_folder.stat().st_ino in before_it_went
