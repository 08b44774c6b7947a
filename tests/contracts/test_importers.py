"""The contract of importers: aware times, stable uids, and no foreign errors.

Importers are those of ``IMPORT_READERS``; ``tests/archive/importers/samples`` has an input for
each.
"""

import shutil
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.archive.observation import Observation
from freshet.collection.imports import IMPORT_READERS
from freshet.core.errors import FreshetError
from freshet.core.types import BadRow

KINDS = sorted(kind for kind in IMPORT_READERS if kind != "git" or shutil.which("git"))
every_importer = pytest.mark.parametrize("kind", KINDS)


def sample(kind: str, folder: Path) -> Path:
    """Write an importer's sample into a folder, and return what to read."""
    path: Path = import_module(f"tests.archive.importers.samples.{kind}").sample(folder)
    return path


def observations(kind: str, path: Path) -> list[Observation]:
    items = list(IMPORT_READERS[kind](path))
    assert not [item for item in items if isinstance(item, BadRow)]
    return items


@every_importer
def test_times_are_aware_and_in_utc(kind: str, tmp_path: Path) -> None:
    items = observations(kind, sample(kind, tmp_path))
    assert items
    assert {item.time.utcoffset() for item in items} == {timedelta(0)}


@every_importer
def test_the_same_input_gives_the_same_uids_of_sixteen_bytes(kind: str, tmp_path: Path) -> None:
    path = sample(kind, tmp_path)
    first, again = ([item.uid for item in observations(kind, path)] for _ in range(2))
    assert first == again
    assert len(set(first)) == len(first)
    assert {len(uid) for uid in first} == {16}


@every_importer
def test_a_source_that_is_given_is_that_of_every_observation(kind: str, tmp_path: Path) -> None:
    path = sample(kind, tmp_path)
    reader = IMPORT_READERS[kind](path, source="mine")
    assert {item.source for item in reader} == {reader.source} == {"mine"}


@every_importer
def test_a_reader_knows_the_source_that_its_observations_have(kind: str, tmp_path: Path) -> None:
    reader = IMPORT_READERS[kind](sample(kind, tmp_path))
    assert {item.source for item in reader} == {reader.source}


@every_importer
def test_a_reader_says_how_far_it_is(kind: str, tmp_path: Path) -> None:
    reader = IMPORT_READERS[kind](sample(kind, tmp_path))
    assert 0 <= reader.done <= reader.total
    assert list(reader)
    assert reader.done == reader.total > 0


@every_importer
def test_what_is_not_there_is_a_clear_error(kind: str, tmp_path: Path) -> None:
    with pytest.raises(FreshetError, match="nowhere"):
        list(IMPORT_READERS[kind](tmp_path / "nowhere"))


@every_importer
@settings(max_examples=15, deadline=None, derandomize=True)
@given(data=st.data())
def test_garbage_is_an_error_of_ours_or_a_bad_row(kind: str, data) -> None:
    with TemporaryDirectory() as folder:
        path = sample(kind, Path(folder))
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        spoil(sorted(files)[data.draw(st.integers(0, 99)) % len(files)], data)
        items, message = read_or_refused(kind, path)
        assert all(isinstance(item, Observation | BadRow) for item in items)
        assert "\n" not in message


def read_or_refused(kind: str, path: Path) -> tuple[list[Observation | BadRow], str]:
    """Return the items of an importer and the message of its error, if any."""
    try:
        return list(IMPORT_READERS[kind](path)), ""
    except FreshetError as error:
        return [], str(error)


def spoil(file: Path, data) -> None:
    """Replace a file by noise, truncate it, or alter a range of it."""
    content = file.read_bytes()
    file.chmod(0o600)
    start = data.draw(st.integers(0, 1000)) * len(content) // 1000
    noise = data.draw(st.binary(max_size=30))
    how = data.draw(st.sampled_from(["replace", "cut", "alter"]))
    spoilers = {
        "replace": noise,
        "cut": content[:start],
        "alter": content[:start] + noise + content[start + len(noise) :],
    }
    file.write_bytes(spoilers[how])
