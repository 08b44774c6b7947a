"""A collection holds secrets: its files are its owner's alone."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.analysis.collection_analysis import analyse_collection
from freshet.collection.collection import Collection
from freshet.collection.doctor import run_doctor
from freshet.core.files import OTHERS_MODE
from freshet.engine.local import LocalEngine
from tests.record.record_samples import URL, html, observe, record


@pytest.fixture
def generous() -> Iterator[None]:
    """Make new files readable by everyone unless they are made private."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("generous")
def test_files_and_folders_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with Collection.create(folder, contact="you@example.org") as collection:
        record(collection, [observe(day, html(f"news {day}")) for day in range(4)])
        analyse_collection(collection, engine=LocalEngine(1))
        names = {path.name for path in folder.rglob("*")}
        assert {"catalog.db-wal", "catalog.db-shm", "freshet.toml"} <= names
        modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
    assert any(path.name.endswith(".warc.gz") for path in modes)
    assert [path for path, mode in modes.items() if mode & OTHERS_MODE] == []


@pytest.mark.usefixtures("generous")
def test_files_readable_by_others_are_reported_with_the_command_that_closes_them(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "my pages"
    with Collection.create(folder, contact="you@example.org") as collection:
        collection.add(URL)
    assert finding(folder) == ("readable only by you", True)
    (folder / "catalog.db").chmod(0o644)
    assert finding(folder) == ("readable only by you", True), "nobody else can enter the folder"
    folder.chmod(0o755)
    said, is_fine = finding(folder)
    assert not is_fine
    assert said == "open to others: catalog.db"
    [remedy] = [item.remedy for item in run_doctor(folder) if item.what == "privacy"]
    assert remedy == f"chmod -R go= '{folder}'"
    (folder / "catalog.db").chmod(0o600)
    folder.chmod(0o711)
    assert finding(folder) == ("readable only by you", True)


def finding(folder: Path) -> tuple[str, bool]:
    [findings] = [item for item in run_doctor(folder) if item.what == "privacy"]
    return findings.found, findings.fine
