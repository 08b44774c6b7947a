"""The SQLite dialect: connections, errors, SQL beyond the standard, integrity checks."""

import os
import shutil
import sqlite3
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Integer, Table, cast, create_engine, event
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.pool import ConnectionPoolEntry

from freshet.core.errors import (
    DamagedError,
    FreshetError,
    LockedError,
    NoSpaceError,
    NotFoundError,
    StorageError,
)
from freshet.core.files import PRIVATE_FILE_MODE

BUSY_SECONDS = 30
# With secure_delete, a deleted password does not remain in the free space of the file.
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "cache_size=-32768", "secure_delete=ON")

WRITABLE_ADVICE = "make the folder and its files writable, or copy the collection elsewhere"
RESTORE_ADVICE = (
    "restore a copy of it, or make a new collection, copy the archive folder into it and run"
    " 'freshet check --repair' there"
)
BUSY_ADVICE = "another process holds the write lock; try again when it is done"
ERRORS_BY_CODE: dict[int, tuple[type[FreshetError], str]] = {
    sqlite3.SQLITE_FULL: (NoSpaceError, "free some disk space and run the command again"),
    sqlite3.SQLITE_READONLY: (NoSpaceError, WRITABLE_ADVICE),
    sqlite3.SQLITE_CANTOPEN: (StorageError, "check that its folder exists and can be read"),
    sqlite3.SQLITE_BUSY: (LockedError, BUSY_ADVICE),
    sqlite3.SQLITE_LOCKED: (LockedError, BUSY_ADVICE),
    sqlite3.SQLITE_CORRUPT: (DamagedError, RESTORE_ADVICE),
    sqlite3.SQLITE_NOTADB: (DamagedError, f"it is not a catalog; {RESTORE_ADVICE}"),
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: (
        NotFoundError,
        "the page, visit or import does not exist",
    ),
    sqlite3.SQLITE_CONSTRAINT: (StorageError, "it conflicts with stored rows; run 'freshet check'"),
}
# Reading needs a little space too, for the shared memory of the write-ahead log.
MIN_FREE_BYTES = 64 << 10
OTHER_ERROR = (StorageError, "check the disk with 'freshet doctor'")
# The low byte of an extended error code is the primary code.
PRIMARY_CODE = 0xFF
DATA_VERSION_BITS = 32
INTEGRITY_OK = "ok"


class SqliteDialect:
    """The operations that another database would do differently."""

    def insert(self, table: Table) -> Insert:
        """Return an INSERT that supports ON CONFLICT."""
        return insert(table)

    def whole_part(self, number: ColumnElement[Any]) -> ColumnElement[int]:
        """Return the whole part of a number that is not negative."""
        return cast(number, Integer)

    def integrity_problems(self, engine: Engine) -> list[str]:
        """Return what is wrong with the database file; empty if it is intact."""
        try:
            with engine.begin() as connection:
                lines = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
                orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        except DamagedError as error:
            return [str(error.__cause__)]
        problems = [str(line) for line in lines if line != INTEGRITY_OK]
        return problems + [f"row {row[1]} of {row[0]} names no row of {row[2]}" for row in orphans]

    def data_version(self, engine: Engine) -> int:
        """Return a number that differs after another connection has written.

        SQLite counts the writes of others per connection, so the number of the connection is part
        of the result.
        """
        with engine.connect() as connection:
            version = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
            return int(connection.info["number"]) << DATA_VERSION_BITS | int(version)


def connect(path: Path, *, foreign_keys: bool = True) -> Engine:
    """Return an engine on a file; errors of SQLite are raised as Freshet's own."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": BUSY_SECONDS},
        hide_parameters=True,
        pool_use_lifo=True,
    )
    numbers = count(1)

    def set_up(connection: sqlite3.Connection, entry: ConnectionPoolEntry) -> None:
        _set_up_connection(connection, path, foreign_keys=foreign_keys)
        entry.info["number"] = next(numbers)

    def raise_translated(context: ExceptionContext) -> None:
        if isinstance(context.original_exception, sqlite3.Error):
            raise translate_error(context.original_exception, path) from context.original_exception

    event.listen(engine, "connect", set_up)
    event.listen(engine, "begin", _begin_transaction)
    event.listen(engine, "handle_error", raise_translated)
    return engine


def _set_up_connection(connection: sqlite3.Connection, path: Path, *, foreign_keys: bool) -> None:
    """Set the pragmas, and keep Python from beginning transactions by itself."""
    connection.isolation_level = None
    try:
        for pragma in (*PRAGMAS, f"foreign_keys={int(foreign_keys)}"):
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error as error:
        connection.close()
        raise translate_error(error, path) from error


def _begin_transaction(connection: Connection) -> None:
    """Begin a transaction; one that writes takes its lock at once, so that it need not retry."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def schema_version(engine: Engine) -> int:
    """Return the schema version of a database; 0 if the database is empty."""
    with engine.begin() as connection:
        table_count = connection.exec_driver_sql(
            "SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'"
        ).scalar_one()
        if not table_count:
            return 0
        version = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if version is None:
        raise DamagedError(f"{engine.url.database} has no schema version; {RESTORE_ADVICE}")
    return int(version)


def copy_catalog(path: Path, target: Path) -> None:
    """Copy a catalog into a new file, as of one moment; others may write to it meanwhile."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    os.close(os.open(target, flags, PRIVATE_FILE_MODE))
    source, copy = sqlite3.connect(path, timeout=BUSY_SECONDS), sqlite3.connect(target)
    try:
        source.backup(copy)
    except sqlite3.Error as error:
        raise translate_error(error, target) from error
    finally:
        copy.close()
        source.close()
    with target.open("rb") as file:
        os.fsync(file.fileno())


def translate_error(error: sqlite3.Error, path: Path) -> FreshetError:
    """Return Freshet's error for one of SQLite: which file, what is wrong, and what to do."""
    extended = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    code = extended if extended in ERRORS_BY_CODE else extended & PRIMARY_CODE
    if code == sqlite3.SQLITE_CANTOPEN and _is_read_only(path.parent):
        code = sqlite3.SQLITE_READONLY
    if code == sqlite3.SQLITE_IOERR and shutil.disk_usage(path.parent).free < MIN_FREE_BYTES:
        code = sqlite3.SQLITE_FULL
    error_class, advice = ERRORS_BY_CODE.get(code, OTHER_ERROR)
    return error_class(f"{path}: {error}; {advice}")


def _is_read_only(folder: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    return folder.is_dir() and not os.access(folder, os.W_OK, effective_ids=effective)
