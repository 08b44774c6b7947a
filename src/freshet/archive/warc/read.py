"""Reading archives: one record by its place, or all of them in flat memory.

Plain, one gzip member per record, many records in one member and ARC are all read. A bad record
becomes a Fault, and reading goes on with the next record that can be found.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import BinaryIO

from freshet.archive.warc.arc import ARC_START, scan_arc_records
from freshet.archive.warc.gzip_member import CHUNK_BYTES, GZIP_MAGIC, decompress_start
from freshet.archive.warc.located_record import ArchiveFault, RecordOrFault
from freshet.archive.warc.parse import RECORD_START
from freshet.archive.warc.record import WarcRecord
from freshet.archive.warc.scan import scan_gzip_records, scan_plain_records
from freshet.core.errors import BadInputError, DamagedError, NotFoundError

OPEN_SUFFIX = ".open"
MAX_BLOCK_BYTES = 67_108_864

_GZIP_NAMES = (".gz", ".gz" + OPEN_SUFFIX)


def read_records(
    path: Path, *, start: int = 0, keep_bytes: int = MAX_BLOCK_BYTES
) -> Iterator[RecordOrFault]:
    """Yield every record of an archive file, and a Fault for each place that holds none.

    ``start`` is the offset of a record to begin with; at most ``keep_bytes`` bytes of a block are kept.
    """
    path = _existing(path)
    with _opened(path) as file:
        opening = file.read(CHUNK_BYTES)
        packed = opening.startswith(GZIP_MAGIC)
        content = decompress_start(opening, len(ARC_START)) if packed else opening
        if content.startswith(ARC_START):
            yield from scan_arc_records(path, file, keep_bytes)
        elif packed or (path.name.endswith(_GZIP_NAMES) and not content.startswith(RECORD_START)):
            yield from scan_gzip_records(path, file, start, keep_bytes)
        else:
            yield from scan_plain_records(path, file, start, keep_bytes)


def closed_name(path: PurePath) -> str:
    """Return the name of an archive file once it is closed, also of one that is being written.

    >>> closed_name(PurePath("archive/news.warc.gz.open"))
    'news.warc.gz'
    """
    return path.name.removesuffix(OPEN_SUFFIX)


def archive_files(folder: Path) -> list[Path]:
    """Return the WARC files of an archive, also one that is being written."""
    return sorted([*folder.glob("*.warc.gz"), *folder.glob(f"*.warc.gz{OPEN_SUFFIX}")])


def read_record(path: Path, offset: int, length: int | None = None) -> WarcRecord:
    """Return the record at an offset, of a file that may still be open for writing."""
    path = _existing(path)
    with _opened(path) as file:
        file.seek(offset)
        whole = file if length is None else io.BytesIO(file.read(length))
        found = _first(path, whole)
    if isinstance(found, ArchiveFault):
        raise _damaged(path, offset, found.problem)
    if length is not None and found.length != length:
        raise _damaged(path, offset, f"record is {found.length} bytes long, not {length}")
    return found.record


def _first(path: Path, file: BinaryIO) -> RecordOrFault:
    begin = file.tell()
    scan = scan_gzip_records if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC else scan_plain_records
    nothing = ArchiveFault(path.name, begin, "no record is there")
    return next(scan(path, file, begin, MAX_BLOCK_BYTES), nothing)


def _damaged(path: Path, offset: int, what: str) -> DamagedError:
    return DamagedError(f"{path.name}, offset {offset}: {what}; run 'freshet check --repair'")


def _existing(path: Path) -> Path:
    """Return the name a file has: its final one, or the one it has while it is written."""
    still_open = path.with_name(path.name + OPEN_SUFFIX)
    return still_open if not path.exists() and still_open.exists() else path


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb", buffering=0) as file:
            yield file
    except FileNotFoundError as error:
        raise NotFoundError(
            f"{path} is not there; run 'freshet check' to see what is missing"
        ) from error
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be read: {error.strerror}; check the file and disk"
        ) from error
