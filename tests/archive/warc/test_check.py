"""Faults that the strict check reports beside missing and altered bytes."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

from freshet.archive.warc.build import build_resource, build_response
from freshet.archive.warc.digest import matches_digest
from freshet.archive.warc.located_record import ArchiveFault
from freshet.archive.warc.record import WarcRecord, encode_record
from tests.archive.warc.file_check import check_file
from tests.archive.warc.warc_samples import HTTP, NOW, URL, small_file, visit

SHA1_OF_NOTHING = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


def problems_of(path: Path, content: bytes) -> list[str]:
    path.write_bytes(content)
    return [fault.problem for fault in check_file(path)]


def with_digest(name: str, value: str, block: bytes = HTTP) -> bytes:
    date = datetime(2020, 1, 1, tzinfo=UTC)
    headers = (("Content-Type", "application/http; msgtype=response"), (name, value))
    return encode_record(WarcRecord("response", "urn:uuid:1", date, URL, headers, block))


def test_a_file_of_ours_has_no_faults(tmp_path: Path) -> None:
    content = b"".join(encode_record(record) for record in visit())
    assert problems_of(tmp_path / "a.warc.gz", content) == []


def test_a_wrong_block_digest_is_a_fault(tmp_path: Path) -> None:
    content = with_digest("WARC-Block-Digest", SHA1_OF_NOTHING)
    assert problems_of(tmp_path / "a.warc.gz", content) == [
        "block does not match its WARC-Block-Digest"
    ]


def test_a_wrong_payload_digest_is_a_fault(tmp_path: Path) -> None:
    content = with_digest("WARC-Payload-Digest", SHA1_OF_NOTHING)
    [problem] = problems_of(tmp_path / "a.warc.gz", content)
    assert problem == "payload does not match its WARC-Payload-Digest"


def test_a_payload_digest_may_leave_out_the_chunked_coding(tmp_path: Path) -> None:
    block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    content = with_digest("WARC-Payload-Digest", SHA1_OF_NOTHING, block)
    assert problems_of(tmp_path / "a.warc.gz", content) == []


def test_digests_in_other_spellings_are_understood() -> None:
    assert matches_digest("SHA-1:da39a3ee5e6b4b0d3255bfef95601890afd80709", b"")
    assert matches_digest("md5:d41d8cd98f00b204e9800998ecf8427e", b"")
    assert matches_digest("blake3:whatever", b"")
    assert not matches_digest("sha1:!", b"")


def test_an_id_used_twice_is_a_fault_within_and_across_files(tmp_path: Path) -> None:
    member = encode_record(build_response(URL, NOW, HTTP))
    path = tmp_path / "a.warc.gz"
    assert problems_of(path, member + member) == ["record id is used twice"]
    path.write_bytes(member)
    seen_uids: set[bytes] = set()
    assert [list(check_file(path, seen_uids=seen_uids)) == [] for _ in range(2)] == [True, False]


def test_a_length_that_is_off_by_a_line_end_is_a_fault(tmp_path: Path) -> None:
    head = "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <x>\r\nWARC-Date: 2020-01-01\r\n"
    for length in (0, 1, 2, 4, 5, 7, 8):
        content = f"{head}Content-Length: {length}\r\n\r\none\r\n\r\n".encode()
        assert len(problems_of(tmp_path / "a.warc.gz", gzip.compress(content, mtime=0))) == 1, (
            length
        )
        assert len(problems_of(tmp_path / "a.warc", content)) == 1, length


def test_records_that_share_a_member_are_faults(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    content = gzip.compress(gzip.decompress(path.read_bytes()))
    assert len(problems_of(path, content)) == 3


def test_trailing_garbage_is_a_fault(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    content = path.read_bytes()
    assert problems_of(path, content + b"\0" * 20) == ["these bytes are not a gzip member"]


def test_a_large_block_is_checked_without_being_kept(tmp_path: Path) -> None:
    record = build_resource(URL, NOW, bytes(70_000_000), "application/octet-stream")
    bad = (*record.headers[:-1], ("WARC-Block-Digest", SHA1_OF_NOTHING))
    path = tmp_path / "a.warc.gz"
    assert problems_of(path, encode_record(record)) == []
    bad_record = WarcRecord("resource", "urn:uuid:2", NOW, URL, bad, record.block)
    assert problems_of(path, encode_record(bad_record)) == [
        "block does not match its WARC-Block-Digest"
    ]


def test_a_fault_names_file_offset_reason_and_record() -> None:
    fault = ArchiveFault("news.warc.gz", 812, "record is cut short", "urn:uuid:1")
    assert str(fault) == "news.warc.gz, offset 812: record is cut short (urn:uuid:1)"
