"""Captures read from WARC files."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from freshet.archive.importers import warc
from freshet.archive.observation import Observation
from freshet.archive.warc.build import (
    ArchiveOrigin,
    RevisitOriginal,
    build_identical_revisit,
    build_metadata,
    build_not_modified_revisit,
    build_request,
    build_resource,
    build_response,
    build_warcinfo,
)
from freshet.archive.warc.record import WarcRecord, encode_record, uid_of_record_id
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Outcome

URL = "https://a.org/"
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
LATER = datetime(2024, 5, 2, 12, tzinfo=UTC)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
INFO = build_warcinfo(ArchiveOrigin("test"), "a.warc.gz", NOON)


def write(folder: Path, *records: WarcRecord, name: str = "a.warc.gz") -> Path:
    path = folder / name
    path.write_bytes(b"".join(map(encode_record, (INFO, *records))))
    return path


def page(url: str = URL, body: bytes = b"<p>hi") -> WarcRecord:
    return build_response(url, NOON, HEAD + body)


def test_a_response_arrives_with_body_and_headers_as_received(tmp_path: Path) -> None:
    record = page()
    (found,) = warc.read(write(tmp_path, record))
    assert (found.url, found.source, found.time) == (URL, "warc", NOON)
    assert found.uid == uid_of_record_id(record.id)
    assert (found.outcome, found.status) == (None, 200)
    assert found.snapshot.body == b"<p>hi"
    assert found.snapshot.media_type == "text/html"


def test_its_gzip_member_and_those_of_its_companions_are_copied_byte_for_byte(
    tmp_path: Path,
) -> None:
    first, second = page(), page("https://a.org/b")
    ask = build_request(b"GET / HTTP/1.1\r\n\r\n", response=first)
    facts = build_metadata({"fetchTimeMs": "3"}, about=second)
    one, two = warc.read(write(tmp_path, ask, first, second, facts))
    assert one.raw_record == encode_record(first)
    assert one.companion_records == (encode_record(ask),)
    assert two.raw_record == encode_record(second)
    assert two.companion_records == (encode_record(facts),)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_records_without_a_member_of_their_own_get_one(tmp_path: Path, pack) -> None:
    record = page()
    plain = gzip.decompress(encode_record(INFO) + encode_record(record))
    path = tmp_path / "a.warc"
    path.write_bytes(pack(plain))
    (found,) = warc.read(path)
    assert gzip.decompress(found.raw_record) == gzip.decompress(encode_record(record))


def test_a_resource_arrives_without_a_status(tmp_path: Path) -> None:
    (found,) = warc.read(write(tmp_path, build_resource(URL, NOON, b"text", "text/plain")))
    assert found.status is None
    assert (found.snapshot.body, found.snapshot.media_type) == (b"text", "text/plain")


def test_a_revisit_names_the_capture_whose_bytes_it_shares(tmp_path: Path) -> None:
    original = RevisitOriginal("urn:uuid:00000000-0000-0000-0000-000000000001", URL, NOON)
    (found,) = warc.read(
        write(tmp_path, build_identical_revisit(URL, LATER, HEAD, original, bytes(20)))
    )
    assert found.snapshot is None
    assert (found.outcome, found.status, found.time) == (None, 200, LATER)
    assert found.original_digest == "sha1:" + "A" * 32


def test_a_server_that_said_not_modified_makes_that_the_outcome(tmp_path: Path) -> None:
    original = RevisitOriginal("", URL, NOON)
    record = build_not_modified_revisit(URL, LATER, b"HTTP/1.1 304 Not Modified\r\n\r\n", original)
    (found,) = warc.read(write(tmp_path, record))
    assert (found.outcome, found.status) == (Outcome.NOT_MODIFIED, 304)


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("length", Outcome.TOO_LARGE),
        ("time", Outcome.TIMEOUT),
        ("disconnect", Outcome.UNREADABLE),
    ],
)
def test_a_capture_that_was_cut_is_no_look(tmp_path: Path, reason: str, outcome: Outcome) -> None:
    record = build_response(URL, NOON, HEAD, headers=(("WARC-Truncated", reason),))
    (found,) = warc.read(write(tmp_path, record))
    assert found.outcome is outcome


def test_records_of_other_than_web_pages_are_counted_apart(tmp_path: Path) -> None:
    reader = warc.read(
        write(tmp_path, build_resource("dns:a.org", NOON, b"1.2.3.4", "text/dns"), page())
    )
    assert [item.url for item in reader] == [URL]
    assert reader.notes == ["1 records of pages other than http(s) were skipped"]


def test_a_url_in_angle_brackets_is_taken_out_of_them(tmp_path: Path) -> None:
    (found,) = warc.read(write(tmp_path, page(f"<{URL}>")))
    assert found.url == URL


def test_a_damaged_record_is_a_bad_row_and_reading_goes_on(tmp_path: Path) -> None:
    path = write(tmp_path, page(body=bytes(range(256))), page("https://a.org/b"))
    whole = bytearray(path.read_bytes())
    place = len(encode_record(INFO)) + 60
    whole[place] ^= 0xFF
    path.write_bytes(whole)
    found = list(warc.read(path))
    assert any(isinstance(item, BadRow) for item in found)
    assert [item.url for item in found if isinstance(item, Observation)] == ["https://a.org/b"]


def test_a_response_that_is_not_http_is_a_bad_row(tmp_path: Path) -> None:
    (bad,) = warc.read(write(tmp_path, build_response(URL, NOON, b"nothing")))
    assert bad == BadRow(
        f"a.warc.gz, offset {len(encode_record(INFO))}", "response has no HTTP header"
    )


def test_a_folder_stands_for_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    write(tmp_path, page("https://a.org/1"))
    write(tmp_path / "deep", page("https://a.org/2"), name="b.warc.gz")
    (tmp_path / "notes.txt").write_text("no archive")
    reader = warc.read(tmp_path)
    assert [item.url for item in reader] == ["https://a.org/1", "https://a.org/2"]
    assert reader.done == reader.total


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="there is no WARC file"):
        warc.read(tmp_path)
    with pytest.raises(BadInputError, match="there is no WARC file"):
        warc.read(tmp_path / "missing.warc.gz")
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"this is no archive at all\n" * 9)
    reader = warc.read(path)
    with pytest.raises(BadInputError, match="no record can be read"):
        list(reader)
