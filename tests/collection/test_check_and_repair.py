"""A check finds every fault of a collection; a repair corrects it and discards nothing."""

from pathlib import Path

import pytest

from freshet.archive.warc.read import read_records
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

BODIES = [html(f"day {day}", "a") for day in range(4)]


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with make_collection(tmp_path / "c") as opened:
        record(opened, [observe(day, body) for day, body in enumerate(BODIES)])
        yield opened


def file_of(collection: Collection) -> Path:
    [path] = collection.archive_folder.glob("*.warc.gz")
    return path


def flip(path: Path, offset: int, mask: int = 0xFF) -> None:
    content = bytearray(path.read_bytes())
    content[offset] ^= mask
    path.write_bytes(content)


def stored_bodies(collection: Collection) -> list[bytes | None]:
    rows = collection.page(URL).history()
    snapshots = [collection.snapshots.read(row.visit, URL) for row in rows]
    return [snapshot and snapshot.body for snapshot in snapshots]


def record_ranges(collection: Collection) -> list[tuple[int, int]]:
    locations = [row.visit.location for row in collection.page(URL).history()]
    return [(location.offset, location.offset + location.length) for location in locations]


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_a_flipped_byte_is_found_or_alters_nothing(collection: Collection, mask: int) -> None:
    path = file_of(collection)
    content = path.read_bytes()
    for offset in range(0, len(content), 5):
        flip(path, offset, mask)
        assert not collection.check().is_sound or stored_bodies(collection) == BODIES, offset
        path.write_bytes(content)
    assert collection.check().is_sound


def test_a_file_cut_between_two_records_is_known_by_its_rows(collection: Collection) -> None:
    path = file_of(collection)
    content = path.read_bytes()
    edges = [found.offset for found in read_records(path)]
    for number, edge in enumerate(edges):
        path.write_bytes(content[:edge])
        lost = 4 - max(0, number - 1)
        problems = collection.check().problems
        assert [problem.what for problem in problems if "row" in problem.what][:1]
        assert len(problems) == lost


def test_a_file_that_is_missing_is_named_with_its_rows(collection: Collection) -> None:
    path = file_of(collection)
    path.unlink()
    [problem] = collection.check().problems
    assert (problem.place, problem.what) == (path.name, "file is missing; rows that point to it: 4")


def test_a_record_without_a_row_is_found_and_adopted(collection: Collection) -> None:
    before = page_facts(collection)
    row = collection.page(URL).history()[1]
    delete_visit_rows(collection, [row.visit.id])
    [problem] = collection.check().problems
    assert problem.what == "record has no row"
    report = collection.repair()
    assert report.is_sound
    assert page_facts(collection) == before


@pytest.mark.parametrize("number", range(4))
def test_damage_costs_one_version_and_is_kept_beside_the_file(
    collection: Collection, number: int
) -> None:
    path = file_of(collection)
    start, end = record_ranges(collection)[number]
    flip(path, (start + end) // 2)
    spoilt = path.read_bytes()[start:end]
    assert not collection.check().is_sound
    report = collection.repair()
    assert report.is_sound
    assert report.mended[0] == (
        f"{path.name}: {end - start} damaged bytes kept as {path.name}.damaged-{start}"
    )
    assert (collection.archive_folder / f"{path.name}.damaged-{start}").read_bytes() == spoilt
    expected = [None if at == number else body for at, body in enumerate(BODIES)]
    assert stored_bodies(collection) == expected
    assert len(marks(collection)) == 4


def test_a_second_repair_has_nothing_to_do(collection: Collection) -> None:
    flip(file_of(collection), record_ranges(collection)[2][0] + 30)
    collection.repair()
    before = {path.name for path in collection.archive_folder.iterdir()}
    report = collection.repair()
    assert report.is_sound
    assert report.mended == []
    assert {path.name for path in collection.archive_folder.iterdir()} == before


def test_a_record_with_an_odd_gzip_header_is_compressed_again(collection: Collection) -> None:
    flip(file_of(collection), record_ranges(collection)[1][0] + 9, 0x40)
    assert not collection.check().is_sound
    assert collection.repair().is_sound
    assert stored_bodies(collection) == BODIES


def test_a_file_of_which_nothing_can_be_read_is_kept_as_damage(
    collection: Collection,
) -> None:
    path = file_of(collection)
    path.write_bytes(b"spoilt" * 100)
    report = collection.repair()
    assert report.is_sound
    assert stored_bodies(collection) == [None] * 4
    assert (collection.archive_folder / f"{path.name}.damaged-0").read_bytes() == b"spoilt" * 100


def test_recording_goes_on_after_a_repair(collection: Collection) -> None:
    flip(file_of(collection), record_ranges(collection)[3][0] + 30)
    collection.repair()
    record(collection, [observe(9, BODIES[3]), observe(10, BODIES[0])])
    assert stored_bodies(collection)[-2:] == [BODIES[3], BODIES[0]]
    assert [changed for _, changed in marks(collection)] == [None, True, True, True, None, True]
    assert collection.check().is_sound


def test_a_revisit_whose_original_is_lost_says_so(collection: Collection) -> None:
    record(collection, [observe(9, BODIES[0]), observe(10, BODIES[0])])
    first = collection.page(URL).history()[0].visit.location
    flip(collection.archive_folder / first.file, first.offset + 30)
    collection.repair()
    assert stored_bodies(collection) == [None, *BODIES[1:], None, None]
    record(collection, [observe(11, BODIES[0])])
    assert stored_bodies(collection)[-1] == BODIES[0]


def test_a_revisit_whose_bytes_are_nowhere_is_found(collection: Collection) -> None:
    record(collection, [observe(9, BODIES[0])])
    first = collection.page(URL).history()[0].visit
    collection.catalog.set_locations({first.id: None})
    [problem] = collection.check().problems
    assert "revisit whose bytes are nowhere" in problem.what


def test_a_problem_says_where_it_is_and_what_to_do(collection: Collection) -> None:
    path = file_of(collection)
    start, end = record_ranges(collection)[3]
    path.write_bytes(path.read_bytes()[: end - 5])
    said = str(collection.check().problems[0])
    expected = f"{path.name}, offset {start}: record is cut short; run 'freshet check --repair'"
    assert said == expected


def test_measuring_again_leaves_what_cannot_be_measured(collection: Collection) -> None:
    flip(file_of(collection), record_ranges(collection)[2][0] + 30)
    collection.repair()
    before = page_facts(collection)
    collection.measure_again()
    assert page_facts(collection) == before


def test_a_sound_collection_counts_what_it_holds(collection: Collection) -> None:
    report = collection.check()
    assert (report.files, report.records, report.rows, report.problems) == (1, 4, 4, [])
    assert len(bodies(collection)) == 4
