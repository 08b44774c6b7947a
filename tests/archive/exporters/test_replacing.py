"""Files that are whole or not there."""

from pathlib import Path

import pytest

from freshet.archive.exporters.base import replacing
from freshet.core.errors import NoSpace


def test_the_old_file_stands_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def _fail_half_way(path: Path) -> None:
    with replacing(path) as part:
        part.write_text("half")
        raise KeyboardInterrupt


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _fail_half_way(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoSpace, match="cannot be written"), replacing(tmp_path / "no" / "out"):
        pass
