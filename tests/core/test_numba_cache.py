from pathlib import Path

import pytest

from freshet.core import numba_cache
from freshet.core.numba_cache import CACHE_VARIABLE, choose_cache_folder


def test_no_folder_is_chosen_if_the_package_or_the_home_is_writable(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    choose_cache_folder(tmp_path / "package", Path("/proc/nowhere"), environment)
    choose_cache_folder(Path("/proc/nowhere"), tmp_path, environment)
    assert environment == {}


def test_a_folder_that_is_already_set_is_kept(tmp_path: Path) -> None:
    environment = {CACHE_VARIABLE: "/somewhere"}
    choose_cache_folder(Path("/proc/a"), Path("/proc/b"), environment)
    assert environment == {CACHE_VARIABLE: "/somewhere"}


def test_a_private_folder_is_chosen_if_nothing_is_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba_cache, "_is_writable", lambda folder: False)
    monkeypatch.setattr(numba_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    environment: dict[str, str] = {}
    choose_cache_folder(Path("/a"), Path("/b"), environment)
    chosen = Path(environment[CACHE_VARIABLE])
    assert chosen.parent == tmp_path
    assert not chosen.stat().st_mode & 0o077


def test_a_folder_that_others_can_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba_cache, "_is_writable", lambda folder: False)
    monkeypatch.setattr(numba_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    first: dict[str, str] = {}
    choose_cache_folder(Path("/a"), Path("/b"), first)
    Path(first[CACHE_VARIABLE]).chmod(0o777)
    second: dict[str, str] = {}
    choose_cache_folder(Path("/a"), Path("/b"), second)
    assert second[CACHE_VARIABLE] != first[CACHE_VARIABLE]


def test_a_folder_that_cannot_be_read_is_not_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refuse)
    monkeypatch.setattr(numba_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    environment: dict[str, str] = {}
    choose_cache_folder(Path("/a"), None, environment)
    assert Path(environment[CACHE_VARIABLE]).parent == tmp_path
