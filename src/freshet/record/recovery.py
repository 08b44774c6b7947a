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
from freshet.archive.warc.recover import Recovered
from freshet.archive.warc.recover import recover as close_open_files
from freshet.record.orphan_records import adopt

if TYPE_CHECKING:
    from freshet.record.recorder import Recorder

EXCHANGING = "exchanging files"
EXAMINED = "examined files"

Extent = list[int]


@dataclass(frozen=True, slots=True)
class Mended:
    """What was mended in one file."""

    file: str
    cut_bytes: int = 0
    cut_file: str = ""
    adopted: int = 0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A file and the one that takes its place, which counts only once it is whole.

    ``new_bytes`` is the size of the new file then.
    """

    old: str
    new: str
    is_whole: bool = False
    new_bytes: int = 0


def recover(catalog: Catalog, folder: Path, recorder: "Recorder") -> list[Mended]:
    """Mend the archive and the catalog; the archive's lock must be held."""
    settle_exchange(catalog, folder)
    closed = {item.file: item for item in close_open_files(folder, known=catalog.file_ends())}
    adopted = _adopt_new(catalog, folder, recorder)
    recorder.finish_measuring()
    names = sorted(closed.keys() | adopted.keys())
    return [_mended(name, closed.get(name), adopted.get(name, 0)) for name in names]


def begin_exchange(catalog: Catalog, exchange: Exchange) -> None:
    """Note which file is being exchanged for which."""
    catalog.set_note(EXCHANGING, json.dumps(astuple(exchange)))


def settle_exchange(catalog: Catalog, folder: Path) -> None:
    """Delete the old file once no row points to it, or the new one where the old is needed yet."""
    if name := superseded_file(catalog, folder):
        _delete(folder, name)
    if json.loads(catalog.note(EXCHANGING) or "[]"):
        catalog.set_note(EXCHANGING, "[]")


def superseded_file(catalog: Catalog, folder: Path) -> str:
    """Return which file of an exchange that is under way is to be deleted; empty where none is.

    Where the disk lost what was written of the new file, both stay: a repair finds the records.
    """
    noted = json.loads(catalog.note(EXCHANGING) or "[]")
    if not noted:
        return ""
    exchange = Exchange(*noted)
    if not exchange.is_whole or next(catalog.visits_in_file(exchange.old), None) is not None:
        return exchange.new
    return exchange.old if file_size(folder / exchange.new) >= exchange.new_bytes else ""


def file_size(path: Path) -> int:
    """Return the size of a file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def is_unexamined(catalog: Catalog, path: Path, end: int) -> bool:
    """Whether the next recovery adopts what stands behind the last row's record of a file."""
    examined = json.loads(catalog.note(EXAMINED) or "{}")
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
    before, known = _extents(catalog, folder), json.loads(catalog.note(EXAMINED) or "{}")
    unseen = [name for name, extent in before.items() if known.get(name) != extent]
    adopted = {
        name: adopt(folder / name, catalog, recorder, start=before[name][1]).kept for name in unseen
    }
    after = _extents(catalog, folder) if unseen else before
    if after != known:
        catalog.set_note(EXAMINED, json.dumps(after))
    return {name: count for name, count in adopted.items() if count}


def _extents(catalog: Catalog, folder: Path) -> dict[str, Extent]:
    """Return, of files that go on behind the last row's record, their size and where that ends."""
    ends = catalog.file_ends()
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.warc.gz"))}
    return {
        name: [size, ends.get(name, 0)] for name, size in sizes.items() if size > ends.get(name, 0)
    }


def _mended(name: str, closed: Recovered | None, adopted: int) -> Mended:
    if closed is None:
        return Mended(name, adopted=adopted)
    return Mended(name, closed.cut_bytes, closed.cut_file, adopted)
