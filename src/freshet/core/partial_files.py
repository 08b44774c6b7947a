"""Unfinished output: files and folders that a killed process left are removed by the next one.

Output to ``NAME`` is written as ``.NAME.PROCESS.part``, locked while it is written.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from freshet.core.errors import NoSpaceError


def partial_path(path: Path) -> Path:
    """Return where this process writes an output before it gets its name.

    >>> partial_path(Path("out.csv")).name == f".out.csv.{os.getpid()}.part"
    True
    """
    return path.with_name(f".{path.name}.{os.getpid()}.part")


@contextmanager
def atomic_output(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Give a file to write that takes the place of ``path`` once all went well, and only then.

    ``mode`` is who may read and write it, less what the umask takes away.
    """
    remove_abandoned_partials(path)
    part = partial_path(path)
    try:
        part.touch(mode, exist_ok=True)
        with lock_partial(part):
            yield part
        _sync(part)
        part.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoSpaceError(
            f"{path}: cannot be written ({reason}); free space or choose another place"
        ) from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def lock_partial(part: Path) -> Iterator[None]:
    """Show others that an unfinished output, a file or a folder, is being written."""
    file = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(file)


def remove_abandoned_partials(path: Path) -> None:
    """Remove unfinished output of an earlier process that is dead; anything else stays."""
    name = re.compile(rf"\.{re.escape(path.name)}\.(\d{{1,9}})\.part(\.\w+)?")
    with suppress(OSError):
        for entry in path.parent.iterdir():
            match = name.fullmatch(entry.name)
            if match and not _is_used(
                path.with_name(f".{path.name}.{match[1]}.part"), int(match[1])
            ):
                _remove(entry)


def _is_used(part: Path, process: int) -> bool:
    """Whether a process of that number is alive here, or one elsewhere holds the output."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return _is_held(part)
    except OSError:
        return True
    return True


def _is_held(part: Path) -> bool:
    try:
        with lock_partial(part):
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


def _sync(path: Path) -> None:
    """Wait until a file's bytes are on the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
