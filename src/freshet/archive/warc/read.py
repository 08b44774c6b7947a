"""Read archive files: one record by its offset, or all records in bounded memory.

Supported are uncompressed files, gzip files with one or several records per member, and ARC. A bad
record becomes an ArchiveFault, and reading continues with the next record that can be found.
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
    """Yield every record of an archive file, and an ArchiveFault for every unreadable position.

    ``start`` is the offset of the first record to read; at most ``keep_bytes`` of a block are kept.
    """
    path = _existing_path(path)
    with _open_archive(path) as file:
        opening = file.read(CHUNK_BYTES)
        is_gzip = opening.startswith(GZIP_MAGIC)
        content = decompress_start(opening, len(ARC_START)) if is_gzip else opening
        if content.startswith(ARC_START):
            yield from scan_arc_records(path, file, keep_bytes)
        elif is_gzip or (path.name.endswith(_GZIP_NAMES) and not content.startswith(RECORD_START)):
            yield from scan_gzip_records(path, file, start, keep_bytes)
        else:
            yield from scan_plain_records(path, file, start, keep_bytes)


def closed_name(path: PurePath) -> str:
    """Return the final name of an archive file, also for a file that is still being written.

    >>> closed_name(PurePath("archive/news.warc.gz.open"))
    'news.warc.gz'
    """
    return path.name.removesuffix(OPEN_SUFFIX)


def archive_files(folder: Path) -> list[Path]:
    """Return the WARC files of an archive folder, including a file that is still being written."""
    return sorted([*folder.glob("*.warc.gz"), *folder.glob(f"*.warc.gz{OPEN_SUFFIX}")])


def read_record(path: Path, offset: int, length: int | None = None) -> WarcRecord:
    """Return the record at an offset; the file may still be open for writing."""
    path = _existing_path(path)
    with _open_archive(path) as file:
        file.seek(offset)
        record_file = file if length is None else io.BytesIO(file.read(length))
        item = _read_first(path, record_file)
    if isinstance(item, ArchiveFault):
        raise _damaged_error(path, offset, item.problem)
    if length is not None and item.length != length:
        raise _damaged_error(path, offset, f"record is {item.length} bytes long, not {length}")
    return item.record


def _read_first(path: Path, file: BinaryIO) -> RecordOrFault:
    offset = file.tell()
    scan = scan_gzip_records if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC else scan_plain_records
    no_record = ArchiveFault(path.name, offset, "there is no record")
    return next(scan(path, file, offset, MAX_BLOCK_BYTES), no_record)


def _damaged_error(path: Path, offset: int, problem: str) -> DamagedError:
    return DamagedError(f"{path.name}, offset {offset}: {problem}; run 'freshet check --repair'")


def _existing_path(path: Path) -> Path:
    """Return the path under which a file exists: the final one, or the one during writing."""
    open_path = path.with_name(path.name + OPEN_SUFFIX)
    return open_path if not path.exists() and open_path.exists() else path


@contextmanager
def _open_archive(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb", buffering=0) as file:
            yield file
    except FileNotFoundError as error:
        raise NotFoundError(
            f"{path} does not exist; run 'freshet check' to see what is missing"
        ) from error
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be read: {error.strerror}; check the file and disk"
        ) from error
