"""Records are read back as written, and damage affects only the damaged record."""

import gzip
import io
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.archive.warc.build import build_resource, build_response
from freshet.archive.warc.gzip_member import GZIP_HEADER
from freshet.archive.warc.http_message import HttpPayload, parse_payload
from freshet.archive.warc.located_record import ArchiveFault, LocatedRecord
from freshet.archive.warc.read import read_record, read_records
from freshet.archive.warc.record import WarcRecord, encode_record, parse_date
from freshet.archive.warc.scan import scan_plain_records
from freshet.archive.warc.writer import WarcWriter
from freshet.core.errors import BadInputError, DamagedError, NotFoundError
from tests.archive.warc.warc_samples import CLOCK, HTTP, NOW, ORIGIN, URL, small_file, visit

PLAIN = (
    b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:%s>\r\n"
    b"WARC-Date: 2020-01-01T00:00:00Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
)
ARC_OPENING = (
    b"filedesc://a.arc 0.0.0.0 20140216050221 text/plain 75\n1 0 LiveWeb Capture\n"
    b"URL IP-address Archive-date Content-type Archive-length\n\n"
)


def plain_record(number: int, block: bytes, length: int | None = None) -> bytes:
    identity = b"00000000-0000-0000-0000-%012d" % number
    return PLAIN % (identity, len(block) if length is None else length, block)


def located_records(path: Path) -> list[LocatedRecord]:
    return [item for item in read_records(path) if isinstance(item, LocatedRecord)]


def faults(path: Path) -> list[ArchiveFault]:
    return [item for item in read_records(path) if isinstance(item, ArchiveFault)]


printable = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1)


