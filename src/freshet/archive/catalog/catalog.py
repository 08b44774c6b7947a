"""The catalog: everything that a collection knows apart from the bytes it stores."""

import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from freshet.archive.catalog.bursts import BurstTables
from freshet.archive.catalog.found_pages import FoundPageTables
from freshet.archive.catalog.history import HistoryTables
from freshet.archive.catalog.imports import ImportTables
from freshet.archive.catalog.links import LinkTables
from freshet.archive.catalog.listing import ListingTables
from freshet.archive.catalog.masks import MaskTables
from freshet.archive.catalog.planning import PlanTables
from freshet.archive.catalog.schema import VERSION
from freshet.archive.catalog.sqlite import SqliteDialect, connect, schema_version
from freshet.archive.catalog.totals import TotalTables
from freshet.archive.catalog.visits import VisitTables
from freshet.core.close_on_exit import CloseOnExit
from freshet.core.errors import FreshetError, NotFoundError, TooNewError
from freshet.core.files import open_private


class Catalog(
    FoundPageTables,
    VisitTables,
    HistoryTables,
    LinkTables,
    ListingTables,
    TotalTables,
    MaskTables,
    BurstTables,
    PlanTables,
    ImportTables,
    CloseOnExit,
):
    """The catalog of a collection, in a SQL database; each base class covers one topic.

    Every method is one transaction; a method that yields takes one per batch. Writers of different
    processes wait for each other.
    """

    def integrity_problems(self) -> list[str]:
        """Return what is wrong with the database itself; empty if it is intact."""
        return self._dialect.integrity_problems(self._read_engine)

    def data_version(self) -> int:
        """Return a number that differs after somebody else has written."""
        return self._dialect.data_version(self._read_engine)

    def close(self) -> None:
        """Close all connections."""
        self._read_engine.dispose()


def open_catalog(path: Path, *, create: bool = False) -> Catalog:
    """Open the catalog in a SQLite file; create or upgrade it where needed."""
    if not create and not path.exists():
        raise NotFoundError(
            f"{path} is missing; restore a copy, or rebuild it with 'freshet check --repair'"
        )
    if create:
        with suppress(OSError):  # SQLite's own error says more
            os.close(open_private(str(path), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))
    engine = connect(path)
    try:
        version = schema_version(engine)
        if version > VERSION:
            raise TooNewError(
                f"collection {path.parent} has catalog version {version}, this Freshet knows up to"
                f" {VERSION}; install a newer Freshet"
            )
        if version < VERSION:
            _upgrade(path)
    except FreshetError:
        engine.dispose()
        raise
    return Catalog(engine, SqliteDialect())


def _upgrade(path: Path) -> None:
    """Run the missing migrations with foreign keys off: SQLite alters a table by replacing it."""
    engine = connect(path, foreign_keys=False)
    # Alembic is loaded here because it is slow to load and most commands never upgrade.
    upgrade = import_module("freshet.archive.catalog.migrate").upgrade
    try:
        with engine.execution_options(writes=True).begin() as connection:
            upgrade(connection)
    finally:
        engine.dispose()
