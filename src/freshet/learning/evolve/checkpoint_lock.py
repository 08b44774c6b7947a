"""The lock of a checkpoint: one evolution at a time, released when its process ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from freshet.core.errors import LockedError, NoSpaceError
from freshet.core.files import PRIVATE_FILE_MODE


@contextmanager
def lock_checkpoint(checkpoint: Path | None) -> Iterator[None]:
    """Lock a checkpoint, if there is one; raise LockedError if another evolution has the lock."""
    if checkpoint is None:
        yield
        return
    path = checkpoint.resolve()
    lock = path.with_name(f".{path.name}.lock")
    file = _acquire(lock, checkpoint)
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(file)


def _acquire(lock: Path, checkpoint: Path) -> int:
    """Return the descriptor of the locked file."""
    while True:
        try:
            file = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE_MODE)
        except OSError as error:
            raise NoSpaceError(
                f"{checkpoint}: cannot be written ({error.strerror}); choose another"
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(file)
            raise LockedError(
                f"{checkpoint}: another evolution uses this checkpoint; wait until it ends, or "
                "give another --out"
            ) from error
        if _is_same_file(file, lock):
            return file
        os.close(file)


def _is_same_file(file: int, path: Path) -> bool:
    """Whether a path still leads to a file; another process may have deleted it meanwhile."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
