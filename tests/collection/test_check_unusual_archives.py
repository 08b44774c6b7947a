"""A check of archives with unusual records, and of collections whose catalog is missing."""

from collections.abc import Callable
from pathlib import Path

from freshet.archive.warc.build import build_response
from freshet.archive.warc.record import WarcRecord, encode_record
from freshet.collection.collection import Collection
from tests.record.record_samples import (
    START,
    URL,
    html,
    make_collection,
    observe,
    page_facts,
    record,
)

OBSERVATIONS = [observe(day, html(f"day {day}")) for day in range(3)]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def response_without_digest(body: bytes, record_id: str = "") -> WarcRecord:
    """Return a response as some writers leave it: without any digest."""
    record = build_response(URL, START, HEAD + body)
    headers = tuple(pair for pair in record.headers if not pair[0].endswith("-Digest"))
    return WarcRecord(
        record.type,
        record_id or record.id,
        record.date,
        record.target_uri,
        headers,
        record.block,
    )


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def test_a_payload_without_a_digest_is_held_against_its_row(tmp_path: Path) -> None:
    old = response_without_digest(
        html("hello 100"), "urn:uuid:00000000-0000-4000-8000-000000000001"
    )
    others = (
        encode_record(response_without_digest(html(f"hello {number}"), old.id))
        for number in range(101, 1000)
    )
    altered = next(member for member in others if len(member) == len(encode_record(old)))
    (tmp_path / "a.warc.gz").write_bytes(encode_record(old))
    with make_collection(tmp_path / "c") as collection:
        collection.import_history("warc", tmp_path / "a.warc.gz")
        assert collection.check().is_sound
        [path] = collection.archive_folder.glob("*.warc.gz")
        rewrite(path, lambda content: content.replace(encode_record(old), altered))
        [problem] = collection.check().problems
        assert "payload is not the one" in problem.what


def test_what_a_crash_leaves_in_an_open_file_is_a_note_and_no_damage(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, OBSERVATIONS)
        [path] = collection.archive_folder.glob("*.warc.gz")
        path.rename(path.with_name(path.name + ".open"))
        with path.with_name(path.name + ".open").open("ab") as file:
            file.write(
                encode_record(response_without_digest(html("not acknowledged")))
                + b"\x1f\x8b\x08torn"
            )
        report = collection.check()
        assert report.is_sound
        assert "left by a crash" in report.notes[0]
        record(collection)
        assert len(page_facts(collection)) == 4
        assert collection.check().is_sound


def test_another_record_under_the_same_identity_is_listed(tmp_path: Path) -> None:
    first = build_response(URL, START, HEAD + html("one"))
    two = build_response(URL + "2", START, HEAD + html("two"))
    twin = WarcRecord(two.type, first.id, two.date, two.target_uri, two.headers, two.block)
    (tmp_path / "a.warc.gz").write_bytes(encode_record(first) + encode_record(twin))
    with make_collection(tmp_path / "c") as collection:
        problems = collection.import_history("warc", tmp_path / "a.warc.gz")
        assert (problems.visits, problems.already_there, problems.bad) == (1, 0, 1)
        assert "same identity" in problems.bad_rows[0].why


def test_a_missing_catalog_is_rebuilt_from_the_archive(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, OBSERVATIONS)
        before = page_facts(collection)
    for path in (tmp_path / "c").glob("catalog.db*"):
        path.unlink()
    with Collection.open(tmp_path / "c", create_catalog=True) as collection:
        assert collection.repair().is_sound
        assert page_facts(collection) == before
