"""What is specific to SQLite: schema versions, errors, other processes."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

from freshet.archive.catalog import schema, sqlite
from freshet.archive.catalog.catalog import open_catalog
from freshet.archive.catalog.rows import DailySpending, NewPage, VisitEntry
from freshet.archive.catalog.sqlite import translate_error
from freshet.core.errors import (
    DamagedError,
    LockedError,
    NoSpaceError,
    NotFoundError,
    StorageError,
    TooNewError,
)
from freshet.core.types import Outcome, PageKey, Visit

NOW = datetime(2026, 11, 1, tzinfo=UTC)
NOBODY = 65534
HOME = NewPage(PageKey("https://a.example/"), "a.example", "a.example", "a.example/")


def tables_of(path: Path) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'alembic_version'"
    with closing(sqlite3.connect(path)) as connection:
        return sorted(name for (name,) in connection.execute(query))


def schema_of(path: Path) -> dict[str, list[object]]:
    """Return each table's columns, keys and indexes, sorted: a migration may add a column last."""
    pragmas = ("table_xinfo", "foreign_key_list", "index_list")
    indexes = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    with closing(sqlite3.connect(path)) as connection:
        tables: dict[str, list[object]] = {
            table: [
                sorted(row[1:] for row in rows)
                for rows in (
                    connection.execute(f"PRAGMA {pragma}({table})").fetchall() for pragma in pragmas
                )
            ]
            for table in tables_of(path)
        }
        return tables | {"indexes": sorted(connection.execute(indexes))}


def make_earlier_version(path: Path, *revisions: str) -> None:
    """Make a catalog as an earlier release did."""
    engine = sqlite.connect(path, foreign_keys=False)
    with engine.execution_options(writes=True).begin() as connection:
        context = MigrationContext.configure(connection)
        with Operations.context(context):
            for revision in revisions:
                import_module(f"freshet.archive.catalog.migrations.versions.{revision}").upgrade()
        context._ensure_version_table()
        number = revisions[-1].partition("_")[0]
        connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{number}')")
    engine.dispose()


