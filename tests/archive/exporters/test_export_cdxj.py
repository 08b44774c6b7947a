"""Export of the CDXJ index for replay programs."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.archive.disk_index import sort_lines
from freshet.archive.exporters import cdxj
from freshet.archive.warc.build import (
    RevisitOriginal,
    build_identical_revisit,
    build_metadata,
    build_not_modified_revisit,
    build_request,
    build_resource,
    build_response,
)
from freshet.archive.warc.digest import format_digest, sha1
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.record import WarcRecord

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
URL = "https://a.org/"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
ORIGINAL = RevisitOriginal("urn:uuid:1", URL, NOON, format_digest(sha1(b"x")))


def located(record: WarcRecord, name: str = "a.warc.gz") -> LocatedRecord:
    return LocatedRecord(record, Path(name), 333, 1043, len(record.block))


def page(url: str = URL, date: datetime = NOON) -> WarcRecord:
    return build_response(url, date, HEAD + b"x")


def written_lines(path: Path, *records: WarcRecord) -> list[str]:
    located_records = [located(record) for record in records]
    assert cdxj.write(path, located_records) == len(path.read_text().splitlines())
    return path.read_text().splitlines()


def fields(line: str) -> dict[str, str]:
    return json.loads(line.split(" ", 2)[2])


def test_a_line_has_key_time_and_record_location(tmp_path: Path) -> None:
    (line,) = written_lines(tmp_path / "index.cdxj", page())
    assert line.split(" ")[:2] == ["org,a)/", "20240501120000"]
    assert fields(line) == {
        "url": "https://a.org/",
        "mime": "text/html",
        "status": "200",
        "digest": format_digest(sha1(b"x")),
        "length": "1043",
        "offset": "333",
        "filename": "a.warc.gz",
    }


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://user:pw@w.org/sec", "http://w.org/sec"),
        ("HTTP://user:p'w@w.org/sec", "HTTP://w.org/sec"),
        ("http://user@pw@w.org/sec?a@b", "http://w.org/sec?a@b"),
        ("http://user:pw@no host/", "http://no host/"),
    ],
)
def test_a_line_has_no_password_of_an_imported_url(tmp_path: Path, url: str, shown: str) -> None:
    (line,) = written_lines(tmp_path / "index.cdxj", page(url))
    assert fields(line)["url"] == shown
    assert "user" not in line


def test_lines_are_in_order_of_key_then_time(tmp_path: Path) -> None:
    late = page(date=NOON.replace(year=2025))
    lines = written_lines(
        tmp_path / "index.cdxj", page("https://b.org/"), page("https://a.org/b"), late, page()
    )
    assert lines == sorted(lines)
    assert [line.split(" ")[0] for line in lines] == ["org,a)/", "org,a)/", "org,a)/b", "org,b)/"]


def test_requests_and_metadata_have_no_line(tmp_path: Path) -> None:
    answer = page()
    beside = [
        build_request(b"GET / HTTP/1.1\r\n\r\n", response=answer),
        build_metadata({"a": "b"}, about=answer),
    ]
    assert len(written_lines(tmp_path / "index.cdxj", answer, *beside)) == 1


def test_the_media_type_of_a_revisit_is_warc_revisit(tmp_path: Path) -> None:
    same = build_identical_revisit(URL, NOON, HEAD, ORIGINAL, sha1(b"x"))
    unchanged = build_not_modified_revisit(URL, NOON, HEAD, ORIGINAL)
    for line in written_lines(tmp_path / "index.cdxj", same, unchanged):
        assert fields(line)["mime"] == "warc/revisit"
        assert fields(line)["status"] == "200"
        assert fields(line)["digest"] == format_digest(sha1(b"x"))


def test_a_resource_has_its_own_media_type_and_no_status(tmp_path: Path) -> None:
    (line,) = written_lines(
        tmp_path / "index.cdxj", build_resource(URL, NOON, b"x", "text/plain; a=b")
    )
    assert fields(line)["mime"] == "text/plain"
    assert "status" not in fields(line)


def test_a_file_that_is_being_written_has_the_name_it_will_have(tmp_path: Path) -> None:
    open_file = located(page(), "a.warc.gz.open")
    (line,) = cdxj.index_lines([open_file])
    assert fields(line.decode())["filename"] == "a.warc.gz"


@given(st.lists(st.binary()))
def test_lines_are_sorted_by_their_bytes_and_none_is_lost(lines: list[bytes]) -> None:
    assert list(sort_lines(lines)) == sorted(lines)
