"""A backup has the content of the collection at one time, and restores a sound collection."""

import json
import os
import stat
from pathlib import Path

import pytest

from freshet.archive.warc.lock import ArchiveLock
from freshet.collection.backup import MANIFEST_FILE, back_up, restore
from freshet.collection.collection import Collection
from freshet.core.errors import BadInputError, DamagedError, LockedError, NotFoundError, UsageError
from tests.record.record_samples import (
    CLOCK,
    URL,
    html,
    make_collection,
    observe,
    page_facts,
    record,
)

OTHER = "https://example.org/other"


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    collection = make_collection(tmp_path / "c")
    record(collection, [observe(1, html("one")), observe(2, html("two"))])
    return collection


def restored(tmp_path: Path, name: str = "restored") -> Collection:
    restore(tmp_path / "b", tmp_path / name, clock=CLOCK)
    return Collection.open(tmp_path / name, clock=CLOCK)


def test_what_is_restored_is_what_was_backed_up(collection: Collection, tmp_path: Path) -> None:
    (collection.path / "models" / "mine.json").write_text("{}")
    summary = back_up(collection, tmp_path / "b")
    assert summary.files == summary.copied_files == 4
    with restored(tmp_path) as copy:
        assert page_facts(copy) == page_facts(collection)
        assert copy.check().is_sound
        assert (copy.path / "models" / "mine.json").read_text() == "{}"


def test_visits_recorded_during_a_backup_are_kept_whole_or_left_out(
    collection: Collection, tmp_path: Path
) -> None:
    with collection.recording() as recorder:
        recorder.record([observe(3, html("three"))])
        (open_file,) = collection.archive_folder.glob("*.open")
        with open_file.open("ab") as file:
            file.write(b"\x1f\x8b half a record")
        back_up(collection, tmp_path / "b")
        with restored(tmp_path) as copy:
            assert len(page_facts(copy)) == 3
            assert copy.check().is_sound
        os.truncate(open_file, open_file.stat().st_size - len(b"\x1f\x8b half a record"))


def test_records_newer_than_the_copied_catalog_are_adopted(
    collection: Collection, tmp_path: Path
) -> None:
    added = iter([observe(3, html("three"))])
    with collection.recording() as recorder:
        recorder.record([observe(2.5, html("between"))])

        def record_one_more(done: int, total: int) -> None:
            recorder.record(list(added))

        back_up(collection, tmp_path / "b", progress=record_one_more)
    with restored(tmp_path) as copy:
        assert page_facts(copy) == page_facts(collection)


def test_a_later_backup_copies_only_what_is_new(collection: Collection, tmp_path: Path) -> None:
    back_up(collection, tmp_path / "b")
    record(collection, [observe(3, html("three"))])
    summary = back_up(collection, tmp_path / "b")
    assert (summary.files, summary.copied_files) == (4, 3)
    with restored(tmp_path) as copy:
        assert page_facts(copy) == page_facts(collection)


def test_what_is_purged_leaves_the_next_backup_too(collection: Collection, tmp_path: Path) -> None:
    record(collection, [observe(3, html("secret"), url=OTHER)])
    (tmp_path / "b").mkdir()
    back_up(collection, tmp_path / "b")
    (tmp_path / "b" / "mine.txt").write_text("a note beside it")
    before = {path.name for path in (tmp_path / "b" / "archive").iterdir()}
    collection.remove([collection.page(OTHER)], purge=True)
    back_up(collection, tmp_path / "b")
    after = {path.name for path in (tmp_path / "b" / "archive").iterdir()}
    assert before - after
    assert (tmp_path / "b" / "mine.txt").exists()
    with restored(tmp_path) as copy:
        assert copy.check().is_sound


def test_a_file_that_is_rewritten_meanwhile_is_copied_again(
    collection: Collection, tmp_path: Path
) -> None:
    record(collection, [observe(3, html("secret"), url=OTHER)])
    pages = [collection.page(OTHER)]

    def purge_once(done: int, total: int) -> None:
        if pages:
            collection.remove([pages.pop()], purge=True)

    back_up(collection, tmp_path / "b", progress=purge_once)
    with restored(tmp_path) as copy:
        assert page_facts(copy) == page_facts(collection)
        assert copy.check().is_sound


def test_an_interrupted_backup_leaves_the_one_before_it(
    collection: Collection, tmp_path: Path
) -> None:
    back_up(collection, tmp_path / "b")
    before = page_facts(collection)
    record(collection, [observe(3, html("three"))])

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(collection, tmp_path / "b", progress=interrupt)
    with restored(tmp_path) as copy:
        assert page_facts(copy) == before
    back_up(collection, tmp_path / "b")
    assert sum(path.is_dir() for path in (tmp_path / "b").iterdir()) == 2


