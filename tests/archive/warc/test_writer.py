"""Files of the writer, and its behaviour when the disk fails."""

import errno
import os
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from freshet.archive.warc.build import (
    RevisitOriginal,
    build_identical_revisit,
    build_not_modified_revisit,
    build_resource,
    build_response,
)
from freshet.archive.warc.digest import sha1
from freshet.archive.warc.gzip_member import GZIP_HEADER
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import read_record, read_records
from freshet.archive.warc.record import encode_record
from freshet.archive.warc.writer import WarcWriter, WriteAt
from freshet.core.errors import BadInputError, NoSpaceError, StorageError
from tests.archive.warc.file_check import check_file
from tests.archive.warc.warc_samples import (
    CLOCK,
    HTTP,
    NOW,
    ORIGIN,
    URL,
    FastwarcIterator,
    small_file,
    visit,
)

HEAD = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"


def all_kinds(folder: Path) -> Path:
    original = RevisitOriginal("urn:uuid:00000000-0000-0000-0000-000000000001", URL, NOW)
    with WarcWriter(folder, ORIGIN, clock=CLOCK) as writer:
        places = writer.append([
            *visit(),
            build_resource(URL, NOW, b"text", "text/plain"),
            build_identical_revisit(URL, NOW, HEAD, original, sha1(b"<p>hello</p>")),
            build_not_modified_revisit(URL, NOW, HEAD, original),
        ])  # fmt: skip
    return folder / places[0].file


def test_warcio_reads_every_kind_and_finds_the_digests_right(tmp_path: Path) -> None:
    path = all_kinds(tmp_path)
    with path.open("rb") as file:
        records = []
        for record in WarcioIterator(file, check_digests="raise"):
            record.raw_stream.read()
            records.append(record.rec_type)
    assert records == [
        "warcinfo", "response", "request", "metadata", "resource", "revisit", "revisit",
    ]  # fmt: skip


def test_fastwarc_reads_every_kind_and_finds_the_digests_right(tmp_path: Path) -> None:
    path = all_kinds(tmp_path)
    records = list(FastwarcIterator(str(path), verify_digests=True))
    assert len(records) == 7
    places = [location.offset for location in read_records(path)]
    assert [record.stream_pos for record in records] == places


def test_a_record_is_one_gzip_member_without_a_time() -> None:
    member = encode_record(build_response(URL, NOW, HTTP))
    assert member.startswith(GZIP_HEADER)


