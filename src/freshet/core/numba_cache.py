"""Where compiled functions are kept from one run to the next."""

import os
import stat
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

CACHE_VARIABLE = "NUMBA_CACHE_DIR"


def choose_cache_folder(
    package: Path, home: Path | None, environment: MutableMapping[str, str]
) -> None:
    """Name a folder for compiled code where neither the package nor the home can be written.

    Compiled functions are kept beside the package or in the user's cache. A service user may have
    neither, and compiling would then be refused: a private temporary folder serves instead.
    """
    usual = [package] if home is None else [package, home / ".cache" / "numba"]
    if CACHE_VARIABLE in environment or any(map(_can_write, usual)):
        return
    environment[CACHE_VARIABLE] = str(_private_folder())


def user_home() -> Path | None:
    """Return the user's home; None where the system knows of none."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def _can_write(folder: Path) -> bool:
    """Whether files can be made in a folder, or in the nearest folder above that is there."""
    try:
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _private_folder() -> Path:
    """Return a folder of this user's own: one that others could write would be a way in."""
    folder = Path(tempfile.gettempdir()) / f"freshet-compiled-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    mine = found.st_uid == os.getuid() and stat.S_ISDIR(found.st_mode)
    if mine and not found.st_mode & 0o077:
        return folder
    return Path(tempfile.mkdtemp(prefix="freshet-compiled-"))
