"""A damaged catalog is detected, left alone, and rebuilt from the archive."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from freshet.core.errors import NotFoundError, StorageError
from tests.record.record_samples import (
    CLOCK,
    bodies,
    html,
    make_collection,
    marks,
    observe,
    page_facts,
    record,
)

OTHER = "https://example.org/other"
OBSERVATIONS = [observe(day, html(f"day {day // 2}", f"l{day}")) for day in range(40)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [*OBSERVATIONS, observe(1, html("one"), url=OTHER, source="snap")])
    return tmp_path / "c"


def run(folder: Path, *statements: str) -> None:
    connection = sqlite3.connect(folder / "catalog.db", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def spoil_index(folder: Path) -> None:
    """Empty an index behind SQLite's back."""
    query = "SELECT rootpage FROM sqlite_master WHERE name = 'ix_visits_page_id_time'"
    connection = sqlite3.connect(folder / "catalog.db")
    [(page,)] = connection.execute(query).fetchall()
    [(size,)] = connection.execute("PRAGMA page_size").fetchall()
    connection.close()
    content = bytearray((folder / "catalog.db").read_bytes())
    content[(page - 1) * size + 3 : (page - 1) * size + 5] = bytes(2)
    (folder / "catalog.db").write_bytes(content)


def test_a_corrupt_catalog_is_not_called_sound(folder: Path) -> None:
    spoil_index(folder)
    with Collection.open(folder, clock=CLOCK) as collection:
        problems = collection.check().problems
    assert {problem.place for problem in problems} == {"catalog.db"}
    assert all("restore a copy" in str(problem) for problem in problems)


def test_a_repair_leaves_a_corrupt_catalog_alone(folder: Path) -> None:
    spoil_index(folder)
    before = (folder / "catalog.db").read_bytes()
    with Collection.open(folder, clock=CLOCK) as collection:
        report = collection.repair()
    assert not report.is_sound
    assert report.mended == []
    assert (folder / "catalog.db").read_bytes() == before


def test_a_row_that_names_no_row_is_found(folder: Path) -> None:
    run(folder, "PRAGMA foreign_keys=0", "DELETE FROM visits WHERE id = 2")
    with Collection.open(folder, clock=CLOCK) as collection:
        whats = [problem.what for problem in collection.check().problems]
    assert any("names no row of visits" in what for what in whats)


def test_a_new_catalog_is_made_from_the_archive_as_the_advice_says(
    folder: Path, tmp_path: Path
) -> None:
    with make_collection(tmp_path / "new") as collection:
        shutil.copytree(folder / "archive", collection.archive_folder, dirs_exist_ok=True)
        assert collection.repair().is_sound
        with Collection.open(folder, clock=CLOCK) as old:
            assert page_facts(collection) == page_facts(old)
            assert bodies(collection) == bodies(old)
        assert len(marks(collection, OTHER)) == 1
        assert collection.page(OTHER).source == "snap"


def test_what_is_not_there_and_what_is_there_twice_are_different_errors(folder: Path) -> None:
    with Collection.open(folder, clock=CLOCK) as collection:
        with pytest.raises(NotFoundError), collection.catalog._read_engine.begin() as connection:
            connection.exec_driver_sql("INSERT INTO tags (page_id, tag) VALUES (999, 'x')")
        twice = "INSERT INTO meta (key, value) VALUES ('a', ''), ('a', '')"
        with pytest.raises(StorageError), collection.catalog._read_engine.begin() as connection:
            connection.exec_driver_sql(twice)
