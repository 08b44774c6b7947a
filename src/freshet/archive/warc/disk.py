"""Durable changes to files and folders, and the words for what can go wrong with them."""

import errno
import os
from pathlib import Path

from freshet.core.errors import NoSpace, StorageError

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES})


def storage_error(error: OSError, path: Path) -> StorageError:
    """Say what the system's error means for the archive."""
    if error.errno in _NO_SPACE:
        return NoSpace(
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


def rename(path: Path, final: Path) -> None:
    """Give a file its final name, durably, and never at another file's cost."""
    if final.exists():
        raise StorageError(f"{final} is already there; move it away, then try again")
    path.rename(final)
    sync_folder(final.parent)
