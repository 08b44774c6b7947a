"""Durable changes to files and folders, and the words for what can go wrong with them."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from freshet.core.errors import NoSpaceError, StorageError
from freshet.core.files import open_private

COPY_BYTES = 1_048_576

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES})


def storage_error(error: OSError, path: Path) -> StorageError:
    """Say what the system's error means for the archive."""
    if error.errno in _NO_SPACE:
        return NoSpaceError(
            f"{path} cannot be written: {error.strerror}; free space or allow writing, then go on"
        )
    return StorageError(f"{path} failed: {error.strerror}; check the disk, then 'freshet check'")


def sync_folder(folder: Path) -> None:
    """Make created, renamed and removed names in a folder durable."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def rename_durably(path: Path, final: Path) -> None:
    """Give a file its final name, durably, and never at another file's cost."""
    if final.exists():
        raise StorageError(f"{final} is already there; move it away, then try again")
    path.rename(final)
    sync_folder(final.parent)


def read_range(path: Path, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a file from one offset up to another, as far as there are any."""
    with path.open("rb") as file:
        file.seek(start)
        while start < end and (chunk := file.read(min(COPY_BYTES, end - start))):
            start += len(chunk)
            yield chunk


def save_range(path: Path, start: int, end: int, aside: Path) -> None:
    """Copy a stretch of a file into a file of its own, durably."""
    try:
        with open(aside, "wb", opener=open_private) as file:
            file.writelines(read_range(path, start, end))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(aside.parent)
    except OSError as error:
        raise storage_error(error, aside) from error