def test_the_file_opens_with_who_wrote_it(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    opening = read_record(path, 0)
    assert opening.type == "warcinfo"
    assert opening.field("WARC-Filename") == path.name
    assert b"isPartOf: news\r\n" in opening.block
    assert b"conformsTo: http://iipc.github.io/" in opening.block


def test_request_and_metadata_point_to_the_response() -> None:
    answer, request, facts = visit()
    assert request.field("WARC-Concurrent-To") == f"<{answer.id}>"
    assert facts.field("WARC-Concurrent-To") == f"<{answer.id}>"


def test_a_revisit_names_its_original() -> None:
    original = RevisitOriginal("urn:uuid:00000000-0000-0000-0000-000000000001", URL, NOW)
    again = build_identical_revisit(URL, NOW, HEAD, original, sha1(b""))
    assert again.field("WARC-Refers-To") == f"<{original.record_id}>"
    assert again.field("WARC-Refers-To-Target-URI") == URL
    assert again.field("WARC-Refers-To-Date") == "2026-11-15T08:30:00.123456Z"
    assert again.field("WARC-Profile").endswith("identical-payload-digest")
    assert again.field("WARC-Payload-Digest") == "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


def test_a_file_is_open_until_the_writer_closes(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, ORIGIN, clock=CLOCK)
    [location] = writer.append([build_response(URL, NOW, HTTP)])
    writer.sync()
    assert (tmp_path / f"{location.file}.open").exists()
    assert read_record(tmp_path / location.file, location.offset, location.length).block == HTTP
    writer.close()
    assert [path.name for path in tmp_path.glob("*.warc.gz*")] == [location.file]


def test_a_full_file_is_followed_by_another(tmp_path: Path) -> None:
    with WarcWriter(tmp_path, ORIGIN, clock=CLOCK, max_bytes=600) as writer:
        places = [
            location
            for _ in range(4)
            for location in writer.append([build_response(URL, NOW, HTTP)])
        ]
    assert len({location.file for location in places}) > 1
    assert all(read_record(tmp_path / p.file, p.offset, p.length).target_uri == URL for p in places)


def test_a_writer_that_wrote_nothing_leaves_no_file(tmp_path: Path) -> None:
    with WarcWriter(tmp_path, ORIGIN, clock=CLOCK) as writer:
        assert writer.append([]) == []
        writer.sync()
    assert not list(tmp_path.glob("*.warc.gz*"))


def test_names_are_unique_even_when_the_clock_stands_still(tmp_path: Path) -> None:
    assert small_file(tmp_path) != small_file(tmp_path)


def test_a_foreign_member_is_copied_byte_for_byte(tmp_path: Path) -> None:
    path = small_file(tmp_path / "foreign", (b"one", b"two" * 1000))
    *_, last = read_records(path)
    raw = path.read_bytes()[last.offset :]
    with WarcWriter(tmp_path / "ours", ORIGIN, clock=CLOCK) as writer:
        [by_bytes] = writer.append([raw])
        by_range = writer.copy_range(path, last.offset, last.length)
    copied = (tmp_path / "ours" / by_bytes.file).read_bytes()
    for location in (by_bytes, by_range):
        assert copied[location.offset : location.offset + location.length] == raw


def test_a_range_beyond_the_file_appends_nothing(tmp_path: Path) -> None:
    path = small_file(tmp_path / "foreign")
    with WarcWriter(tmp_path / "ours", ORIGIN, clock=CLOCK) as writer:
        [location] = writer.append([build_response(URL, NOW, HTTP)])
        with pytest.raises(BadInputError, match="ends 1000 bytes before"):
            writer.copy_range(path, 0, path.stat().st_size + 1000)
        writer.append([build_response(URL, NOW, HTTP)])
    assert list(check_file(tmp_path / "ours" / location.file)) == []


def failing(after: int, error: int) -> WriteAt:
    """Return a write function that succeeds some times, then writes half, then fails once."""
    writes_left = [after]

    def write(file: int, data: bytes | memoryview, offset: int) -> int:
        writes_left[0] -= 1
        if writes_left[0] == -1:
            return os.pwrite(file, data[: len(data) // 2], offset)
        if writes_left[0] == -2:
            raise OSError(error, os.strerror(error))
        return os.pwrite(file, data, offset)

    return write


@pytest.mark.parametrize(
    ("error", "kind"), [(errno.ENOSPC, NoSpaceError), (errno.EIO, StorageError)]
)
def test_a_failed_write_leaves_whole_records_and_the_writer_goes_on(
    tmp_path: Path, error: int, kind: type[StorageError]
) -> None:
    writer = WarcWriter(tmp_path, ORIGIN, clock=CLOCK, write_at=failing(3, error))
    [first] = writer.append([build_response(URL, NOW, HTTP)])
    with pytest.raises(kind, match=r"\.warc\.gz\.open"):
        writer.append(visit())
    assert (tmp_path / f"{first.file}.open").stat().st_size == first.offset + first.length
    [second] = writer.append([build_response(URL, NOW, HTTP)])
    writer.close()
    assert second.offset == first.offset + first.length
    assert list(check_file(tmp_path / first.file)) == []


def test_a_disk_that_is_full_from_the_start_leaves_no_file(tmp_path: Path) -> None:
    with WarcWriter(tmp_path, ORIGIN, clock=CLOCK, write_at=failing(0, errno.ENOSPC)) as writer:
        with pytest.raises(NoSpaceError, match="free disk space"):
            writer.append([build_response(URL, NOW, HTTP)])
        assert not list(tmp_path.glob("*.warc.gz*"))
        writer.append([build_response(URL, NOW, HTTP)])
    assert len(list(tmp_path.glob("*.warc.gz"))) == 1


def test_short_writes_are_finished(tmp_path: Path) -> None:
    def drip(file: int, data: bytes | memoryview, offset: int) -> int:
        return os.pwrite(file, data[:7], offset)

    with WarcWriter(tmp_path, ORIGIN, clock=CLOCK, write_at=drip) as writer:
        [location] = writer.append([build_response(URL, NOW, HTTP)])
    assert list(check_file(tmp_path / location.file)) == []


def test_a_writer_accepts_only_a_lock_held_on_its_folder(tmp_path: Path) -> None:
    with ArchiveLock(tmp_path) as lock, WarcWriter(tmp_path, ORIGIN, lock=lock) as writer:
        writer.append([build_response(URL, NOW, HTTP)])
    with pytest.raises(StorageError, match="not held"):
        WarcWriter(tmp_path, ORIGIN, lock=lock)


def test_a_header_value_cannot_smuggle_in_another_header(tmp_path: Path) -> None:
    sly = build_response(
        URL, NOW, HTTP, headers=(("WARC-IP-Address", "::1\r\nWARC-Type: warcinfo"),)
    )
    with WarcWriter(tmp_path, ORIGIN, clock=CLOCK) as writer:
        [location] = writer.append([sly])
    assert read_record(tmp_path / location.file, location.offset).type == "response"


def test_the_next_file_has_the_announced_name(tmp_path: Path) -> None:
    with WarcWriter(tmp_path, ORIGIN, clock=CLOCK) as writer:
        name = writer.next_file_name()
        assert writer.next_file_name() == name
        assert not list(tmp_path.glob("*.warc.gz*"))
        [location] = writer.append([build_response(URL, NOW, HTTP)])
        assert location.file == name
        assert writer.next_file_name() != name
