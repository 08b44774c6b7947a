"""What every importer promises: aware times, the same uids each time, and no foreign errors."""

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.archive.importers.base import Arrival, BadRow
from freshet.core.errors import FreshetError
from freshet.flow.imports import READERS

WARC = (
    b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
    b"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-0000000000ff>\r\n"
    b"WARC-Target-URI: https://a.org/\r\nContent-Type: text/html\r\n"
    b"Content-Length: 12\r\n\r\n<p>hello</p>\r\n\r\n"
)
GIT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "a@example.org" for who in ("AUTHOR", "COMMITTER")},
}
PARQUET = {
    "source": ["shop"],
    "page": ["https://a.org/"],
    "time": [datetime(2024, 1, 1, tzinfo=UTC)],
    "html": [b"<p>hello</p>"],
    "kind": ["html"],
    "commit": ["1"],
}


def a_warc(folder: Path) -> Path:
    (folder / "a.warc.gz").write_bytes(gzip.compress(WARC, mtime=0))
    return folder / "a.warc.gz"


def a_csv(folder: Path) -> Path:
    (folder / "a.csv").write_text("page,time,changed\nhttps://a.org/,2024-01-01,1\n")
    return folder / "a.csv"


def bing_files(folder: Path) -> Path:
    (folder / "urlid_offset_history.txt").write_text("5\t5.5\t" + json.dumps([[1, 0], [1, 1]]))
    (folder / "url_urlid_hostid.txt").write_text("http://a.org/\t5\t1\n")
    (folder / "urlid_imp.txt").write_text("5\t0.5\n")
    return folder


def a_parquet(folder: Path) -> Path:
    pl.DataFrame(PARQUET).write_parquet(folder / "versions_shop.parquet")
    return folder / "versions_shop.parquet"


def a_repository(folder: Path) -> Path:
    path = folder / "terms"
    path.mkdir()
    (path / "a.md").write_text("hello")
    commands = (("init", "--quiet"), ("add", "a.md"), ("commit", "--quiet", "--message=run"))
    for command in commands:
        subprocess.run(["git", *command], cwd=path, env=GIT, check=True, capture_output=True)
    return path


INPUTS: dict[str, Callable[[Path], Path]] = {
    "warc": a_warc,
    "csv": a_csv,
    "bing": bing_files,
    "parquet": a_parquet,
    **({"git": a_repository} if shutil.which("git") else {}),
}
every_importer = pytest.mark.parametrize("kind", sorted(INPUTS))


def arrivals(kind: str, path: Path) -> list[Arrival]:
    found = list(READERS[kind](path))
    assert not [item for item in found if isinstance(item, BadRow)]
    return found


def test_every_importer_is_tried_here() -> None:
    assert set(READERS) - set(INPUTS) <= {"git"}


@every_importer
def test_times_are_aware_and_in_utc(kind: str, tmp_path: Path) -> None:
    found = arrivals(kind, INPUTS[kind](tmp_path))
    assert found
    assert {item.time.utcoffset() for item in found} == {timedelta(0)}


@every_importer
def test_the_same_input_gives_the_same_uids_of_sixteen_bytes(kind: str, tmp_path: Path) -> None:
    path = INPUTS[kind](tmp_path)
    first, again = ([item.uid for item in arrivals(kind, path)] for _ in range(2))
    assert first == again
    assert len(set(first)) == len(first)
    assert {len(uid) for uid in first} == {16}


@every_importer
def test_a_source_that_is_given_is_that_of_every_arrival(kind: str, tmp_path: Path) -> None:
    path = INPUTS[kind](tmp_path)
    assert {item.source for item in READERS[kind](path, source="mine")} == {"mine"}


@every_importer
def test_a_reader_says_how_far_it_is(kind: str, tmp_path: Path) -> None:
    reader = READERS[kind](INPUTS[kind](tmp_path))
    assert 0 <= reader.done <= reader.total
    assert list(reader)
    assert reader.done == reader.total > 0


@every_importer
def test_what_is_not_there_is_a_clear_error(kind: str, tmp_path: Path) -> None:
    with pytest.raises(FreshetError, match="nowhere"):
        list(READERS[kind](tmp_path / "nowhere"))


@every_importer
@settings(max_examples=15, deadline=None, derandomize=True)
@given(data=st.data())
def test_garbage_is_an_error_of_ours_or_a_bad_row(kind: str, data) -> None:
    with TemporaryDirectory() as folder:
        path = INPUTS[kind](Path(folder))
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        spoil(sorted(files)[data.draw(st.integers(0, 99)) % len(files)], data)
        found, said = read_or_refused(kind, path)
        assert all(isinstance(item, Arrival | BadRow) for item in found)
        assert "\n" not in said


def read_or_refused(kind: str, path: Path) -> tuple[list[Arrival | BadRow], str]:
    """Return what an importer found, and the message with which it refused."""
    try:
        return list(READERS[kind](path)), ""
    except FreshetError as error:
        return [], str(error)


def spoil(file: Path, data) -> None:
    """Replace a file by noise, cut it, or alter a stretch of it."""
    content = file.read_bytes()
    file.chmod(0o600)
    start = data.draw(st.integers(0, 1000)) * len(content) // 1000
    noise = data.draw(st.binary(max_size=30))
    how = data.draw(st.sampled_from(["replace", "cut", "alter"]))
    made = {
        "replace": noise,
        "cut": content[:start],
        "alter": content[:start] + noise + content[start + len(noise) :],
    }
    file.write_bytes(made[how])