def test_a_first_backup_that_was_interrupted_is_not_restored_but_can_be_finished(
    collection: Collection, tmp_path: Path
) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(collection, tmp_path / "b", progress=interrupt)
    with pytest.raises(BadInputError, match="never finished"):
        restore(tmp_path / "b", tmp_path / "r")
    back_up(collection, tmp_path / "b")
    with restored(tmp_path) as copy:
        assert page_facts(copy) == page_facts(collection)


def test_a_damaged_backup_is_refused_and_leaves_no_collection(
    collection: Collection, tmp_path: Path
) -> None:
    back_up(collection, tmp_path / "b")
    (archive,) = (tmp_path / "b" / "archive").iterdir()
    data = bytearray(archive.read_bytes())
    data[len(data) // 2] ^= 1
    archive.write_bytes(data)
    with pytest.raises(DamagedError, match=archive.name):
        restore(tmp_path / "b", tmp_path / "r")
    with pytest.raises(NotFoundError):
        Collection.open(tmp_path / "r")
    archive.unlink()
    with pytest.raises(DamagedError, match="missing"):
        restore(tmp_path / "b", tmp_path / "r2")


def test_folders_of_something_else_are_refused(collection: Collection, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("x")
    with pytest.raises(UsageError, match="not a backup"):
        back_up(collection, tmp_path / "other")
    with pytest.raises(UsageError, match="inside the collection"):
        back_up(collection, collection.path / "backup")
    back_up(collection, tmp_path / "b")
    with make_collection(tmp_path / "c2") as second, pytest.raises(UsageError, match="backup of"):
        back_up(second, tmp_path / "b")
    with pytest.raises(UsageError, match="not empty"):
        restore(tmp_path / "b", tmp_path / "other")
    with pytest.raises(NotFoundError, match="not a backup"):
        restore(tmp_path / "other", tmp_path / "r")


@pytest.mark.parametrize("field", ["name", "stored"])
def test_a_manifest_that_names_files_outside_is_refused(
    field: str, collection: Collection, tmp_path: Path
) -> None:
    back_up(collection, tmp_path / "b")
    manifest = json.loads((tmp_path / "b" / MANIFEST_FILE).read_text())
    manifest["files"][0][field] = "../escaped"
    (tmp_path / "b" / MANIFEST_FILE).write_text(json.dumps(manifest))
    with pytest.raises(BadInputError, match="outside"):
        restore(tmp_path / "b", tmp_path / "r")


def test_only_the_owner_can_read_a_backup_and_what_is_restored(
    collection: Collection, tmp_path: Path
) -> None:
    back_up(collection, tmp_path / "b")
    restored(tmp_path).close()
    for root in (tmp_path / "b", tmp_path / "restored"):
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (root, *root.rglob("*"))]
        assert not any(mode & 0o077 for mode in modes)


def test_the_page_is_known_by_its_url_after_a_restore(
    collection: Collection, tmp_path: Path
) -> None:
    back_up(collection, tmp_path / "b")
    with restored(tmp_path) as copy:
        assert copy.page(URL).url == URL


def test_two_backups_into_one_folder_do_not_meet(collection: Collection, tmp_path: Path) -> None:
    back_up(collection, tmp_path / "b")
    with ArchiveLock(tmp_path / "b", command="freshet backup"), pytest.raises(LockedError):
        back_up(collection, tmp_path / "b")
    restored(tmp_path).close()


def test_a_stored_file_that_was_cut_is_copied_again(collection: Collection, tmp_path: Path) -> None:
    back_up(collection, tmp_path / "b")
    (archive,) = (tmp_path / "b" / "archive").iterdir()
    os.truncate(archive, 100)
    back_up(collection, tmp_path / "b")
    with restored(tmp_path) as copy:
        assert page_facts(copy) == page_facts(collection)


def test_what_an_interrupted_backup_stored_goes_with_the_next_one(
    collection: Collection, tmp_path: Path
) -> None:
    back_up(collection, tmp_path / "b")
    leftover = tmp_path / "b" / "archive" / "purged-since.warc.gz"
    leftover.write_bytes(b"copied by a backup that was killed")
    back_up(collection, tmp_path / "b")
    assert not leftover.exists()


@pytest.mark.parametrize(
    ("field", "value"), [("made", 5), ("made", "x"), ("bytes", "9"), ("name", 5), ("name", "a\0")]
)
def test_a_manifest_with_odd_values_is_refused(
    field: str, value: object, collection: Collection, tmp_path: Path
) -> None:
    back_up(collection, tmp_path / "b")
    manifest = json.loads((tmp_path / "b" / MANIFEST_FILE).read_text())
    (manifest if field == "made" else manifest["files"][0])[field] = value
    (tmp_path / "b" / MANIFEST_FILE).write_text(json.dumps(manifest))
    with pytest.raises(BadInputError, match="use a backup that 'freshet backup' made"):
        restore(tmp_path / "b", tmp_path / "r")
    assert not (tmp_path / "r").exists()
