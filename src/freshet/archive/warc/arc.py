"""Read ARC files, the predecessor of WARC, as WARC records with stable record ids."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO
from uuid import NAMESPACE_URL, uuid5

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import DecompressingBufferedReader
from warcio.exceptions import ArchiveLoadFailed

from freshet.archive.warc.byte_stream import ByteStream, RecordBlock
from freshet.archive.warc.digest import sha1
from freshet.archive.warc.gzip_member import CHUNK_BYTES
from freshet.archive.warc.located_record import ArchiveFault, LocatedRecord, RecordOrFault
from freshet.archive.warc.parse import MAX_HEAD_BYTES
from freshet.archive.warc.record import WarcRecord, parse_date

ARC_START = b"filedesc://"

_COPIED_FIELDS = frozenset({"warc-ip-address", "warc-filename", "content-type"})


class _BoundedReader(DecompressingBufferedReader):  # type: ignore[misc]
    """A warcio reader that refuses very long lines, because warcio holds a line in memory."""

    def readline(self, length: int | None = None) -> bytes:
        line: bytes = super().readline(length or MAX_HEAD_BYTES)
        if len(line) >= MAX_HEAD_BYTES:
            raise ArchiveLoadFailed(f"a line has more than {MAX_HEAD_BYTES:,} bytes")
        return line


class _QuietIterator(ArchiveIterator):  # type: ignore[misc]
    """A warcio iterator that prints nothing to standard error.

    Warcio would print bytes of the file, which can hold terminal control sequences.
    """

    INC_RECORD = ""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, no_record_parse=True, arc2warc=True)
        self.reader = _BoundedReader(file)


def scan_arc_records(path: Path, file: BinaryIO, keep_bytes: int) -> Iterator[RecordOrFault]:
    """Yield the records of an ARC file as WARC records."""
    file.seek(0)
    arc_iterator = _QuietIterator(file)
    try:
        for arc_record in arc_iterator:
            # get_record_offset reads past the block, so the block must be read first.
            chunks = iter(partial(arc_record.raw_stream.read, CHUNK_BYTES), b"")
            block = ByteStream(chunks).read_block(sys.maxsize, keep_bytes)
            offset = arc_iterator.get_record_offset()
            yield _convert(path, offset, arc_record.rec_headers.headers, block)
    except (ArchiveLoadFailed, EOFError, ValueError) as error:
        yield ArchiveFault(path.name, file.tell(), f"ARC record cannot be read ({error})")


def _convert(
    path: Path, offset: int, fields: list[tuple[str, str]], block: RecordBlock
) -> RecordOrFault:
    """Return the WARC record of an ARC record; its id depends on its position and content."""
    first_values = {name.lower(): value for name, value in reversed(fields)}
    date = parse_date(first_values.get("warc-date", ""))
    if date is None:
        return ArchiveFault(path.name, offset, "ARC record has no date")
    target_uri = first_values.get("warc-target-uri", "")
    identity_text = f"{offset} {date.isoformat()} {target_uri} {sha1(block.data).hex()}"
    record_id = uuid5(NAMESPACE_URL, identity_text).urn
    headers = tuple(field for field in fields if field[0].lower() in _COPIED_FIELDS)
    record_type = first_values.get("warc-type", "response")
    record = WarcRecord(record_type, record_id, date, target_uri, headers, block.data)
    return LocatedRecord(record, path, offset, 0, block.size)
