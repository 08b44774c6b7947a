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


def part_of_output(path: Path) -> Path:
    """Return where this process writes an output before it gets its name.

    >>> part_of_output(Path("out.csv")).name == f".out.csv.{os.getpid()}.part"
    True
    """
    return path.with_name(f".{path.name}.{os.getpid()}.part")


@contextmanager
def held(part: Path) -> Iterator[None]:
    """Show others that an unfinished output, a file or a folder, is being written."""
    file = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(file)


def remove_abandoned_parts(path: Path) -> None:
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
        with held(part):
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
