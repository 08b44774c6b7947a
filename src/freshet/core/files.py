"""Private files and folders, and output files that appear only when they are complete.

A collection holds secrets of its pages, so only its owner may read it. Output to ``NAME`` is
written as ``.NAME.PROCESS.part``, locked while it is written; what a killed process left is removed
by the next one.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from freshet.core.errors import NoSpaceError

PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE = 0o600, 0o700
OTHERS_MODE = 0o077


def make_private_folder(path: Path) -> None:
    """Make a folder and its missing parents, readable only by their owner."""
    if not path.parent.exists():
        make_private_folder(path.parent)
    path.mkdir(mode=PRIVATE_FOLDER_MODE, exist_ok=True)


def open_private(path: str, flags: int) -> int:
    """Open a file, readable only by its owner if it is new: an ``opener`` for ``open``."""
    return os.open(path, flags, PRIVATE_FILE_MODE)


def write_private_text(path: Path, text: str) -> None:
    """Write a file in UTF-8, readable only by its owner if it is new."""
    with open(path, "w", encoding="utf-8", opener=open_private) as file:
        file.write(text)


def files_readable_by_others(folder: Path) -> list[Path]:
    """Return the files of a folder that others may read; none if they cannot enter it."""
    if not _is_open_to_others(folder):
        return []
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in files if _is_open_to_others(path)]


def _is_open_to_others(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & OTHERS_MODE)
    except OSError:
        return False


@contextmanager
def atomic_output(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Give a file to write that replaces ``path`` at the end, and only if no error was raised.

    ``mode`` are its permissions, less those that the umask takes away.
    """
    remove_abandoned_partials(path)
    partial = partial_path(path)
    try:
        partial.touch(mode, exist_ok=True)
        with lock_partial(partial):
            yield partial
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoSpaceError(
            f"{path}: cannot be written ({reason}); free space or choose another place"
        ) from error
    finally:
        partial.unlink(missing_ok=True)


def partial_path(path: Path) -> Path:
    """Return the path at which this process writes an output until it is complete.

    >>> partial_path(Path("out.csv")).name == f".out.csv.{os.getpid()}.part"
    True
    """
    return _partial_path_of(path, os.getpid())


@contextmanager
def lock_partial(partial: Path) -> Iterator[None]:
    """Lock an unfinished output, a file or a folder, while it is written."""
    descriptor = os.open(partial, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def remove_abandoned_partials(path: Path) -> None:
    """Remove unfinished output that dead processes left for ``path``."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.(\d{{1,9}})\.part(\.\w+)?")
    with suppress(OSError):
        for entry in path.parent.iterdir():
            match = pattern.fullmatch(entry.name)
            if match and not _is_in_use(path, int(match[1])):
                _remove(entry)


def _partial_path_of(path: Path, process: int) -> Path:
    return path.with_name(f".{path.name}.{process}.part")


def _is_in_use(path: Path, process: int) -> bool:
    """Whether a process with that id is alive here, or one elsewhere holds the lock."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return _is_locked(_partial_path_of(path, process))
    except OSError:
        return True
    return True


def _is_locked(partial: Path) -> bool:
    try:
        with lock_partial(partial):
            return False
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _remove(entry: Path) -> None:
    with suppress(OSError):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
