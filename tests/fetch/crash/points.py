"""The writes of a process, counted: at one of them it dies, or some of them fail.

A write that is the last of its process, or that fails, is half done where it can be.
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
class Points:
    """Which writes of this process are its trap: from ``first`` to ``last``, counted from 1.

    ``error`` is the number of the system's error that they meet; without one they are deadly.
    """

    first: int = 0
    last: int = 0
    error: int = 0
    count: int = 0

    def set(self, first: int, last: int = 0, error: int = 0) -> None:
        """Set a trap at some of the writes to come."""
        self.first, self.last, self.error, self.count = first, last or first, error, 0

    @property
    def is_next(self) -> bool:
        """Whether the next write is in the trap."""
        return self.first <= self.count + 1 <= self.last

    def reach(self) -> bool:
        """Count a write; die where that is its end, else say whether it fails."""
        is_trap = self.is_next
        self.count += 1
        if is_trap and not self.error:
            os.kill(os.getpid(), signal.SIGKILL)
        return is_trap

    def pass_by(self) -> None:
        """Count a write that is already done, and so can be deadly but cannot fail."""
        if not self.error:
            self.reach()


POINTS = Points()


def lay() -> None:
    """Make every write of this process count, from now on."""
    for name in COUNTED:
        setattr(os, name, _counted(getattr(os, name)))
    os.pwrite = _half(os.pwrite)
    # The writer has taken the system's function when it was loaded.
    WarcWriter.__init__.__kwdefaults__["write"] = os.pwrite
    DefaultDialect.do_commit = _committing(DefaultDialect.do_commit)  # type: ignore[method-assign]


def _fail() -> None:
    raise OSError(POINTS.error, os.strerror(POINTS.error))


def _counted(plain: Any) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        if POINTS.reach():
            _fail()
        return plain(*arguments, **options)

    return call


def _half(plain: Any) -> Any:
    def write(file: int, content: bytes | memoryview, place: int) -> int:
        if POINTS.is_next:
            plain(file, bytes(content)[: len(content) // 2], place)
        if POINTS.reach():
            _fail()
        return int(plain(file, content, place))

    return write


def _committing(plain: Any) -> Any:
    """Count a transaction that wrote something, before it is committed and after."""

    def commit(dialect: Any, connection: Any) -> None:
        wrote = connection.total_changes != connection.info.get("changes", 0)
        connection.info["changes"] = connection.total_changes
        if wrote and POINTS.reach():
            code, message = SQLITE_ERRORS[POINTS.error]
            error = sqlite3.OperationalError(message)
            error.sqlite_errorcode = code
            raise error
        plain(dialect, connection)
        if wrote:
            POINTS.pass_by()

    return commit
