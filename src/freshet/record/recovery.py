"""Repairs the archive after a crash, when it is next opened for writing.

A file replacement that was under way is finished. Open files are cut after their last whole record.
Whole records without a row are adopted. Histories that were being compared again are finished. Only
a file that the note on a replacement names is ever deleted.
"""

import json
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.warc.durable_files import storage_error, sync_folder
from freshet.archive.warc.read import OPEN_SUFFIX
from freshet.archive.warc.recover import recover_open_files
from freshet.record.orphan_records import adopt_orphan_records

if TYPE_CHECKING:
    from freshet.record.recorder import Recorder

REPLACEMENT_NOTE = "exchanging files"
EXAMINED_NOTE = "examined files"

# The size of a file, and the end of the last record in it that a row refers to.
FileExtent = list[int]


@dataclass(frozen=True, slots=True)
class FileRepair:
    """The repair of one file: the bytes cut off, the file that keeps them, the records adopted."""

    file: str
    cut_bytes: int = 0
    cut_file: str = ""
    adopted: int = 0


@dataclass(frozen=True, slots=True)
class FileReplacement:
    """A file and the new file that replaces it once it is complete, with its size then."""

    old_name: str
    new_name: str
    is_complete: bool = False
    new_bytes: int = 0


def recover_archive(catalog: Catalog, folder: Path, recorder: "Recorder") -> list[FileRepair]:
    """Repair the archive and the catalog; the archive must be locked."""
    finish_replacement(catalog, folder)
    closed_files = recover_open_files(folder, whole_until=catalog.archive_file_ends())
    repairs = {
        closed.file: FileRepair(closed.file, closed.cut_bytes, closed.cut_file)
        for closed in closed_files
    }
    for name, adopted in _adopt_new_records(catalog, folder, recorder).items():
        repairs[name] = replace(repairs.get(name, FileRepair(name)), adopted=adopted)
    recorder.finish_remeasuring()
    return [repairs[name] for name in sorted(repairs)]


def note_replacement(catalog: Catalog, replacement: FileReplacement) -> None:
    """Keep a note of a file that is being replaced."""
    catalog.write_note(REPLACEMENT_NOTE, json.dumps(astuple(replacement)))


def finish_replacement(catalog: Catalog, folder: Path) -> None:
    """Delete the old file if no row refers to it any more, else the new one."""
    if name := superseded_file(catalog, folder):
        _delete(folder, name)
    if json.loads(catalog.read_note(REPLACEMENT_NOTE) or "[]"):
        catalog.write_note(REPLACEMENT_NOTE, "[]")


def superseded_file(catalog: Catalog, folder: Path) -> str:
    """Return the file that a replacement under way deletes; empty if there is none.

    If the disk lost a part of the new file, both files stay, and a repair adopts the records.
    """
    values = json.loads(catalog.read_note(REPLACEMENT_NOTE) or "[]")
    if not values:
        return ""
    replacement = FileReplacement(*values)
    if not replacement.is_complete or any(catalog.visits_in_file(replacement.old_name)):
        return replacement.new_name
    is_whole = file_size(folder / replacement.new_name) >= replacement.new_bytes
    return replacement.old_name if is_whole else ""


def file_size(path: Path) -> int:
    """Return the size of a file, 0 if there is none."""
    return path.stat().st_size if path.exists() else 0


def has_unexamined_records(catalog: Catalog, path: Path, end: int) -> bool:
    """Whether the next recovery adopts the records of a file after the last one with a row."""
    examined = json.loads(catalog.read_note(EXAMINED_NOTE) or "{}")
    size = path.stat().st_size
    return size > end and examined.get(path.name) != [size, end]


def _delete(folder: Path, name: str) -> None:
    """Delete a file, whether it is closed or still open."""
    try:
        for path in (folder / name, folder / (name + OPEN_SUFFIX)):
            path.unlink(missing_ok=True)
        sync_folder(folder)
    except OSError as error:
        raise storage_error(error, folder / name) from error


def _adopt_new_records(catalog: Catalog, folder: Path, recorder: "Recorder") -> dict[str, int]:
    """Adopt the records of each file after the last one with a row; return their numbers.

    A file that was examined before and has not grown is not read again.
    """
    extents = _file_extents(catalog, folder)
    examined = json.loads(catalog.read_note(EXAMINED_NOTE) or "{}")
    adopted = {}
    for name in [name for name, extent in extents.items() if examined.get(name) != extent]:
        start = extents[name][1]
        summary = adopt_orphan_records(folder / name, catalog, recorder, start=start)
        adopted[name] = summary.useful_records
    if adopted:
        extents = _file_extents(catalog, folder)
    if extents != examined:
        catalog.write_note(EXAMINED_NOTE, json.dumps(extents))
    return {name: count for name, count in adopted.items() if count}


def _file_extents(catalog: Catalog, folder: Path) -> dict[str, FileExtent]:
    """Return the extents of the files that have bytes after their last record with a row."""
    ends = catalog.archive_file_ends()
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.warc.gz"))}
    return {
        name: [size, ends.get(name, 0)] for name, size in sizes.items() if size > ends.get(name, 0)
    }
