"""The catalog in one SQLite file: how it is opened, and what its errors mean."""

import os
import sqlite3
from contextlib import suppress
from importlib import import_module
from itertools import count
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.pool import ConnectionPoolEntry

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.schema import VERSION
from freshet.archive.catalog.sql.catalog import SqlCatalog
from freshet.core.errors import (
    DamagedError,
    FreshetError,
    LockedError,
    NoSpaceError,
    NotFoundError,
    StorageError,
    TooNewError,
)
from freshet.core.files import PRIVATE_FILE_MODE, open_private

BUSY_SECONDS = 30
# A password that was deleted is not to stay in the free space of the file.
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "cache_size=-32768", "secure_delete=ON")

WRITABLE = "make the folder and its files writable, or copy the collection elsewhere"
RESTORE_ADVICE = (
    "restore a copy of it, or make a new collection, copy the archive folder into it and run"
    " 'freshet check --repair' there"
)
BUSY = "another process has been writing for long; try again when it is done"
MEANINGS: dict[int, tuple[type[FreshetError], str]] = {
    sqlite3.SQLITE_FULL: (NoSpaceError, "free some disk space and run the command again"),
    sqlite3.SQLITE_READONLY: (NoSpaceError, WRITABLE),
    sqlite3.SQLITE_CANTOPEN: (StorageError, "check that its folder exists and can be read"),
    sqlite3.SQLITE_BUSY: (LockedError, BUSY),
    sqlite3.SQLITE_LOCKED: (LockedError, BUSY),
    sqlite3.SQLITE_CORRUPT: (DamagedError, RESTORE_ADVICE),
    sqlite3.SQLITE_NOTADB: (DamagedError, f"it is no catalog; {RESTORE_ADVICE}"),
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: (
        NotFoundError,
        "the page, visit or import it names is not there",
    ),
    sqlite3.SQLITE_CONSTRAINT: (StorageError, "it contradicts what is there; 'freshet check' it"),
}
FIRST_BYTE = 0xFF
STAMP_BITS = 32
WHOLE = "ok"
OTHERWISE = (StorageError, "check the disk with 'freshet doctor'")


class SqliteCatalog(SqlCatalog):
    """A catalog in one SQLite file."""

    def integrity_problems(self) -> list[str]:
        """Return what is wrong with the database itself; nothing where it is whole."""
        try:
            with self._engine.begin() as connection:
                found = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
                astray = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        except DamagedError as error:
            return [str(error.__cause__)]
        broken = [str(line) for line in found if line != WHOLE]
        return broken + [f"row {row[1]} of {row[0]} names no row of {row[2]}" for row in astray]

    def data_version(self) -> int:
        """Return a number that is another one when somebody else has written since.

        SQLite counts for each connection what others wrote, so its place in the count is one of
        this connection's own; connections are numbered as they are opened.
        """
        with self._engine.connect() as connection:
            version = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
            return int(connection.info["number"]) << STAMP_BITS | int(version)


def open_catalog(path: Path, *, create: bool = False) -> Catalog:
    """Open the catalog in that file, made new or brought up to date where that is needed."""
    if not create and not path.exists():
        raise NotFoundError(
            f"{path} is missing; restore a copy, or make it anew with 'freshet check --repair'"
        )
    if create:
        with suppress(OSError):  # SQLite's own error says more
            os.close(open_private(str(path), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))
    engine = connect(path)
    try:
        _bring_up_to_date(engine, path)
    except FreshetError:
        engine.dispose()
        raise
    return SqliteCatalog(engine)


def copy_catalog(path: Path, target: Path) -> None:
    """Copy a catalog as it is at one moment into a new file; others may write to it meanwhile."""
    os.close(
        os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE_MODE)
    )
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


def _bring_up_to_date(engine: Engine, path: Path) -> None:
    version = _version(engine)
    if version > VERSION:
        raise TooNewError(
            f"collection {path.parent} has catalog version {version}, this Freshet knows up to"
            f" {VERSION}; install a newer Freshet"
        )
    if version < VERSION:
        _migrate(path)


def _version(engine: Engine) -> int:
    with engine.begin() as connection:
        tables = "SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'"
        if not connection.exec_driver_sql(tables).scalar_one():
            return 0
        version = "SELECT version_num FROM alembic_version"
        number = connection.exec_driver_sql(version).scalar()
    if number is None:
        raise DamagedError(f"{engine.url.database} does not say its version; {RESTORE_ADVICE}")
    return int(number)


def _migrate(path: Path) -> None:
    """Upgrade with foreign keys off, as altering a table in SQLite means replacing it."""
    engine = connect(path, foreign_keys=False)
    # Alembic is loaded here because it takes long and most commands never migrate.
    upgrade = import_module("freshet.archive.catalog.migrate").upgrade
    try:
        with engine.execution_options(writes=True).begin() as connection:
            upgrade(connection)
    finally:
        engine.dispose()


def connect(path: Path, *, foreign_keys: bool = True) -> Engine:
    """Return an engine on that file whose errors are Freshet's own."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": BUSY_SECONDS},
        hide_parameters=True,
        pool_use_lifo=True,
    )
    numbers = count(1)

    def prepare(connection: sqlite3.Connection, entry: ConnectionPoolEntry) -> None:
        _prepare(connection, path, foreign_keys=foreign_keys)
        entry.info["number"] = next(numbers)

    def explain(context: ExceptionContext) -> None:
        if isinstance(context.original_exception, sqlite3.Error):
            raise translate_error(context.original_exception, path) from context.original_exception

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "handle_error", explain)
    return engine


def _prepare(connection: sqlite3.Connection, path: Path, *, foreign_keys: bool) -> None:
    """Set a new connection up; Python is kept from beginning transactions by itself."""
    connection.isolation_level = None
    try:
        for pragma in (*PRAGMAS, f"foreign_keys={int(foreign_keys)}"):
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error as error:
        connection.close()
        raise translate_error(error, path) from error


def _begin(connection: Connection) -> None:
    """Begin a transaction; one that writes takes its lock at once, so that it need not retry."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def translate_error(error: sqlite3.Error, path: Path) -> FreshetError:
    """Turn an error of SQLite into one that says where, why and what to do."""
    exact = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    code = exact if exact in MEANINGS else exact & FIRST_BYTE
    if code == sqlite3.SQLITE_CANTOPEN and _is_read_only(path.parent):
        code = sqlite3.SQLITE_READONLY
    kind, advice = MEANINGS.get(code, OTHERWISE)
    return kind(f"{path}: {error}; {advice}")


def _is_read_only(folder: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    return folder.is_dir() and not os.access(folder, os.W_OK, effective_ids=effective)
