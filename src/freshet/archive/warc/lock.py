"""One writer at a time: a lock that dies with its holder."""

import fcntl
import json
import os
import sys
import time
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from freshet.core.clock import Clock, SystemClock
from freshet.core.errors import LockedError, NoSpaceError
from freshet.core.files import PRIVATE_FILE_MODE, make_private_folder
from freshet.core.local_time import format_to_second

LOCK_NAME = "writer.lock"
LOCK_ATTEMPTS = 5
PAUSE_SECONDS = 0.05


class ArchiveLock:
    """The right to append to an archive folder; the system frees it when its holder dies."""

    def __init__(
        self, folder: Path, *, command: str | None = None, clock: Clock | None = None
    ) -> None:
        self.folder = folder
        self._command = _own_command() if command is None else command
        self._clock = clock or SystemClock()
        self._file: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this lock is held here."""
        return self._file is not None

    def acquire(self) -> Self:
        """Take the lock at once, or raise Locked with its holder's name."""
        if self._file is not None:
            return self
        file = _open(self.folder)
        if not _try(file, fcntl.LOCK_EX, tries=LOCK_ATTEMPTS):
            holder = _holder(file)
            os.close(file)
            raise LockedError(
                f"{self.folder} is being written by {holder}; wait until it ends, or stop it"
            )
        self._file = file
        _sign(file, self._command, self._clock)
        return self

    def holder(self) -> str:
        """Return who holds the lock now, empty when nobody does; nothing is created to find out."""
        try:
            file = os.open(self.folder / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            return "" if _try(file, fcntl.LOCK_SH, tries=1) else _holder(file)
        finally:
            os.close(file)

    def release(self) -> None:
        """Let others write."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _own_command() -> str:
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])


def _open(folder: Path) -> int:
    try:
        make_private_folder(folder)
        return os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE_MODE)
    except OSError as error:
        raise NoSpaceError(
            f"{folder} cannot be written: {error.strerror}; check its permissions and its disk"
        ) from error


def _try(file: int, kind: int, *, tries: int) -> bool:
    """Try to lock a file; more than once, because somebody may just be asking who holds it."""
    for left in reversed(range(tries)):
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE_SECONDS if left else 0)
        else:
            return True
    return False


def _sign(file: int, command: str, clock: Clock) -> None:
    """Write who holds the lock, for others to read; a full disk does not hinder holding it."""
    since = clock.now().isoformat(timespec="seconds")
    holder = {"pid": os.getpid(), "command": command, "since": since}
    try:
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(holder).encode(), 0)
    except OSError:
        return


def _holder(file: int) -> str:
    try:
        holder = json.loads(os.pread(file, 65_536, 0))
        since = format_to_second(datetime.fromisoformat(holder["since"]))
        return f"'{holder['command']}' (process {holder['pid']}, since {since})"
    except (ValueError, KeyError, TypeError):
        return "another process"
