"""Finding the records of a file one after the other, past damage where there is any."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from freshet.archive.warc.byte_stream import ByteStream
from freshet.archive.warc.gzip_member import (
    CHUNK_BYTES,
    GZIP_MAGIC,
    GzipMemberReader,
    decompress_start,
    header_fault,
)
from freshet.archive.warc.located_record import ArchiveFault, LocatedRecord, RecordOrFault
from freshet.archive.warc.parse import RECORD_START, ParsedRecord, RecordParser
from freshet.archive.warc.record import RECORD_END
from freshet.core.errors import DamagedError

_PLAIN_START = re.compile(rb"\nWARC/\d\.\d[ \t]{0,9}\r?\n[^\s:]{1,64}:")
_MEMBER_START = re.compile(re.escape(GZIP_MAGIC))
_OVERLAP_BYTES = 128
_PROBE_BYTES = 4096
# What reading damaged records may cost, in bytes for each byte of the file: records that lie about
# their length can overlap, and each would be read to its end.
_EFFORT = 64
_EFFORT_BYTES = 64_000_000
_GIVEN_UP = "damaged records overlap here over and over; the rest of the file is not read"
_SHARED = "record shares its gzip member with other records"


def scan_gzip_records(path: Path, file: BinaryIO, start: int, keep: int) -> Iterator[RecordOrFault]:
    """Yield the records of a gzipped file from an offset on."""
    walk = GzipMemberReader(file, start)
    effort = _EFFORT * file.seek(0, 2) + _EFFORT_BYTES
    walk.seek(start)
    while opening := walk.next_header():
        parser = RecordParser(ByteStream(walk.content_chunks()), keep)
        try:
            if opening[: len(GZIP_MAGIC)] != GZIP_MAGIC[: len(opening)]:
                raise DamagedError("bytes that are no gzip member")
            yield from _member_records(path, walk, parser, opening)
        except DamagedError as error:
            yield ArchiveFault(path.name, walk.start, str(error), parser.record_id)
            effort -= parser.position
            if effort < 0:
                yield ArchiveFault(path.name, walk.start, _GIVEN_UP)
                return
            walk.seek(_next_member(file, walk.start + 1))


def scan_plain_records(
    path: Path, file: BinaryIO, start: int, keep: int
) -> Iterator[RecordOrFault]:
    """Yield the records of a file without compression from an offset on."""
    end = file.seek(0, 2)
    effort = _EFFORT * end + _EFFORT_BYTES
    while start < end:
        if effort < 0:
            yield ArchiveFault(path.name, start, _GIVEN_UP)
            return
        file.seek(start)
        parser = RecordParser(ByteStream(_chunks(file)), keep, available=end - start)
        try:
            yield from _run_of_records(path, parser, start)
            start = end
        except DamagedError as error:
            fault = ArchiveFault(path.name, start + parser.start, str(error), parser.record_id)
            yield fault
            effort -= parser.position - parser.start
            start = next(_places(file, _PLAIN_START, fault.offset), end - 1) + 1


def _member_records(
    path: Path, walk: GzipMemberReader, parser: RecordParser, opening: bytes
) -> Iterator[RecordOrFault]:
    parsed = parser.next()
    if parser.at_end():
        problems = (header_fault(opening), _gap_fault(parsed, is_alone=True))
        yield _found(path, walk.start, parsed, problems, walk.end - walk.start)
        return
    yield _found(path, walk.start, parsed, (_SHARED,))
    while not parser.at_end():
        yield _found(path, walk.start, parser.next(), (_SHARED,))


def _run_of_records(path: Path, parser: RecordParser, start: int) -> Iterator[RecordOrFault]:
    while not parser.at_end():
        parsed = parser.next()
        length = parser.position - parser.start
        problems = (_gap_fault(parsed),)
        yield _found(path, start + parser.start, parsed, problems, length, gzip=False)


def _gap_fault(parsed: ParsedRecord, *, is_alone: bool = False) -> str | None:
    """Say how a record ends wrongly; Heritrix ends an empty one that is alone with less."""
    if parsed.trailer == RECORD_END or (is_alone and parsed.block.size == 0):
        return None
    return f"record ends with {parsed.trailer!r} instead of {RECORD_END!r}"


def _found(
    path: Path,
    offset: int,
    parsed: ParsedRecord,
    problems: tuple[str | None, ...],
    length: int = 0,
    *,
    gzip: bool = True,
) -> RecordOrFault:
    if parsed.record is None:
        return ArchiveFault(path.name, offset, parsed.fault)
    present = tuple(problem for problem in problems if problem)
    return LocatedRecord(
        parsed.record,
        path,
        offset,
        length,
        parsed.block.size,
        is_copyable=gzip and length > 0 and not present,
        block_sha1=parsed.block.sha1,
        problems=present,
    )


def _next_member(file: BinaryIO, after: int) -> int:
    """Return where the next gzip member with a record starts, or the file's end."""
    for place in _places(file, _MEMBER_START, after):
        file.seek(place)
        if decompress_start(file.read(_PROBE_BYTES), len(RECORD_START)) == RECORD_START:
            return place
    return file.seek(0, 2)


def _places(file: BinaryIO, pattern: re.Pattern[bytes], start: int) -> Iterator[int]:
    """Yield every offset at which a short pattern occurs, reading the file in chunks."""
    size = _PROBE_BYTES
    while True:
        file.seek(start)
        chunk = file.read(size)
        size = min(2 * size, CHUNK_BYTES)
        yield from (start + found.start() for found in pattern.finditer(chunk))
        if len(chunk) <= _OVERLAP_BYTES:
            return
        start += len(chunk) - _OVERLAP_BYTES


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yield what follows, little at first, because a damaged record is often left soon."""
    size = _PROBE_BYTES
    while chunk := file.read(size):
        yield chunk
        size = min(2 * size, CHUNK_BYTES)
