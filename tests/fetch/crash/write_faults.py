"""Counts the writes of a process, and kills it at one of them or makes some fail.

A write at which the process is killed, or that fails, is half done if possible.
"""

import errno
import os
import signal
import sqlite3
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine.default import DefaultDialect

from freshet.archive.warc.writer import WarcWriter

COUNTED = ("fsync", "ftruncate", "rename", "unlink")
SQLITE_ERRORS = {
    errno.ENOSPC: (sqlite3.SQLITE_FULL, "database or disk is full"),
    errno.EIO: (sqlite3.SQLITE_IOERR, "disk I/O error"),
}


@dataclass(slots=True)
class WriteFaultInjector:
    """The faulty writes of this process: from ``first`` to ``last``, counted from 1.

    They fail with the system error ``error``; without one, they kill the process.
    """

    first: int = 0
    last: int = 0
    error: int = 0
    count: int = 0

    def set(self, first: int, last: int = 0, error: int = 0) -> None:
        """Select the faulty writes, and count from now."""
        self.first, self.last, self.error, self.count = first, last or first, error, 0

    @property
    def is_next_faulty(self) -> bool:
        """Whether the next write is faulty."""
        return self.first <= self.count + 1 <= self.last

    def count_write(self) -> bool:
        """Count a write; kill the process or return whether the write fails."""
        is_faulty = self.is_next_faulty
        self.count += 1
        if is_faulty and not self.error:
            os.kill(os.getpid(), signal.SIGKILL)
        return is_faulty

    def count_finished_write(self) -> None:
        """Count a finished write, which can kill the process but cannot fail."""
        if not self.error:
            self.count_write()


WRITE_FAULTS = WriteFaultInjector()


def install_write_faults() -> None:
    """Count every write of this process from now on."""
    for name in COUNTED:
        setattr(os, name, _counted(getattr(os, name)))
    os.pwrite = _half(os.pwrite)
    # The writer has taken the system's function when it was loaded.
    WarcWriter.__init__.__kwdefaults__["write"] = os.pwrite
    DefaultDialect.do_commit = _committing(DefaultDialect.do_commit)  # type: ignore[method-assign]


def _fail() -> None:
    raise OSError(WRITE_FAULTS.error, os.strerror(WRITE_FAULTS.error))


def _counted(original: Any) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        if WRITE_FAULTS.count_write():
            _fail()
        return original(*arguments, **options)

    return call


def _half(original: Any) -> Any:
    def write(file: int, content: bytes | memoryview, offset: int) -> int:
        if WRITE_FAULTS.is_next_faulty:
            original(file, bytes(content)[: len(content) // 2], offset)
        if WRITE_FAULTS.count_write():
            _fail()
        return int(original(file, content, offset))

    return write


def _committing(original: Any) -> Any:
    """Count a transaction that wrote something, before it is committed and after."""

    def commit(dialect: Any, connection: Any) -> None:
        wrote = connection.total_changes != connection.info.get("changes", 0)
        connection.info["changes"] = connection.total_changes
        if wrote and WRITE_FAULTS.count_write():
            code, message = SQLITE_ERRORS[WRITE_FAULTS.error]
            error = sqlite3.OperationalError(message)
            error.sqlite_errorcode = code
            raise error
        original(dialect, connection)
        if wrote:
            WRITE_FAULTS.count_finished_write()

    return commit
