"""ARC, the format before WARC, read through warcio and given stable record ids."""

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

_ALL = sys.maxsize
_KEPT_FIELDS = frozenset({"warc-ip-address", "warc-filename", "content-type"})


class _BoundedReader(DecompressingBufferedReader):  # type: ignore[misc]
    """Refuses lines without end, which would be held in memory."""

    def readline(self, length: int | None = None) -> bytes:
        line: bytes = super().readline(length or MAX_HEAD_BYTES)
        if len(line) >= MAX_HEAD_BYTES:
            raise ArchiveLoadFailed(f"a line of it has more than {MAX_HEAD_BYTES:,} bytes")
        return line


class _QuietIterator(ArchiveIterator):  # type: ignore[misc]
    """Writes nothing to standard error, where a file's bytes could steer a terminal."""

    INC_RECORD = ""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, no_record_parse=True, arc2warc=True)
        self.reader = _BoundedReader(file)


def scan_arc_records(path: Path, file: BinaryIO, keep: int) -> Iterator[RecordOrFault]:
    """Yield the records of an ARC file as WARC records."""
    file.seek(0)
    walk = _QuietIterator(file)
    try:
        for entry in walk:
            # Asking warcio for the offset reads past the block: the block comes first.
            block = ByteStream(iter(partial(entry.raw_stream.read, CHUNK_BYTES), b"")).read_block(
                _ALL, keep
            )
            yield _located(path, walk.get_record_offset(), entry.rec_headers.headers, block)
    except (ArchiveLoadFailed, EOFError, ValueError) as error:
        yield ArchiveFault(path.name, file.tell(), f"ARC record cannot be read ({error})")


def _located(
    path: Path, offset: int, fields: list[tuple[str, str]], block: RecordBlock
) -> RecordOrFault:
    first = {name.lower(): value for name, value in reversed(fields)}
    date = parse_date(first.get("warc-date", ""))
    if date is None:
        return ArchiveFault(path.name, offset, "ARC record has no date")
    target = first.get("warc-target-uri", "")
    name = f"{offset} {date.isoformat()} {target} {sha1(block.data).hex()}"
    identity = uuid5(NAMESPACE_URL, name).urn
    headers = tuple(pair for pair in fields if pair[0].lower() in _KEPT_FIELDS)
    record = WarcRecord(
        first.get("warc-type", "response"), identity, date, target, headers, block.data
    )
    return LocatedRecord(record, path, offset, 0, block.size)
