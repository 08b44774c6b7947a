"""Verify a collection: every record, every row, and that each has the other."""

from collections.abc import Collection as Items
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.sqlite import RESTORE
from freshet.archive.warc.check import problems
from freshet.archive.warc.digest import sha1
from freshet.archive.warc.http_message import payload
from freshet.archive.warc.located_record import Fault, Found, Located
from freshet.archive.warc.read import archive_files, closed_name, records
from freshet.archive.warc.record import uid
from freshet.core.progress import Progress, silent
from freshet.core.types import Location, Visit
from freshet.record.damage import cut_out_damage
from freshet.record.orphan_records import adopt
from freshet.record.recorder import Recorder
from freshet.record.recovery import Mended, is_unexamined, superseded_file
from freshet.record.store import CATALOG_FILE, CollectionStore

Payload = tuple[bytes | None, int | None]
REPAIR = "run 'freshet check --repair'"
CLEAR = f"{REPAIR}: the row stays and loses its bytes"
WRITTEN_SO = "it was written so and stays; compare it with where it came from"
ASIDE = f"{REPAIR}; if it is named again, move it out of the archive folder"


class Capture(NamedTuple):
    """A whole capture: its place, its type, and its payload's digest where it declares none."""

    place: Location
    type: str
    sha1: bytes | None