def set_version(path: Path, version: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    catalog_path = tmp_path / "catalog.db"
    open_catalog(catalog_path, create=True).close()
    return catalog_path


@pytest.fixture
def read_only_folder() -> Iterator[Path]:
    """A folder that can be read but not written; root, who may write anywhere, changes its user."""
    was_root = os.geteuid() == 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        if was_root:
            os.seteuid(NOBODY)
        yield folder
        if was_root:
            os.seteuid(0)
        folder.chmod(0o755)


def test_the_migrations_create_exactly_the_schema(path: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.db"
    engine = create_engine(f"sqlite:///{plain}")
    schema.metadata.create_all(engine)
    engine.dispose()
    assert schema_of(path) == schema_of(plain)


def test_a_catalog_of_the_first_version_keeps_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    make_earlier_version(path, "0001_first")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO pages VALUES (1, 'https://a.example/', '', 'a', 'a', 'a/', 0, 0, NULL,"
            " '{}')"
        )
        connection.execute(
            "INSERT INTO visits (id, uid, page_id, time, outcome, media_type)"
            " VALUES (1, x'00', 1, 0, 'ok', '')"
        )
    with open_catalog(path) as catalog:
        (row,) = catalog.history(1)
        assert (row.visit.outcome, row.visit.why) == (Outcome.OK, "")
        catalog.book_requests("2026-11-01", 1)
        catalog.request_visits([1], NOW)
        assert catalog.requested_pages() == [1]
        assert catalog.burst_progress() == {}
        assert catalog.burst_samples(1) == []
    with open_catalog(path) as catalog:
        assert catalog.counts().visits == 1


def test_spending_from_before_there_were_bursts_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    make_earlier_version(path, "0001_first", "0002_crawl")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO spending VALUES ('2026-11-01', 7, 2)")
    with open_catalog(path) as catalog:
        assert catalog.spending("2026-11-01") == DailySpending(7, 2, 0)
        catalog.book_requests("2026-11-01", 1, burst_requests=1)
        assert catalog.spending("2026-11-01") == DailySpending(8, 2, 1)


def test_spending_from_before_exploration_was_counted_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    make_earlier_version(path, "0001_first", "0002_crawl", "0003_rounds")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO spending VALUES ('2026-11-01', 7, 2, 1)")
    with open_catalog(path) as catalog:
        assert catalog.spending("2026-11-01") == DailySpending(7, 2, 1, 0)
        catalog.book_requests("2026-11-01", 1, exploratory_requests=1)
        assert catalog.spending("2026-11-01") == DailySpending(8, 2, 1, 1)


def test_opening_a_current_catalog_loads_no_migration(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from freshet.archive.catalog.catalog import open_catalog;"
        "open_catalog(Path(sys.argv[1])).close(); sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program, path], check=False).returncode == 0


def test_an_empty_file_becomes_a_catalog_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    path.touch()
    with open_catalog(path) as catalog:
        assert catalog.counts().pages == 0


def test_a_missing_catalog_is_not_created_unless_requested(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="check --repair"):
        open_catalog(tmp_path / "catalog.db")
    assert not list(tmp_path.iterdir())


def test_a_newer_catalog_is_refused(path: Path) -> None:
    set_version(path, "0099")
    with pytest.raises(
        TooNewError, match=r"version 99, this Freshet knows up to \d+; install a newer"
    ):
        open_catalog(path)


def test_a_failed_migration_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE visits (id INTEGER)")
    with pytest.raises(StorageError, match="already exists"):
        open_catalog(path)
    assert tables_of(path) == ["visits"]


def test_every_acknowledged_write_is_synced(path: Path) -> None:
    engine = sqlite.connect(path)
    with engine.connect() as connection:
        modes = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    engine.dispose()
    assert modes == ["wal", 2, 1, 30_000]


def test_the_error_for_a_read_only_folder_names_it(read_only_folder: Path) -> None:
    with pytest.raises(NoSpaceError, match=f"{read_only_folder}/catalog.db.*writable"):
        open_catalog(read_only_folder / "catalog.db", create=True)


def test_the_error_for_a_folder_that_is_a_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "news").touch()
    with pytest.raises(StorageError, match=r"news/catalog\.db.*check that its folder exists"):
        open_catalog(tmp_path / "news" / "catalog.db", create=True)


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    path.write_bytes(b"once upon a time " * 100)
    with pytest.raises(DamagedError, match=r"catalog\.db: file is not a database"):
        open_catalog(path)


def test_a_catalog_with_an_overwritten_table_is_damaged(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'visits'"
        page = connection.execute(query).fetchone()[0]
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    with open_catalog(path) as catalog, pytest.raises(DamagedError, match="freshet check"):
        catalog.counts()


def test_a_full_disk_is_reported_and_nothing_is_half_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size_limit = f"max_page_count={path.stat().st_size // 4096 + 4}"
    monkeypatch.setattr(sqlite, "PRAGMAS", (*sqlite.PRAGMAS, size_limit))
    new_pages = [NewPage(PageKey(f"https://a.example/{n}"), "a", "a", "a/") for n in range(2000)]
    with open_catalog(path) as catalog:
        with pytest.raises(NoSpaceError, match="free some disk space"):
            catalog.add_pages(new_pages, NOW)
        assert catalog.counts().pages == 0
        assert catalog.add_pages(new_pages[:1], NOW).ids == [1]


def test_a_lock_held_too_long_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0)
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as writer,
        open_catalog(path) as catalog,
    ):
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(LockedError, match="another process"):
            catalog.add_pages([HOME], NOW)
        assert catalog.counts().pages == 0


def test_a_visit_of_an_unknown_page_is_refused(path: Path) -> None:
    with open_catalog(path) as catalog, pytest.raises(NotFoundError, match="FOREIGN KEY"):
        catalog.append_visits([VisitEntry(Visit(b"u" * 16, 7, NOW, Outcome.OK))])


def test_an_error_without_a_code_is_translated_too(tmp_path: Path) -> None:
    assert "freshet doctor" in str(translate_error(sqlite3.OperationalError("odd"), tmp_path))


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from freshet.archive.catalog.rows import VisitEntry
from freshet.archive.catalog.catalog import open_catalog
from freshet.core.types import Outcome, Visit
now = datetime(2026, 11, 1, tzinfo=UTC)
with open_catalog(Path(sys.argv[1])) as catalog:
    print("ready", flush=True)
    for number in range(100):
        uid = b"other" + number.to_bytes(11, "big")
        catalog.append_visits([VisitEntry(Visit(uid, 1, now, Outcome.OK))])
"""


def test_two_processes_write_at_the_same_time(path: Path) -> None:
    with open_catalog(path) as catalog:
        assert catalog.add_pages([HOME], NOW).ids == [1]
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            visit_ids = [
                catalog.append_visits([
                    VisitEntry(Visit(number.to_bytes(16, "big"), 1, NOW, Outcome.OK))
                ])[0]
                for number in range(100)
            ]
        assert writer.returncode == 0
        assert len(set(visit_ids)) == 100
        assert catalog.counts().visits == 200


def test_an_error_of_the_disk_names_a_full_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    assert "freshet doctor" in str(translate_error(error, tmp_path / "catalog.db"))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=0))
    assert "free some disk space" in str(translate_error(error, tmp_path / "catalog.db"))
