"""After a crash: cut each open file after its last whole record, and keep what was cut."""

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
    """A file that a crash had left open: where it now ends, and where its cut tail was put."""

    file: str
    length: int
    cut_bytes: int = 0
    cut_file: str = ""


def recover_open_files(
    folder: Path, *, whole_until: Mapping[str, int] | None = None
) -> list[RecoveredFile]:
    """Close every file that a crash left open; the archive's lock must be held.

    ``whole_until`` tells for a file's final name up to which offset its records are known to be whole.
    """
    whole_until = whole_until or {}
    left_open = sorted(folder.glob(f"*.warc.gz{OPEN_SUFFIX}"))
    return [_recover(path, whole_until.get(closed_name(path), 0)) for path in left_open]


def _recover(path: Path, known: int) -> RecoveredFile:
    final = path.with_name(closed_name(path))
    size = path.stat().st_size
    end = _whole_end(path, known if known <= size else 0)
    if end == size:
        _close(path, final, end)
        return RecoveredFile(final.name, end)
    aside = final.with_name(f"{final.name}.cut-{end}")
    save_range(path, end, size, aside)
    _close(path, final, end)
    return RecoveredFile(final.name, end, size - end, aside.name)


def _whole_end(path: Path, known: int) -> int:
    """Return where the last whole record ends; records beyond damage are kept as well."""
    end = known
    for found in read_records(path, start=known):
        if isinstance(found, LocatedRecord) and found.is_copyable:
            end = found.offset + found.length
    return end


def _close(path: Path, final: Path, end: int) -> None:
    """Cut a file and give it its final name; one without a whole record was set aside entirely."""
    try:
        if end == 0:
            path.unlink()
            sync_folder(path.parent)
            return
        with path.open("r+b") as file:
            file.truncate(end)
            os.fsync(file.fileno())
        rename_durably(path, final)
    except OSError as error:
        raise storage_error(error, path) from error