Captures = dict[bytes, Capture]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong, where it is, and what to do about it."""

    place: str
    what: str
    remedy: str = REPAIR

    def __str__(self) -> str:
        """Name the place, what is wrong there, and what to do."""
        return f"{self.place}: {self.what}; {self.remedy}"


BEHIND = (
    "what stands behind its last row is being written, or was left by a crash: the next command"
    " that writes to the archive takes it in"
)


REPLACED = (
    "it is being written anew, or a crash cut that short: the next command that writes to the"
    " archive deletes it; nothing refers to it"
)


@dataclass(slots=True)
class Report:
    """What a check found; ``mended`` says what a repair did."""

    files: int = 0
    records: int = 0
    rows: int = 0
    problems: list[Problem] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


@dataclass(slots=True)
class Payloads:
    """Which payloads are kept, and the visits that only refer to one."""

    kept: set[Payload] = field(default_factory=set)
    referring: dict[Payload, list[Visit]] = field(default_factory=dict)

    def note(self, visit: Visit, kind: str) -> None:
        """Take note of a visit whose record is of that type."""
        held = visit.digest, visit.size
        if kind != "revisit":
            self.kept.add(held)
        elif visit.digest is not None:
            self.referring.setdefault(held, []).append(visit)

    def lost(self) -> Iterator[Visit]:
        """Yield the visits that refer to a payload that is nowhere."""
        for nowhere in self.referring.keys() - self.kept:
            yield from self.referring[nowhere]


def check(collection: CollectionStore, *, progress: Progress = silent) -> Report:
    """Look at every byte of the archive and every row of the catalog; change nothing.

    Where the catalog itself is damaged its rows are not asked.
    """
    faults = collection.catalog.faults()
    report = Report(problems=[Problem(CATALOG_FILE, what, RESTORE) for what in faults])
    paths = {closed_name(path): path for path in archive_files(collection.archive)}
    replaced = "" if faults else superseded_file(collection.catalog, collection.archive)
    if paths.pop(replaced, None):
        report.notes.append(f"{replaced}: {REPLACED}")
    total = sum(path.stat().st_size for path in paths.values())
    seen: set[bytes] = set()
    payloads = Payloads()
    done = 0
    for name, path in paths.items():
        done += path.stat().st_size
        report.files += 1
        if faults:
            _checked_records(name, path, seen, report)
        else:
            _check_file(collection.catalog, path, seen, payloads, report)
        progress(done, total)
    if not faults:
        report.problems += map(_unreadable, collection.catalog.unreadable_settings())
        report.problems += map(_lost_payload, payloads.lost())
        report.problems += _missing_files(collection.catalog, paths.keys(), report)
    return report


def _check_file(
    catalog: Catalog, path: Path, seen: set[bytes], payloads: Payloads, report: Report
) -> None:
    """Verify a file against its rows; one that is still open, up to its last row."""
    name = closed_name(path)
    # Rows are read before records: whoever is writing now adds a record before its row.
    rows = list(catalog.visits_in_file(name))
    end = _end(rows) if path.name != name else None
    if end is not None and path.stat().st_size > end:
        report.notes.append(f"{path.name}: {BEHIND}")
    found = _checked_records(name, path, seen if rows else set(), report, end)
    for visit in rows:
        if visit.uid in found:
            payloads.note(visit, found[visit.uid].type)
    if path.name == name and is_unexamined(catalog, path, _end(rows)):
        found = _without_waiting(catalog, found, path, _end(rows), report)
    report.problems += _against_rows(catalog, rows, found) if rows else _foreign(catalog, found)
    report.rows += len(rows)


def _without_waiting(
    catalog: Catalog, found: Captures, path: Path, end: int, report: Report
) -> Captures:
    """Return the captures of a closed file that do not wait for a row, and note that some do.

    Such are left by a crash while a batch was written into several files. A file without any row is
    passed over as a whole where some of its captures wait.
    """
    behind = [identity for identity, capture in found.items() if capture.place.offset >= end]
    waiting = set(behind) - catalog.known(behind)
    if not waiting:
        return found
    report.notes.append(f"{path.name}: {BEHIND}")
    return {key: found[key] for key in found.keys() - waiting} if end else {}


def repair(collection: CollectionStore, *, progress: Progress = silent) -> Report:
    """Mend what can be: adopt records without rows, clear the places of rows without records.

    Nothing is thrown away: what is cut from a file is kept beside it. Nothing is touched where the
    catalog itself is damaged.
    """
    if collection.catalog.faults():
        return check(collection, progress=progress)
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
    return f"{item.file}: bytes cut: {item.cut_bytes:,}{kept}; records adopted: {item.adopted:,}"


def _clear_lost(collection: CollectionStore) -> list[str]:
    lost: dict[int, Location | None] = dict.fromkeys(_lost(collection))
    collection.catalog.set_locations(lost)
    return [f"visits that lost their bytes and say so now: {len(lost):,}"] if lost else []


def _adopted(path: Path, catalog: Catalog, recorder: Recorder) -> list[str]:
    adopted = adopt(path, catalog, recorder)
    if not adopted.kept:
        return []
    said = f"records adopted: {adopted.new:,}; rows that have their bytes again: {adopted.again:,}"
    return [f"{path.name}: {said}"]


def _end(rows: Sequence[Visit]) -> int:
    places = [visit.location for visit in rows if visit.location]
    return max((place.offset + place.length for place in places), default=0)


def _checked_records(
    name: str, path: Path, seen: set[bytes], report: Report, end: int | None = None
) -> Captures:
    """Verify the records of a file, up to its end; return its whole captures."""
    captures: Captures = {}
    for found in records(path):
        if end is not None and found.offset >= end:
            break
        report.problems += _wrong_with(found, Location(name, found.offset, 0), seen)
        if isinstance(found, Located) and found.record.is_capture:
            place = Location(name, found.offset, found.length)
            capture = Capture(place, found.record.type, _undeclared_sha1(found))
            captures.setdefault(uid(found.record.id), capture)
    report.records += len(captures)
    return captures


def _undeclared_sha1(found: Located) -> bytes | None:
    """Return the digest of a payload that only the catalog vouches for."""
    record = found.record
    if record.type == "revisit" or found.is_partial or record.field("WARC-Payload-Digest"):
        return None
    return sha1(payload(record).body)


def _wrong_with(found: Found, place: Location, seen: set[bytes]) -> list[Problem]:
    """Return what is wrong with a record; one that is whole was written so, and stays."""
    if isinstance(found, Fault):
        return [Problem(_place(place), found.what)]
    remedy = WRITTEN_SO if found.copyable else REPAIR
    return [Problem(_place(place), what, remedy) for what in problems(found, seen)]


def _against_rows(catalog: Catalog, rows: Sequence[Visit], found: Captures) -> Iterator[Problem]:
    for visit in rows:
        capture = found.pop(visit.uid, None)
        if visit.location and (capture is None or capture.place != visit.location):
            yield Problem(
                _place(visit.location), f"row {visit.id} has no whole record there", CLEAR
            )
        elif capture and capture.sha1 and visit.digest and capture.sha1 != visit.digest:
            what = f"payload is not the one of which row {visit.id} has the digest"
            yield Problem(_place(capture.place), what, WRITTEN_SO)
    yield from _without_row(found, catalog.known(list(found)))


def _foreign(catalog: Catalog, found: Captures) -> Iterator[Problem]:
    """Yield what is wrong with a file that no row points to: it may only double others."""
    known = catalog.known(list(found))
    if known and len(known) == len(found):
        file = next(iter(found.values())).place.file
        what = f"file belongs to no visit; its captures, all of them known: {len(known):,}"
        yield Problem(file, what, ASIDE)
    yield from _without_row(found, known)


def _without_row(found: Captures, known: set[bytes]) -> Iterator[Problem]:
    for identity, capture in found.items():
        if identity not in known:
            remedy = f"{REPAIR}: a row is made for it"
            yield Problem(_place(capture.place), "record has no row", remedy)


def _unreadable(target: str) -> Problem:
    what = f"the settings of {target} cannot be read"
    return Problem(CATALOG_FILE, what, "set them anew with 'freshet set'")


def _lost_payload(visit: Visit) -> Problem:
    what = f"row {visit.id} is of a revisit whose bytes are nowhere"
    return Problem(_place(visit.location) if visit.location else CATALOG_FILE, what, CLEAR)


def _place(location: Location) -> str:
    return f"{location.file}, offset {location.offset}"


def _missing_files(catalog: Catalog, there: Items[str], report: Report) -> Iterator[Problem]:
    for file in catalog.files():
        rows = 0 if file.name in there else sum(1 for _ in catalog.visits_in_file(file.name))
        report.rows += rows
        if rows:
            what = f"file is missing; rows that point to it: {rows:,}"
            yield Problem(file.name, what, f"put it back, or {REPAIR}: they lose their bytes")


def _lost(collection: CollectionStore) -> Iterator[int]:
    """Yield the visits whose record is not whole where it should be, or revisits lost bytes."""
    payloads = Payloads()
    for file in collection.catalog.files():
        found = _types(collection.archive / file.name)
        for visit in collection.catalog.visits_in_file(file.name):
            kind = found.get((visit.uid, visit.location))
            if kind is None:
                yield visit.id or 0
            else:
                payloads.note(visit, kind)
    yield from (visit.id or 0 for visit in payloads.lost())


def _types(path: Path) -> dict[tuple[bytes, Location | None], str]:
    """Return the whole captures of a file, by uid and place, and which type each is of."""
    if not path.exists():
        return {}
    return {
        (uid(found.record.id), Location(path.name, found.offset, found.length)): found.record.type
        for found in records(path, keep=0)
        if not isinstance(found, Fault) and found.record.is_capture
    }
