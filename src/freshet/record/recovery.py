"""What a crash left behind is mended when the archive is next opened for writing.

A file that was being exchanged when the crash came is settled; open files are cut after their last
whole record; whole records without a row are adopted; histories that were being measured anew are
finished. Only a file that the note on an exchange names is ever deleted.
"""

import json
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.warc.durable_files import storage_error, sync_folder
from freshet.archive.warc.read import OPEN_SUFFIX
from freshet.archive.warc.recover import RecoveredFile
from freshet.archive.warc.recover import recover_open_files as close_open_files
from freshet.record.orphan_records import adopt_orphan_records

if TYPE_CHECKING:
    from freshet.record.recorder import Recorder

REPLACEMENT_NOTE = "exchanging files"
EXAMINED_NOTE = "examined files"

FileExtent = list[int]


@dataclass(frozen=True, slots=True)
class FileRepair:
    """What was mended in one file."""

    file: str
    cut_bytes: int = 0
    cut_file: str = ""
    adopted: int = 0


@dataclass(frozen=True, slots=True)
class FileReplacement:
    """A file and the one that takes its place, which counts only once it is whole.

    ``new_bytes`` is the size of the new file then.
    """

    old_name: str
    new_name: str
    is_complete: bool = False
    new_bytes: int = 0


def recover_archive(catalog: Catalog, folder: Path, recorder: "Recorder") -> list[FileRepair]:
    """Mend the archive and the catalog; the archive's lock must be held."""
    finish_replacement(catalog, folder)
    closed = {
        item.file: item
        for item in close_open_files(folder, whole_until=catalog.archive_file_ends())
    }
    adopted = _adopt_new(catalog, folder, recorder)
    recorder.finish_remeasuring()
    names = sorted(closed.keys() | adopted.keys())
    return [_mended(name, closed.get(name), adopted.get(name, 0)) for name in names]


def note_replacement(catalog: Catalog, exchange: FileReplacement) -> None:
    """Note which file is being exchanged for which."""
    catalog.write_note(REPLACEMENT_NOTE, json.dumps(astuple(exchange)))


def finish_replacement(catalog: Catalog, folder: Path) -> None:
    """Delete the old file once no row points to it, or the new one where the old is needed yet."""
    if name := superseded_file(catalog, folder):
        _delete(folder, name)
    if json.loads(catalog.read_note(REPLACEMENT_NOTE) or "[]"):
        catalog.write_note(REPLACEMENT_NOTE, "[]")


def superseded_file(catalog: Catalog, folder: Path) -> str:
    """Return which file of an exchange that is under way is to be deleted; empty where none is.

    Where the disk lost what was written of the new file, both stay: a repair finds the records.
    """
    noted = json.loads(catalog.read_note(REPLACEMENT_NOTE) or "[]")
    if not noted:
        return ""
    exchange = FileReplacement(*noted)
    if (
        not exchange.is_complete
        or next(catalog.visits_in_file(exchange.old_name), None) is not None
    ):
        return exchange.new_name
    return exchange.old_name if file_size(folder / exchange.new_name) >= exchange.new_bytes else ""


def file_size(path: Path) -> int:
    """Return the size of a file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def has_unexamined_records(catalog: Catalog, path: Path, end: int) -> bool:
    """Whether the next recovery adopts what stands behind the last row's record of a file."""
    examined = json.loads(catalog.read_note(EXAMINED_NOTE) or "{}")
    size = path.stat().st_size
    return size > end and examined.get(path.name) != [size, end]


def _delete(folder: Path, name: str) -> None:
    """Delete a file, whether it bears its final name or is still open."""
    try:
        for path in (folder / name, folder / (name + OPEN_SUFFIX)):
            path.unlink(missing_ok=True)
        sync_folder(folder)
    except OSError as error:
        raise storage_error(error, folder / name) from error


def _adopt_new(catalog: Catalog, folder: Path, recorder: "Recorder") -> dict[str, int]:
    """Adopt what stands behind the last row's record of each file; return how much of which.

    What was examined before and has not grown is not read again, such as a file of somebody else.
    """
    before, known = _extents(catalog, folder), json.loads(catalog.read_note(EXAMINED_NOTE) or "{}")
    unseen = [name for name, extent in before.items() if known.get(name) != extent]
    adopted = {
        name: adopt_orphan_records(
            folder / name, catalog, recorder, start=before[name][1]
        ).useful_records
        for name in unseen
    }
    after = _extents(catalog, folder) if unseen else before
    if after != known:
        catalog.write_note(EXAMINED_NOTE, json.dumps(after))
    return {name: count for name, count in adopted.items() if count}


def _extents(catalog: Catalog, folder: Path) -> dict[str, FileExtent]:
    """Return, of files that go on behind the last row's record, their size and where that ends."""
    ends = catalog.archive_file_ends()
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.warc.gz"))}
    return {
        name: [size, ends.get(name, 0)] for name, size in sizes.items() if size > ends.get(name, 0)
    }


def _mended(name: str, closed: RecoveredFile | None, adopted: int) -> FileRepair:
    if closed is None:
        return FileRepair(name, adopted=adopted)
    return FileRepair(name, closed.cut_bytes, closed.cut_file, adopted)
