"""Verify a collection: every record, every row, and that each has the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from freshet.archive.catalog.base import Catalog
from freshet.archive.warc.check import problems
from freshet.archive.warc.located import Fault
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import OPEN_SUFFIX, records
from freshet.archive.warc.record import uid
from freshet.core.types import Location, Visit
from freshet.flow.adopt import adopt
from freshet.flow.collection import Collection
from freshet.flow.damage import cut_out_damage
from freshet.flow.record import Recorder
from freshet.flow.recover import Mended

Progress = Callable[[int, int], None]
Payload = tuple[bytes | None, int | None]
CAPTURES = frozenset({"response", "resource", "revisit"})


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong, where it is, and what a repair does about it."""

    place: str
    what: str
    remedy: str = ""


@dataclass(slots=True)
class Report:
    """What a check found; ``mended`` says what a repair did."""

    files: int = 0
    records: int = 0
    rows: int = 0
    problems: list[Problem] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def check(collection: Collection, *, progress: Progress = lambda done, total: None) -> Report:
    """Look at every byte of the archive and every row of the catalog; change nothing."""
    report = Report()
    paths = {_final(path): path for path in archive_files(collection.archive)}
    total = sum(path.stat().st_size for path in paths.values())
    writer = ArchiveLock(collection.archive).holder()
    seen: set[bytes] = set()
    done = 0
    for name, path in paths.items():
        done += path.stat().st_size
        report.files += 1
        # Rows are read before records: whoever is writing now adds a record before its row.
        rows = list(collection.catalog.visits_in_file(name))
        end = _end(rows) if writer and path.name != name else None
        places = _checked_records(name, path, seen, report, end)
        report.problems += _against_rows(collection.catalog, rows, places)
        report.rows += len(rows)
        progress(done, total)
    for file in collection.catalog.files():
        if file.name not in paths:
            report.problems += _missing_file(collection.catalog, file.name, report)
    return report


def repair(collection: Collection, *, progress: Progress = lambda done, total: None) -> Report:
    """Mend what can be: adopt records without rows, clear the places of rows without records.

    Nothing is thrown away: what is cut from a file is kept beside it.
    """
    mended: list[str] = []
    with collection.appending() as lock:
        mended += map(_said, collection.mended)
        for path in archive_files(collection.archive):
            mended += cut_out_damage(collection, lock, path)
    with collection.recording() as recorder:
        mended += map(_said, collection.mended)
        mended += _clear_lost(collection)
        for path in archive_files(collection.archive):
            mended += _adopted(path, collection.catalog, recorder)
    report = check(collection, progress=progress)
    report.mended = mended
    return report


def _said(item: Mended) -> str:
    kept = f" (kept as {item.cut_file})" if item.cut_file else ""
    return f"{item.file}: cut {item.cut_bytes} bytes{kept}, adopted {item.adopted} records"


def _clear_lost(collection: Collection) -> list[str]:
    lost: dict[int, Location | None] = dict.fromkeys(_lost(collection))
    collection.catalog.set_locations(lost)
    return [f"{len(lost)} visits lost their bytes and say so now"] if lost else []


def _adopted(path: Path, catalog: Catalog, recorder: Recorder) -> list[str]:
    adopted = adopt(path, catalog, recorder)
    if not adopted.kept:
        return []
    return [f"{path.name}: adopted {adopted.new} records, {adopted.again} rows have bytes again"]


def archive_files(folder: Path) -> list[Path]:
    """Return the WARC files of an archive, also one that is being written."""
    return sorted([*folder.glob("*.warc.gz"), *folder.glob(f"*.warc.gz{OPEN_SUFFIX}")])


def _final(path: Path) -> str:
    return path.name.removesuffix(OPEN_SUFFIX)


def _end(rows: Sequence[Visit]) -> int:
    places = [visit.location for visit in rows if visit.location]
    return max((place.offset + place.length for place in places), default=0)


def _checked_records(
    name: str, path: Path, seen: set[bytes], report: Report, end: int | None = None
) -> dict[bytes, Location]:
    """Verify the records of a file, up to its end; return where each whole capture lies."""
    places = {}
    for found in records(path):
        if end is not None and found.offset >= end:
            break
        if isinstance(found, Fault):
            faults = [found.what]
        else:
            faults = list(problems(found, seen))
            if found.record.type in CAPTURES:
                places[uid(found.record.id)] = Location(name, found.offset, found.length)
        report.problems += [Problem(f"{name}, offset {found.offset}", what) for what in faults]
    report.records += len(places)
    return places


def _against_rows(
    catalog: Catalog, rows: Sequence[Visit], found: dict[bytes, Location]
) -> Iterator[Problem]:
    for visit in rows:
        if visit.location and found.pop(visit.uid, None) != visit.location:
            yield Problem(
                f"{visit.location.file}, offset {visit.location.offset}",
                f"row {visit.id} has no whole record there",
                "the row stays and loses its bytes",
            )
    known = catalog.known(list(found))
    for identity, place in found.items():
        if identity not in known:
            yield Problem(
                f"{place.file}, offset {place.offset}", "record has no row", "a row is made for it"
            )


def _missing_file(catalog: Catalog, name: str, report: Report) -> Iterator[Problem]:
    rows = sum(1 for _ in catalog.visits_in_file(name))
    report.rows += rows
    if rows:
        yield Problem(name, f"file is missing; {rows} rows point to it", "they lose their bytes")


def _lost(collection: Collection) -> Iterator[int]:
    """Yield the visits whose record is not whole where it should be, or revisits lost bytes."""
    kept: set[Payload] = set()
    again: dict[Payload, list[int]] = {}
    for file in collection.catalog.files():
        found = _types(collection.archive / file.name)
        for visit in collection.catalog.visits_in_file(file.name):
            kind = found.get((visit.uid, visit.location))
            if kind is None:
                yield visit.id or 0
            elif kind != "revisit":
                kept.add((visit.digest, visit.size))
            elif visit.digest is not None:
                again.setdefault((visit.digest, visit.size), []).append(visit.id or 0)
    for payload in again.keys() - kept:
        yield from again[payload]


def _types(path: Path) -> dict[tuple[bytes, Location | None], str]:
    """Return the whole captures of a file, by uid and place, and which type each is of."""
    if not path.exists():
        return {}
    return {
        (uid(found.record.id), Location(path.name, found.offset, found.length)): found.record.type
        for found in records(path, keep=0)
        if not isinstance(found, Fault) and found.record.type in CAPTURES
    }
