"""Crash recovery: truncate each open file after its last complete record, and save the rest."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from freshet.archive.warc.durable_files import (
    rename_durably,
    save_range,
    storage_error,
    sync_folder,
)
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.read import OPEN_SUFFIX, closed_name, read_records


@dataclass(frozen=True, slots=True)
class RecoveredFile:
    """A file that a crash had left open, its new length, and the file that holds its cut tail."""

    file: str
    length: int
    cut_bytes: int = 0
    cut_file: str = ""


def recover_open_files(
    folder: Path, *, whole_until: Mapping[str, int] | None = None
) -> list[RecoveredFile]:
    """Close every file that a crash left open; the caller must hold the archive lock.

    ``whole_until`` maps the final name of a file to an offset before which all records are
    complete.
    """
    whole_until = whole_until or {}
    left_open = sorted(folder.glob(f"*.warc.gz{OPEN_SUFFIX}"))
    return [_recover_file(path, whole_until.get(closed_name(path), 0)) for path in left_open]


def _recover_file(path: Path, whole_until: int) -> RecoveredFile:
    final_path = path.with_name(closed_name(path))
    size = path.stat().st_size
    end = _whole_end(path, whole_until if whole_until <= size else 0)
    if end == size:
        _truncate_and_rename(path, final_path, end)
        return RecoveredFile(final_path.name, end)
    tail_path = final_path.with_name(f"{final_path.name}.cut-{end}")
    save_range(path, end, size, tail_path)
    _truncate_and_rename(path, final_path, end)
    return RecoveredFile(final_path.name, end, size - end, tail_path.name)


def _whole_end(path: Path, start: int) -> int:
    """Return the end of the last complete record; records behind damage are kept as well."""
    end = start
    for item in read_records(path, start=start):
        if isinstance(item, LocatedRecord) and item.is_copyable:
            end = item.offset + item.length
    return end


def _truncate_and_rename(path: Path, final_path: Path, end: int) -> None:
    """Truncate and rename a file; delete it if no complete record is left."""
    try:
        if end == 0:
            path.unlink()
            sync_folder(path.parent)
            return
        with path.open("r+b") as file:
            file.truncate(end)
            os.fsync(file.fileno())
        rename_durably(path, final_path)
    except OSError as error:
        raise storage_error(error, path) from error
