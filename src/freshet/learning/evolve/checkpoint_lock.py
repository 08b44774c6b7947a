"""One evolution at a time for a checkpoint: a lock that dies with its holder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from freshet.core.errors import LockedError, NoSpaceError
from freshet.core.files import PRIVATE_FILE_MODE


@contextmanager
def lock_checkpoint(checkpoint: Path | None) -> Iterator[None]:
    """Keep others from the same checkpoint; raise Locked where another has it."""
    if checkpoint is None:
        yield
        return
    path = checkpoint.resolve()
    lock = path.with_name(f".{path.name}.lock")
    file = _taken(lock, checkpoint)
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(file)


def _taken(lock: Path, checkpoint: Path) -> int:
    """Return the lock's file, which is ours alone."""
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
                f"{checkpoint}: another evolution is keeping its work here; wait until it ends, or "
                "give another --out"
            ) from error
        if _is_file_of(file, lock):
            return file
        os.close(file)


def _is_file_of(file: int, path: Path) -> bool:
    """Say whether a path still leads to a file: its holder may just have taken it away."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
