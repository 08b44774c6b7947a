"""A kill anywhere loses no acknowledged visit and doubles none."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.collection.collection import Collection
from tests.record.record_samples import (
    URL,
    bodies,
    delete_visit_rows,
    html,
    make_collection,
    marks,
    observe,
    page_facts,
    record,
)
from tests.warm_process import run_module

OBSERVATIONS = [observe(day, html(f"day {day // 2}", f"l{day}")) for day in range(4)]


@pytest.mark.parametrize(
    ("verb", "step"),
    [("take", 7), ("take-into-small-files", 14), ("prune", 7), ("purge", 7), ("repair", 8)],
)
def test_a_kill_at_any_write_is_made_good(tmp_path: Path, verb: str, step: int) -> None:
    done = run_module("tests.record.crash_driver", str(tmp_path), verb, str(step), timeout=300)
    *failures, points = done.stdout.splitlines() or ["", done.stderr]
    assert not failures
    assert int(points.removesuffix(" points")) > 20


def leave_open(collection: Collection, tail: bytes, cut: int) -> int:
    """Make the archive's file look as a crash leaves it; return how many bytes stayed."""
    [path] = collection.archive_folder.glob("*.warc.gz")
    content = path.read_bytes()
    kept = content[: max(0, len(content) - cut)] + tail
    path.unlink()
    path.with_name(path.name + ".open").write_bytes(kept)
    return len(kept)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(rows=st.integers(0, 4), cut=st.integers(0, 300), tail=st.binary(max_size=40))
def test_a_torn_end_costs_only_what_was_never_acknowledged(rows: int, cut: int, tail) -> None:
    with TemporaryDirectory() as folder, make_collection(Path(folder) / "c") as collection:
        record(collection, OBSERVATIONS)
        before = page_facts(collection)
        history = collection.page(URL).history()
        location = history[rows - 1].visit.location
        delete_visit_rows(collection, [row.visit.id for row in history[rows:]])
        [path] = collection.archive_folder.glob("*.warc.gz")
        end = location.offset + location.length if rows else 0
        leave_open(collection, tail, min(cut, path.stat().st_size - end))
        record(collection, [])
        assert page_facts(collection)[:rows] == before[:rows]
        assert not list(collection.archive_folder.glob("*.open"))
        assert collection.check().is_sound
        record(collection, OBSERVATIONS)
        assert page_facts(collection) == before
        assert len(bodies(collection)) == 4
        assert collection.check().is_sound


def test_what_is_cut_from_a_torn_file_is_kept_beside_it(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, OBSERVATIONS)
        leave_open(collection, b"\x1f\x8b\x08 half a record", 0)
        record(collection, [])
        [repairs] = collection.repairs
        assert (repairs.cut_bytes, repairs.adopted) == (17, 0)
        kept = (collection.archive_folder / repairs.cut_file).read_bytes()
        assert kept == b"\x1f\x8b\x08 half a record"


def test_records_of_a_closed_file_that_have_no_rows_are_adopted(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, OBSERVATIONS)
        before = page_facts(collection)
        last = collection.page(URL).history()[-2:]
        delete_visit_rows(collection, [row.visit.id for row in last])
        record(collection, [])
        assert page_facts(collection) == before
        assert [repairs.adopted for repairs in collection.repairs] == [2]


def test_records_that_a_kill_left_without_rows_in_a_closed_file_are_no_damage(
    tmp_path: Path,
) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, OBSERVATIONS)
        last = collection.page(URL).history()[-2:]
        delete_visit_rows(collection, [row.visit.id for row in last])
        report = collection.check()
        assert report.is_sound
        [note] = report.notes
        assert "the next command that writes to the archive adopts them" in note
        record(collection, [])
        assert not collection.check().notes


def test_a_file_that_comes_back_gives_its_visits_their_bytes_again(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, OBSERVATIONS)
        [path] = collection.archive_folder.glob("*.warc.gz")
        content = path.read_bytes()
        path.unlink()
        collection.repair()
        assert [row.visit.location for row in collection.page(URL).history()] == [None] * 4
        path.write_bytes(content)
        record(collection, [])
        assert len(bodies(collection)) == 4
        assert collection.check().is_sound
        assert len(marks(collection)) == 4


def test_leases_of_a_killed_crawl_outlast_other_writers(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        page = collection.add(URL)
        long_ago = OBSERVATIONS[0].time
        collection.catalog.lease_pages("dead", [page.id], long_ago, long_ago)
        record(collection, [])
        assert [lease.page for lease in collection.catalog.leases()] == [page.id]
