"""What a crash left behind is mended when the archive is next opened for writing.

Files that were being exchanged when the crash came are settled; open files are cut after their last
whole record; whole records without a row are adopted; histories that were being measured anew are
finished.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from freshet.archive.catalog.base import Catalog
from freshet.archive.warc.located import Fault
from freshet.archive.warc.read import records
from freshet.archive.warc.recover import Recovered
from freshet.archive.warc.recover import recover as close_open_files
from freshet.flow.adopt import adopt
from freshet.flow.record import Recorder

EXCHANGING = "exchanging files"


@dataclass(frozen=True, slots=True)
class Mended:
    """What was mended in one file."""

    file: str
    cut_bytes: int = 0
    cut_file: str = ""
    adopted: int = 0


def recover(catalog: Catalog, folder: Path, recorder: Recorder) -> list[Mended]:
    """Mend the archive and the catalog; the archive's lock must be held."""
    settle_exchange(catalog, folder)
    ends = catalog.file_ends()
    closed = {item.file: item for item in close_open_files(folder, known=ends)}
    mended = []
    for path in sorted(folder.glob("*.warc.gz")):
        adopted = _mend(path, ends.get(path.name, 0), catalog, recorder)
        mended += _said(path.name, closed.get(path.name), adopted)
    recorder.finish_measuring()
    return mended


def settle_exchange(catalog: Catalog, folder: Path) -> None:
    """Delete those of the files being exchanged that no row points to any more."""
    names = json.loads(catalog.note(EXCHANGING) or "[]")
    for name in names:
        if next(catalog.visits_in_file(name), None) is None:
            (folder / name).unlink(missing_ok=True)
    if names:
        catalog.set_note(EXCHANGING, "[]")


def begin_exchange(catalog: Catalog, names: list[str]) -> None:
    """Note that of these files only those with rows are to stay."""
    catalog.set_note(EXCHANGING, json.dumps(names))


def _mend(path: Path, end: int, catalog: Catalog, recorder: Recorder) -> int:
    """Adopt what stands behind the last row's record; a file that only doubles others goes."""
    if path.stat().st_size <= end:
        return 0
    adopted = adopt(path, catalog, recorder, start=end)
    if end == 0 and not (adopted.kept or adopted.refused or _has_fault(path)):
        path.unlink()
    return adopted.kept


def _has_fault(path: Path) -> bool:
    return any(isinstance(found, Fault) for found in records(path, keep=0))


def _said(name: str, closed: Recovered | None, adopted: int) -> list[Mended]:
    if closed is not None:
        return [Mended(name, closed.cut_bytes, closed.cut_file, adopted)]
    return [Mended(name, adopted=adopted)] if adopted else []
