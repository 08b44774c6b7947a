"""Files and folders that only their owner can read: a collection holds secrets of its pages."""

import os
from pathlib import Path

PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE = 0o600, 0o700
OTHERS_MODE = 0o077


def make_private_folder(path: Path) -> None:
    """Make a folder and those it lies in for their owner alone, where there are none yet."""
    if not path.parent.exists():
        make_private_folder(path.parent)
    path.mkdir(mode=PRIVATE_FOLDER_MODE, exist_ok=True)


def open_private(path: str, flags: int) -> int:
    """Open a file, made for its owner alone where it is new: an ``opener`` for ``open``."""
    return os.open(path, flags, PRIVATE_FILE_MODE)


def write_private_text(path: Path, text: str) -> None:
    """Write a file in UTF-8, made for its owner alone where it is new."""
    with open(path, "w", encoding="utf-8", opener=open_private) as file:
        file.write(text)


def files_readable_by_others(folder: Path) -> list[Path]:
    """Return the files of a folder that others may read; none where they cannot enter it."""
    if not _is_open(folder):
        return []
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and _is_open(path)]


def _is_open(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & OTHERS_MODE)
    except OSError:
        return False
