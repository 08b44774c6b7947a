"""A file that somebody put into the archive stays there, whatever is in it."""

from pathlib import Path

import pytest

from freshet.archive.warc.build import build_metadata, build_response
from freshet.archive.warc.record import encode_record
from freshet.collection.collection import Collection
from freshet.record import recovery
from tests.record.record_samples import (
    NOW,
    URL,
    bodies,
    html,
    make_collection,
    marks,
    observe,
    record,
)

OBSERVATIONS = [observe(day, html(f"day {day}")) for day in range(4)]
ANSWER = build_response(URL, NOW, b"HTTP/1.1 200 OK\r\n\r\n" + html("foreign"))
ONLY_METADATA = encode_record(build_metadata({"via": "elsewhere"}, about=ANSWER))


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with make_collection(tmp_path / "c") as opened:
        record(opened, OBSERVATIONS)
        yield opened


def put(collection: Collection, name: str, content: bytes) -> Path:
    path = collection.archive_folder / name
    path.write_bytes(content)
    return path


def copied(collection: Collection) -> Path:
    [path] = collection.archive_folder.glob("*.warc.gz")
    return put(collection, "copy.warc.gz", path.read_bytes())


def test_a_copy_survives_adds_no_visit_and_is_named(collection: Collection) -> None:
    copy = copied(collection)
    content = copy.read_bytes()
    record(collection, [])
    assert copy.read_bytes() == content
    assert len(marks(collection)) == 4
    [problem] = collection.check().problems
    assert problem.place == "copy.warc.gz"
    assert problem.what == "file belongs to no visit; its captures, all of them known: 4"
    assert "move it out of the archive folder" in str(problem)


def test_a_repair_keeps_a_copy_too(collection: Collection) -> None:
    copy = copied(collection)
    assert len(collection.repair().problems) == 1
    assert copy.exists()
    copy.unlink()
    assert collection.check().is_sound


def test_a_copy_stands_in_for_a_file_that_is_lost(collection: Collection) -> None:
    copied(collection)
    [original] = collection.archive_folder.glob("freshet-*.warc.gz")
    record(collection, [])
    original.unlink()
    assert collection.repair().is_sound
    assert bodies(collection) == [html(f"day {day}") for day in range(4)]


def test_a_file_without_captures_survives_and_is_sound(collection: Collection) -> None:
    path = put(collection, "notes.warc.gz", ONLY_METADATA)
    record(collection, [])
    collection.repair()
    assert path.read_bytes() == ONLY_METADATA
    assert collection.check().is_sound


def test_damage_in_a_file_without_rows_costs_none_of_its_other_records(
    collection: Collection,
) -> None:
    put(collection, "notes.warc.gz", ONLY_METADATA + b"spoilt" * 9)
    assert collection.repair().is_sound
    assert (collection.archive_folder / f"notes.warc.gz.damaged-{len(ONLY_METADATA)}").exists()
    assert len(list(collection.archive_folder.glob("*.warc.gz"))) == 2


def test_a_foreign_file_is_read_once_and_again_when_it_has_grown(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_files: list[str] = []
    plain = recovery.adopt_orphan_records

    def counted(path: Path, *rest: object, **options: object) -> object:
        read_files.append(path.name)
        return plain(path, *rest, **options)

    monkeypatch.setattr(recovery, "adopt_orphan_records", counted)
    path = put(collection, "notes.warc.gz", ONLY_METADATA)
    for _ in range(3):
        record(collection, [])
    assert read_files == ["notes.warc.gz"]
    path.write_bytes(ONLY_METADATA + encode_record(ANSWER))
    record(collection, [])
    assert read_files == ["notes.warc.gz"] * 2
    assert bodies(collection)[-1] == html("foreign")
    assert collection.check().is_sound