@given(
    block=st.binary(),
    target=printable.map(lambda text: f"https://example.org/{text}"),
    headers=st.lists(st.tuples(st.from_regex(r"X-[A-Za-z]{1,8}", fullmatch=True), printable)),
    date=st.datetimes(min_value=datetime(1990, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    block: bytes,
    target: str,
    headers: list[tuple[str, str]],
    date: datetime,
) -> None:
    path = tmp_path_factory.mktemp("archive") / "a.warc.gz"
    record = WarcRecord("resource", "urn:uuid:0", date, target, tuple(headers), block)
    path.write_bytes(encode_record(record))
    [located] = located_records(path)
    assert located.record == record
    assert encode_record(located.record) == path.read_bytes()


def test_a_record_is_read_at_its_offset(tmp_path: Path) -> None:
    with WarcWriter(tmp_path, ORIGIN, clock=CLOCK) as writer:
        places = writer.append(visit())
    kinds = [read_record(tmp_path / p.file, p.offset, p.length).type for p in places]
    assert kinds == ["response", "request", "metadata"]
    assert read_record(tmp_path / places[1].file, places[1].offset).type == "request"


def test_a_wrong_offset_is_damage_with_advice(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    with pytest.raises(DamagedError, match=r"offset 3: .*; run 'freshet check --repair'"):
        read_record(path, 3)
    with pytest.raises(DamagedError, match="record is cut short"):
        read_record(path, 0, 50)
    with pytest.raises(DamagedError, match="bytes long, not"):
        read_record(path, 0, path.stat().st_size)
    with pytest.raises(DamagedError, match="there is no record"):
        read_record(path, path.stat().st_size)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"gone\.warc\.gz does not exist"):
        read_record(tmp_path / "gone.warc.gz", 0)
    with pytest.raises(BadInputError, match="cannot be read"):
        list(read_records(tmp_path))


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"")
    assert list(read_records(path)) == []


def test_plain_records_are_read_with_their_offsets(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(plain_record(1, b"one") + plain_record(2, b"two"))
    first, second = located_records(path)
    assert (first.record.block, second.record.block) == (b"one", b"two")
    assert second.offset == first.length
    assert not first.is_copyable
    assert read_record(path, second.offset, second.length) == second.record


@pytest.mark.parametrize("length", [0, 2, 8, 300, 10**15])
def test_a_wrong_length_in_a_plain_file_costs_one_record(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(
        plain_record(1, b"one") + plain_record(2, b"two", length) + plain_record(3, b"three")
    )
    assert [item.record.block for item in located_records(path)] == [b"one", b"three"]
    [fault] = faults(path)
    assert fault.offset == len(plain_record(1, b"one"))
    assert fault.record_id.endswith("02")


def test_many_records_in_one_member_are_read_but_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(plain_record(1, b"one") + plain_record(2, b"two")))
    assert [(item.record.block, item.is_copyable) for item in located_records(path)] == [
        (b"one", False),
        (b"two", False),
    ]


def test_arc_records_become_warc_records_with_stable_ids(tmp_path: Path) -> None:
    block = b"HTTP/1.1 200 OK\r\n\r\n<p>hi</p>"
    entry = b"http://example.org/ 1.2.3.4 20140216050221 text/html %d\n%s\n" % (len(block), block)
    path = tmp_path / "a.arc"
    path.write_bytes(ARC_OPENING + entry)
    [opening, page] = located_records(path)
    assert (opening.record.type, page.record.type) == ("warcinfo", "response")
    assert parse_payload(page.record).body == b"<p>hi</p>"
    assert page.record.date == datetime(2014, 2, 16, 5, 2, 21, tzinfo=UTC)
    assert [item.record.id for item in located_records(path)] == [opening.record.id, page.record.id]


def test_good_records_around_a_bad_one_are_kept(tmp_path: Path) -> None:
    path = small_file(tmp_path, (b"one", b"two", b"three"))
    content = bytearray(path.read_bytes())
    places = [item.offset for item in located_records(path)]
    content[places[2] + 30] ^= 0xFF
    path.write_bytes(content)
    assert [item.record.block for item in located_records(path)][1:] == [b"one", b"three"]
    assert [fault.offset for fault in faults(path)] == [places[2]]


def test_garbage_between_members_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    first_member, second_member = (
        encode_record(build_resource(URL, NOW, body, "text/plain")) for body in (b"one", b"two")
    )
    path.write_bytes(first_member + b"\x1f\x8b\x08garbage" + second_member + b"end")
    assert [item.record.block for item in located_records(path)] == [b"one", b"two"]
    assert [fault.offset for fault in faults(path)] == [len(first_member), path.stat().st_size - 3]


def test_a_record_without_a_mandatory_field_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    for name in (b"WARC-Type", b"WARC-Record-ID", b"WARC-Date", b"Content-Length"):
        path.write_bytes(
            plain_record(1, b"one").replace(name, b"X-Other") + plain_record(2, b"two")
        )
        assert name.decode() in faults(path)[0].problem
        assert [item.record.block for item in located_records(path)] == [b"two"]


def test_an_absurd_length_or_a_bomb_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    bomb = gzip.compress(plain_record(1, bytes(50_000_000)), compresslevel=1)
    path.write_bytes(gzip.compress(plain_record(2, b"two", 10**17)) + bomb)
    tracemalloc.start()
    lying, large = read_records(path, keep_bytes=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(lying, ArchiveFault)
    assert isinstance(large, LocatedRecord)
    assert (large.block_size, large.is_partial, len(large.record.block)) == (50_000_000, True, 1000)
    assert peak < 10_000_000


def test_unix_line_ends_and_brackets_are_tolerated(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    head = "WARC/0.18\nWARC-Type: resource\nWARC-Record-ID: <x>\nWARC-Date: 2008-10-294T05:21:46Z\n"
    path.write_bytes(f"{head}WARC-Target-URI: <{URL}>\nContent-Length: 4\n\na\r\n\r\n\n".encode())
    [item] = located_records(path)
    assert (item.record.target_uri, item.record.id) == (URL, "x")


@pytest.mark.parametrize("text", ["", "yesterday", "2020-13-01", "9999-99", "9999-12-999"])
def test_an_invalid_date_is_none(text: str) -> None:
    assert parse_date(text) is None


def http(block: bytes) -> HttpPayload:
    return parse_payload(build_response(URL, NOW, block))


def test_a_payload_has_status_headers_and_body() -> None:
    assert http(HTTP) == HttpPayload(200, (("Content-Type", "text/html"),), b"<p>hello</p>")


def test_a_content_coding_is_left_alone() -> None:
    packed = gzip.compress(b"<p>")
    block = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed
    assert http(block) == HttpPayload(200, (("Content-Encoding", "gzip"),), packed)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("block", "body"),
    [
        (CHUNKED + b"3\r\nabc\r\n0\r\n\r\n", b"abc"),
        (CHUNKED + b"3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n", b"abcde"),
        (CHUNKED + b"3\nabc\n0\n\n", b"abc"),
        (CHUNKED + b"a\r\nabc", b"abc"),
        (CHUNKED + b"3\r\nabc\r\n", b"abc"),
        (CHUNKED + b"not chunked at all", b"not chunked at all"),
        (CHUNKED + b"3\r\nabcdef", b"3\r\nabcdef"),
        (CHUNKED, b""),
        (b"HTTP/1.1 200 OK\r\n\r\n3\r\nabc\r\n0\r\n\r\n", b"abc"),
        (b"HTTP/1.1 200 OK\r\n\r\n3\r\nabc\r\n", b"3\r\nabc\r\n"),
    ],
)
def test_chunks_are_joined_where_there_are_chunks(block: bytes, body: bytes) -> None:
    assert http(block).body == body


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"HTTP/1.0 404\n\nx", HttpPayload(404, (), b"x")),
        (b"HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\nodd\r\n\r\nx", HttpPayload(200, (("A", "1 2"),), b"x")),
        (b"HTTP/1.1 200 OK\r\nA: \xe9\r\n\r\n", HttpPayload(200, (("A", "é"),), b"")),
        (b"HTTP/1.1 200 OK\r\nA: b", HttpPayload(200, (("A", "b"),), b"")),
        (b"HTTP/1.1 OK\r\n\r\nx", HttpPayload(None, (), b"x")),
    ],
)
def test_non_conforming_servers_are_understood(block: bytes, expected: HttpPayload) -> None:
    assert http(block) == expected


