"""Find the records of a file one after another, and continue behind damage."""

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

_PLAIN_RECORD_START = re.compile(rb"\nWARC/\d\.\d[ \t]{0,9}\r?\n[^\s:]{1,64}:")
_GZIP_MEMBER_START = re.compile(re.escape(GZIP_MAGIC))
_OVERLAP_BYTES = 128
_PROBE_BYTES = 4096
# Records with a false length can overlap, and each would be read to its end. The total number of
# bytes read from damaged records is limited to this factor of the file size plus a constant.
_MAX_REREAD_FACTOR = 64
_EXTRA_REREAD_BYTES = 64_000_000
_TOO_MUCH_OVERLAP = "damaged records overlap too often here; the rest of the file is not read"
_SHARED_MEMBER = "record shares its gzip member with other records"


def scan_gzip_records(
    path: Path, file: BinaryIO, start: int, keep_bytes: int
) -> Iterator[RecordOrFault]:
    """Yield the records of a gzip file from an offset on."""
    members = GzipMemberReader(file, start)
    reread_budget = _MAX_REREAD_FACTOR * file.seek(0, 2) + _EXTRA_REREAD_BYTES
    members.seek(start)
    while header := members.next_header():
        parser = RecordParser(ByteStream(members.content_chunks()), keep_bytes)
        try:
            if header[: len(GZIP_MAGIC)] != GZIP_MAGIC[: len(header)]:
                raise DamagedError("these bytes are not a gzip member")
            yield from _member_records(path, members, parser, header)
        except DamagedError as error:
            yield ArchiveFault(path.name, members.start, str(error), parser.record_id)
            reread_budget -= parser.position
            if reread_budget < 0:
                yield ArchiveFault(path.name, members.start, _TOO_MUCH_OVERLAP)
                return
            members.seek(_next_record_member(file, members.start + 1))


def scan_plain_records(
    path: Path, file: BinaryIO, start: int, keep_bytes: int
) -> Iterator[RecordOrFault]:
    """Yield the records of an uncompressed file from an offset on."""
    end = file.seek(0, 2)
    reread_budget = _MAX_REREAD_FACTOR * end + _EXTRA_REREAD_BYTES
    while start < end:
        if reread_budget < 0:
            yield ArchiveFault(path.name, start, _TOO_MUCH_OVERLAP)
            return
        file.seek(start)
        parser = RecordParser(ByteStream(_growing_chunks(file)), keep_bytes, available=end - start)
        try:
            yield from _consecutive_records(path, parser, start)
            start = end
        except DamagedError as error:
            fault = ArchiveFault(path.name, start + parser.start, str(error), parser.record_id)
            yield fault
            reread_budget -= parser.position - parser.start
            start = next(_match_offsets(file, _PLAIN_RECORD_START, fault.offset), end - 1) + 1


def _member_records(
    path: Path, members: GzipMemberReader, parser: RecordParser, header: bytes
) -> Iterator[RecordOrFault]:
    parsed = parser.parse_next()
    if parser.at_end():
        problems = (header_fault(header), _trailer_fault(parsed, is_alone=True))
        yield _located_or_fault(path, members.start, parsed, problems, members.end - members.start)
        return
    yield _located_or_fault(path, members.start, parsed, (_SHARED_MEMBER,))
    while not parser.at_end():
        yield _located_or_fault(path, members.start, parser.parse_next(), (_SHARED_MEMBER,))


def _consecutive_records(path: Path, parser: RecordParser, start: int) -> Iterator[RecordOrFault]:
    while not parser.at_end():
        parsed = parser.parse_next()
        length = parser.position - parser.start
        problems = (_trailer_fault(parsed),)
        yield _located_or_fault(path, start + parser.start, parsed, problems, length, is_gzip=False)


def _trailer_fault(parsed: ParsedRecord, *, is_alone: bool = False) -> str | None:
    """Return the fault of a record's trailer; Heritrix ends an empty record with less."""
    if parsed.trailer == RECORD_END or (is_alone and parsed.block.size == 0):
        return None
    return f"record ends with {parsed.trailer!r} instead of {RECORD_END!r}"


def _located_or_fault(
    path: Path,
    offset: int,
    parsed: ParsedRecord,
    problems: tuple[str | None, ...],
    length: int = 0,
    *,
    is_gzip: bool = True,
) -> RecordOrFault:
    if parsed.record is None:
        return ArchiveFault(path.name, offset, parsed.fault)
    actual_problems = tuple(problem for problem in problems if problem)
    return LocatedRecord(
        parsed.record,
        path,
        offset,
        length,
        parsed.block.size,
        is_copyable=is_gzip and length > 0 and not actual_problems,
        block_sha1=parsed.block.sha1,
        problems=actual_problems,
    )


def _next_record_member(file: BinaryIO, after: int) -> int:
    """Return the offset of the next gzip member that holds a record, or the end of the file."""
    for offset in _match_offsets(file, _GZIP_MEMBER_START, after):
        file.seek(offset)
        if decompress_start(file.read(_PROBE_BYTES), len(RECORD_START)) == RECORD_START:
            return offset
    return file.seek(0, 2)


def _match_offsets(file: BinaryIO, pattern: re.Pattern[bytes], start: int) -> Iterator[int]:
    """Yield every offset at which a short pattern occurs; the file is read in chunks."""
    size = _PROBE_BYTES
    while True:
        file.seek(start)
        chunk = file.read(size)
        size = min(2 * size, CHUNK_BYTES)
        yield from (start + match.start() for match in pattern.finditer(chunk))
        if len(chunk) <= _OVERLAP_BYTES:
            return
        start += len(chunk) - _OVERLAP_BYTES


def _growing_chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of the file in growing chunks, because reading often stops early at damage."""
    size = _PROBE_BYTES
    while chunk := file.read(size):
        yield chunk
        size = min(2 * size, CHUNK_BYTES)
