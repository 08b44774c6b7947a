"""Durable changes to files and folders, and the errors for failed writes."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from freshet.core.errors import NoSpaceError, StorageError
from freshet.core.files import open_private

COPY_BYTES = 1_048_576

_NO_SPACE_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES})


def storage_error(error: OSError, path: Path) -> StorageError:
    """Return the FreshetError for a system error during a write to the archive."""
    if error.errno in _NO_SPACE_ERRORS:
        return NoSpaceError(
            f"{path} cannot be written: {error.strerror}; free disk space or allow writing"
        )
    return StorageError(
        f"{path} failed: {error.strerror}; check the disk, then run 'freshet check'"
    )


def sync_folder(folder: Path) -> None:
    """Make created, renamed and removed names in a folder durable."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def rename_durably(path: Path, final_path: Path) -> None:
    """Rename a file durably; refuse to replace another file."""
    if final_path.exists():
        raise StorageError(f"{final_path} already exists; move it away, then try again")
    path.rename(final_path)
    sync_folder(final_path.parent)


def read_range(path: Path, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a file between two offsets; stop at the end of the file."""
    with path.open("rb") as file:
        file.seek(start)
        while start < end and (chunk := file.read(min(COPY_BYTES, end - start))):
            start += len(chunk)
            yield chunk


def save_range(path: Path, start: int, end: int, target: Path) -> None:
    """Copy a range of a file into a new file, durably."""
    try:
        with open(target, "wb", opener=open_private) as file:
            file.writelines(read_range(path, start, end))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(target.parent)
    except OSError as error:
        raise storage_error(error, target) from error