def test_a_resource_is_its_own_payload() -> None:
    record = build_resource(URL, NOW, b"text", "text/plain")
    assert parse_payload(record) == HttpPayload(None, (("Content-Type", "text/plain"),), b"text")


class CountingFile(io.BytesIO):
    """Counts the bytes that are read of it."""

    bytes_read = 0

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size)
        self.bytes_read += len(content)
        return content


@pytest.mark.parametrize(
    "line", [b"WARC/1.0\n", b"WARC/1.0\r\n", b"WARC/1.0\nContent-Length: 99999\n\n"]
)
def test_a_file_full_of_record_starts_is_read_in_linear_time(line: bytes) -> None:
    file = CountingFile(line * (200_000 // len(line)))
    faults = list(scan_plain_records(Path("a.warc"), file, 0, 1_000))
    assert all(isinstance(fault, ArchiveFault) for fault in faults)
    assert file.bytes_read < 100_000_000


def test_reading_stops_at_damaged_members_that_overlap_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freshet.archive.warc.scan._EXTRA_REREAD_BYTES", 0)
    start = GZIP_HEADER + b"\x00\xff\xff\x00\x00" + b"WARC/1.0\r\nContent-Length: 100000\r\n\r\n"
    path = tmp_path / "a.warc.gz"
    path.write_bytes(start * 8_000)
    *_, last = read_records(path)
    assert "the rest of the file is not read" in str(last)


def test_an_endless_line_of_an_arc_file_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.arc.gz"
    path.write_bytes(gzip.compress(ARC_OPENING + b"x" * 100_000_000, 1))
    tracemalloc.start()
    faults_found = faults(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "a line has more than 1,048,576 bytes" in faults_found[-1].problem
    assert peak < 70_000_000
