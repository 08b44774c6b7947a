"""The writer lock of an archive folder. The operating system frees it when its process ends."""

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
    """Exclusive right to append to an archive folder."""

    def __init__(
        self, folder: Path, *, command: str | None = None, clock: Clock | None = None
    ) -> None:
        self.folder = folder
        own_command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
        self._command = own_command if command is None else command
        self._clock = clock or SystemClock()
        self._file: int | None = None

    @property
    def is_held(self) -> bool:
        """Return whether this object holds the lock."""
        return self._file is not None

    def acquire(self) -> Self:
        """Acquire the lock, or raise an error that names the holder."""
        if self._file is not None:
            return self
        file = _open_lock_file(self.folder)
        if not _try_lock(file, fcntl.LOCK_EX, attempts=LOCK_ATTEMPTS):
            holder = _read_holder(file)
            os.close(file)
            raise LockedError(
                f"{self.folder} is being written by {holder}; wait until it ends, or stop it"
            )
        self._file = file
        _write_holder(file, self._command, self._clock)
        return self

    def holder(self) -> str:
        """Return a description of the lock's holder, empty if it is free; create no file."""
        try:
            file = os.open(self.folder / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            return "" if _try_lock(file, fcntl.LOCK_SH, attempts=1) else _read_holder(file)
        finally:
            os.close(file)

    def release(self) -> None:
        """Release the lock."""
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


def _open_lock_file(folder: Path) -> int:
    try:
        make_private_folder(folder)
        return os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE_MODE)
    except OSError as error:
        raise NoSpaceError(
            f"{folder} cannot be written: {error.strerror}; check its permissions and its disk"
        ) from error


def _try_lock(file: int, mode: int, *, attempts: int) -> bool:
    """Try to lock a file; retry, because other processes lock it briefly to find its holder."""
    for attempts_left in reversed(range(attempts)):
        try:
            fcntl.flock(file, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE_SECONDS if attempts_left else 0)
        else:
            return True
    return False


def _write_holder(file: int, command: str, clock: Clock) -> None:
    """Write the holder into the lock file for other processes; a full disk is no error here."""
    since = clock.now().isoformat(timespec="seconds")
    holder = {"pid": os.getpid(), "command": command, "since": since}
    try:
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(holder).encode(), 0)
    except OSError:
        return


def _read_holder(file: int) -> str:
    try:
        holder = json.loads(os.pread(file, 65_536, 0))
        since = format_to_second(datetime.fromisoformat(holder["since"]))
        return f"'{holder['command']}' (process {holder['pid']}, since {since})"
    except (ValueError, KeyError, TypeError):
        return "another process"
