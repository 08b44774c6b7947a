"""Import of captures from WARC files."""

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


def test_a_response_has_body_and_headers_as_received(tmp_path: Path) -> None:
    record = page()
    (observation,) = warc.read(write(tmp_path, record))
    assert (observation.url, observation.source, observation.time) == (URL, "warc", NOON)
    assert observation.uid == uid_of_record_id(record.id)
    assert (observation.outcome, observation.status) == (None, 200)
    assert observation.snapshot.body == b"<p>hi"
    assert observation.snapshot.media_type == "text/html"


def test_its_gzip_member_and_those_of_its_companions_are_copied_byte_for_byte(
    tmp_path: Path,
) -> None:
    first, second = page(), page("https://a.org/b")
    ask = build_request(b"GET / HTTP/1.1\r\n\r\n", response=first)
    facts = build_metadata({"fetchTimeMs": "3"}, about=second)
    first_observation, second_observation = warc.read(write(tmp_path, ask, first, second, facts))
    assert first_observation.raw_record == encode_record(first)
    assert first_observation.companion_records == (encode_record(ask),)
    assert second_observation.raw_record == encode_record(second)
    assert second_observation.companion_records == (encode_record(facts),)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_records_without_a_member_of_their_own_get_one(tmp_path: Path, pack) -> None:
    record = page()
    plain = gzip.decompress(encode_record(INFO) + encode_record(record))
    path = tmp_path / "a.warc"
    path.write_bytes(pack(plain))
    (observation,) = warc.read(path)
    assert gzip.decompress(observation.raw_record) == gzip.decompress(encode_record(record))


def test_a_resource_has_no_status(tmp_path: Path) -> None:
    (observation,) = warc.read(write(tmp_path, build_resource(URL, NOON, b"text", "text/plain")))
    assert observation.status is None
    assert (observation.snapshot.body, observation.snapshot.media_type) == (b"text", "text/plain")


def test_a_revisit_names_the_capture_whose_bytes_it_shares(tmp_path: Path) -> None:
    original = RevisitOriginal("urn:uuid:00000000-0000-0000-0000-000000000001", URL, NOON)
    (observation,) = warc.read(
        write(tmp_path, build_identical_revisit(URL, LATER, HEAD, original, bytes(20)))
    )
    assert observation.snapshot is None
    assert (observation.outcome, observation.status, observation.time) == (None, 200, LATER)
    assert observation.original_digest == "sha1:" + "A" * 32


def test_a_not_modified_revisit_has_that_outcome(tmp_path: Path) -> None:
    original = RevisitOriginal("", URL, NOON)
    record = build_not_modified_revisit(URL, LATER, b"HTTP/1.1 304 Not Modified\r\n\r\n", original)
    (observation,) = warc.read(write(tmp_path, record))
    assert (observation.outcome, observation.status) == (Outcome.NOT_MODIFIED, 304)


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("length", Outcome.TOO_LARGE),
        ("time", Outcome.TIMEOUT),
        ("disconnect", Outcome.UNREADABLE),
    ],
)
def test_a_truncated_capture_is_no_look(tmp_path: Path, reason: str, outcome: Outcome) -> None:
    record = build_response(URL, NOON, HEAD, headers=(("WARC-Truncated", reason),))
    (observation,) = warc.read(write(tmp_path, record))
    assert observation.outcome is outcome


def test_records_of_other_schemes_are_skipped_and_counted(tmp_path: Path) -> None:
    reader = warc.read(
        write(tmp_path, build_resource("dns:a.org", NOON, b"1.2.3.4", "text/dns"), page())
    )
    assert [item.url for item in reader] == [URL]
    assert reader.notes == ["1 records of pages other than http(s) were skipped"]


def test_angle_brackets_around_a_url_are_removed(tmp_path: Path) -> None:
    (observation,) = warc.read(write(tmp_path, page(f"<{URL}>")))
    assert observation.url == URL


def test_a_damaged_record_is_a_bad_row_and_reading_goes_on(tmp_path: Path) -> None:
    path = write(tmp_path, page(body=bytes(range(256))), page("https://a.org/b"))
    content = bytearray(path.read_bytes())
    offset = len(encode_record(INFO)) + 60
    content[offset] ^= 0xFF
    path.write_bytes(content)
    items = list(warc.read(path))
    assert any(isinstance(item, BadRow) for item in items)
    assert [item.url for item in items if isinstance(item, Observation)] == ["https://a.org/b"]


def test_a_response_that_is_not_http_is_a_bad_row(tmp_path: Path) -> None:
    (bad,) = warc.read(write(tmp_path, build_response(URL, NOON, b"nothing")))
    assert bad == BadRow(
        f"a.warc.gz, offset {len(encode_record(INFO))}", "response has no HTTP header"
    )


def test_all_files_of_a_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    write(tmp_path, page("https://a.org/1"))
    write(tmp_path / "deep", page("https://a.org/2"), name="b.warc.gz")
    (tmp_path / "notes.txt").write_text("no archive")
    reader = warc.read(tmp_path)
    assert [item.url for item in reader] == ["https://a.org/1", "https://a.org/2"]
    assert reader.done == reader.total


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="there is no WARC file"):
        warc.read(tmp_path)
    with pytest.raises(BadInputError, match="there is no WARC file"):
        warc.read(tmp_path / "missing.warc.gz")
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"this is no archive at all\n" * 9)
    reader = warc.read(path)
    with pytest.raises(BadInputError, match="no record can be read"):
        list(reader)
