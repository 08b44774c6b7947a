"""Chooses the folder in which numba caches compiled functions."""

import os
import stat
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

CACHE_VARIABLE = "NUMBA_CACHE_DIR"


def choose_cache_folder(
    package: Path, home: Path | None, environment: MutableMapping[str, str]
) -> None:
    """Set numba's cache folder if it can write neither beside the package nor in the home.

    A service user may have neither, and numba would then refuse to compile. A private temporary
    folder is used instead.
    """
    usual = [package] if home is None else [package, home / ".cache" / "numba"]
    if CACHE_VARIABLE in environment or any(map(_is_writable, usual)):
        return
    environment[CACHE_VARIABLE] = str(_private_folder())


def user_home() -> Path | None:
    """Return the user's home folder; None if the system has none for the user."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def _is_writable(folder: Path) -> bool:
    """Whether files can be made in a folder, or in its nearest parent that exists."""
    try:
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _private_folder() -> Path:
    """Return a folder that only this user can write: others could put code into it otherwise."""
    folder = Path(tempfile.gettempdir()) / f"freshet-compiled-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    is_own = status.st_uid == os.getuid() and stat.S_ISDIR(status.st_mode)
    if is_own and not status.st_mode & 0o077:
        return folder
    return Path(tempfile.mkdtemp(prefix="freshet-compiled-"))
