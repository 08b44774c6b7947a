"""Verify a collection: every record, every row, and that each has the other."""

from collections.abc import Collection as Items
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.sqlite import RESTORE_ADVICE
from freshet.archive.warc.check import record_problems
from freshet.archive.warc.digest import sha1
from freshet.archive.warc.http_message import parse_payload
from freshet.archive.warc.located_record import ArchiveFault, LocatedRecord, RecordOrFault
from freshet.archive.warc.read import archive_files, closed_name, read_records
from freshet.archive.warc.record import uid_of_record_id
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.types import RecordLocation, Visit
from freshet.record.damage import cut_out_damage
from freshet.record.orphan_records import adopt_orphan_records
from freshet.record.recorder import Recorder
from freshet.record.recovery import FileRepair, has_unexamined_records, superseded_file
from freshet.record.store import CATALOG_FILE, CollectionStore

PayloadId = tuple[bytes | None, int | None]
REPAIR_REMEDY = "run 'freshet check --repair'"
CLEAR_REMEDY = f"{REPAIR_REMEDY}: the row stays and loses its bytes"
KEEP_REMEDY = "it was written so and stays; compare it with where it came from"
MOVE_REMEDY = f"{REPAIR_REMEDY}; if it is named again, move it out of the archive folder"


class CheckedCapture(NamedTuple):
    """A whole capture: its place, its type, and its payload's digest where it declares none."""

    place: RecordLocation
    type: str
    sha1: bytes | None


CapturesByUid = dict[bytes, CheckedCapture]


@dataclass(frozen=True, slots=True)
class CheckProblem:
    """Something wrong, where it is, and what to do about it."""

    place: str
    what: str
    remedy: str = REPAIR_REMEDY

    def __str__(self) -> str:
        """Name the place, what is wrong there, and what to do."""
        return f"{self.place}: {self.what}; {self.remedy}"


UNACKNOWLEDGED_NOTICE = (
    "what stands behind its last row is being written, or was left by a crash: the next command"
    " that writes to the archive takes it in"
)


REPLACED_NOTICE = (
    "it is being written anew, or a crash cut that short: the next command that writes to the"
    " archive deletes it; nothing refers to it"
)


@dataclass(slots=True)
class CheckReport:
    """What a check found; ``repairs`` says what a repair did."""

    files: int = 0
    records: int = 0
    rows: int = 0
    problems: list[CheckProblem] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


@dataclass(slots=True)
class PayloadReferences:
    """Which payloads are kept, and the visits that only refer to one."""

    stored_payloads: set[PayloadId] = field(default_factory=set)
    revisits_by_payload: dict[PayloadId, list[Visit]] = field(default_factory=dict)

    def add(self, visit: Visit, kind: str) -> None:
        """Take note of a visit whose record is of that type."""
        held = visit.digest, visit.size
        if kind != "revisit":
            self.stored_payloads.add(held)
        elif visit.digest is not None:
            self.revisits_by_payload.setdefault(held, []).append(visit)

    def visits_without_payload(self) -> Iterator[Visit]:
        """Yield the visits that refer to a payload that is nowhere."""
        for nowhere in self.revisits_by_payload.keys() - self.stored_payloads:
            yield from self.revisits_by_payload[nowhere]


def check_collection(
    collection: CollectionStore, *, progress: ProgressCallback = ignore_progress
) -> CheckReport:
    """Look at every byte of the archive and every row of the catalog; change nothing.

    Where the catalog itself is damaged its rows are not asked.
    """
    faults = collection.catalog.integrity_problems()
    report = CheckReport(
        problems=[CheckProblem(CATALOG_FILE, what, RESTORE_ADVICE) for what in faults]
    )
    paths = {closed_name(path): path for path in archive_files(collection.archive_folder)}
    replaced = "" if faults else superseded_file(collection.catalog, collection.archive_folder)
    if paths.pop(replaced, None):
        report.notes.append(f"{replaced}: {REPLACED_NOTICE}")
    total = sum(path.stat().st_size for path in paths.values())
    seen: set[bytes] = set()
    payloads = PayloadReferences()
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
        report.problems += map(_lost_payload, payloads.visits_without_payload())
        report.problems += _missing_files(collection.catalog, paths.keys(), report)
    return report


def _check_file(
    catalog: Catalog, path: Path, seen: set[bytes], payloads: PayloadReferences, report: CheckReport
) -> None:
    """Verify a file against its rows; one that is still open, up to its last row."""
    name = closed_name(path)
    # Rows are read before records: whoever is writing now adds a record before its row.
    rows = list(catalog.visits_in_file(name))
    end = _end(rows) if path.name != name else None
    if end is not None and path.stat().st_size > end:
        report.notes.append(f"{path.name}: {UNACKNOWLEDGED_NOTICE}")
    found = _checked_records(name, path, seen if rows else set(), report, end)
    for visit in rows:
        if visit.uid in found:
            payloads.add(visit, found[visit.uid].type)
    if path.name == name and has_unexamined_records(catalog, path, _end(rows)):
        found = _without_waiting(catalog, found, path, _end(rows), report)
    report.problems += _against_rows(catalog, rows, found) if rows else _foreign(catalog, found)
    report.rows += len(rows)


def _without_waiting(
    catalog: Catalog, found: CapturesByUid, path: Path, end: int, report: CheckReport
) -> CapturesByUid:
    """Return the captures of a closed file that do not wait for a row, and note that some do.

    Such are left by a crash while a batch was written into several files. A file without any row is
    passed over as a whole where some of its captures wait.
    """
    behind = [identity for identity, capture in found.items() if capture.place.offset >= end]
    waiting = set(behind) - catalog.stored_uids(behind)
    if not waiting:
        return found
    report.notes.append(f"{path.name}: {UNACKNOWLEDGED_NOTICE}")
    return {key: found[key] for key in found.keys() - waiting} if end else {}


def repair_collection(
    collection: CollectionStore, *, progress: ProgressCallback = ignore_progress
) -> CheckReport:
    """Mend what can be: adopt records without rows, clear the places of rows without records.

    Nothing is thrown away: what is cut from a file is kept beside it. Nothing is touched where the
    catalog itself is damaged.
    """
    if collection.catalog.integrity_problems():
        return check_collection(collection, progress=progress)
    mended: list[str] = []
    with collection.appending() as lock:
        mended += map(_said, collection.repairs)
        for path in archive_files(collection.archive_folder):
            mended += cut_out_damage(collection, lock, path)
    with collection.recording() as recorder:
        mended += map(_said, collection.repairs)
        mended += _clear_lost(collection)
        for path in archive_files(collection.archive_folder):
            mended += _adopted(path, collection.catalog, recorder)
    report = check_collection(collection, progress=progress)
    report.mended = mended
    return report


def _said(item: FileRepair) -> str:
    kept = f" (kept as {item.cut_file})" if item.cut_file else ""
    return f"{item.file}: bytes cut: {item.cut_bytes:,}{kept}; records adopted: {item.adopted:,}"


def _clear_lost(collection: CollectionStore) -> list[str]:
    lost: dict[int, RecordLocation | None] = dict.fromkeys(_lost(collection))
    collection.catalog.set_locations(lost)
    return [f"visits that lost their bytes and say so now: {len(lost):,}"] if lost else []


def _adopted(path: Path, catalog: Catalog, recorder: Recorder) -> list[str]:
    adopted = adopt_orphan_records(path, catalog, recorder)
    if not adopted.useful_records:
        return []
    said = f"records adopted: {adopted.new_rows:,}; rows that have their bytes again: {adopted.restored_rows:,}"
    return [f"{path.name}: {said}"]


def _end(rows: Sequence[Visit]) -> int:
    places = [visit.location for visit in rows if visit.location]
    return max((place.offset + place.length for place in places), default=0)


def _checked_records(
    name: str, path: Path, seen: set[bytes], report: CheckReport, end: int | None = None
) -> CapturesByUid:
    """Verify the records of a file, up to its end; return its whole captures."""
    captures: CapturesByUid = {}
    for found in read_records(path):
        if end is not None and found.offset >= end:
            break
        report.problems += _wrong_with(found, RecordLocation(name, found.offset, 0), seen)
        if isinstance(found, LocatedRecord) and found.record.is_capture:
            place = RecordLocation(name, found.offset, found.length)
            capture = CheckedCapture(place, found.record.type, _undeclared_sha1(found))
            captures.setdefault(uid_of_record_id(found.record.id), capture)
    report.records += len(captures)
    return captures


def _undeclared_sha1(found: LocatedRecord) -> bytes | None:
    """Return the digest of a payload that only the catalog vouches for."""
    record = found.record
    if record.type == "revisit" or found.is_partial or record.field("WARC-Payload-Digest"):
        return None
    return sha1(parse_payload(record).body)


def _wrong_with(
    found: RecordOrFault, place: RecordLocation, seen: set[bytes]
) -> list[CheckProblem]:
    """Return what is wrong with a record; one that is whole was written so, and stays."""
    if isinstance(found, ArchiveFault):
        return [CheckProblem(_place(place), found.problem)]
    remedy = KEEP_REMEDY if found.is_copyable else REPAIR_REMEDY
    return [CheckProblem(_place(place), what, remedy) for what in record_problems(found, seen)]


def _against_rows(
    catalog: Catalog, rows: Sequence[Visit], found: CapturesByUid
) -> Iterator[CheckProblem]:
    for visit in rows:
        capture = found.pop(visit.uid, None)
        if visit.location and (capture is None or capture.place != visit.location):
            yield CheckProblem(
                _place(visit.location), f"row {visit.id} has no whole record there", CLEAR_REMEDY
            )
        elif capture and capture.sha1 and visit.digest and capture.sha1 != visit.digest:
            what = f"payload is not the one of which row {visit.id} has the digest"
            yield CheckProblem(_place(capture.place), what, KEEP_REMEDY)
    yield from _without_row(found, catalog.stored_uids(list(found)))


def _foreign(catalog: Catalog, found: CapturesByUid) -> Iterator[CheckProblem]:
    """Yield what is wrong with a file that no row points to: it may only double others."""
    known = catalog.stored_uids(list(found))
    if known and len(known) == len(found):
        file = next(iter(found.values())).place.file
        what = f"file belongs to no visit; its captures, all of them known: {len(known):,}"
        yield CheckProblem(file, what, MOVE_REMEDY)
    yield from _without_row(found, known)


def _without_row(found: CapturesByUid, known: set[bytes]) -> Iterator[CheckProblem]:
    for identity, capture in found.items():
        if identity not in known:
            remedy = f"{REPAIR_REMEDY}: a row is made for it"
            yield CheckProblem(_place(capture.place), "record has no row", remedy)


def _unreadable(target: str) -> CheckProblem:
    what = f"the settings of {target} cannot be read"
    return CheckProblem(CATALOG_FILE, what, "set them anew with 'freshet set'")


def _lost_payload(visit: Visit) -> CheckProblem:
    what = f"row {visit.id} is of a revisit whose bytes are nowhere"
    return CheckProblem(
        _place(visit.location) if visit.location else CATALOG_FILE, what, CLEAR_REMEDY
    )


def _place(location: RecordLocation) -> str:
    return f"{location.file}, offset {location.offset}"


def _missing_files(
    catalog: Catalog, there: Items[str], report: CheckReport
) -> Iterator[CheckProblem]:
    for file in catalog.archive_files():
        rows = 0 if file.name in there else sum(1 for _ in catalog.visits_in_file(file.name))
        report.rows += rows
        if rows:
            what = f"file is missing; rows that point to it: {rows:,}"
            yield CheckProblem(
                file.name, what, f"put it back, or {REPAIR_REMEDY}: they lose their bytes"
            )


def _lost(collection: CollectionStore) -> Iterator[int]:
    """Yield the visits whose record is not whole where it should be, or revisits lost bytes."""
    payloads = PayloadReferences()
    for file in collection.catalog.archive_files():
        found = _types(collection.archive_folder / file.name)
        for visit in collection.catalog.visits_in_file(file.name):
            kind = found.get((visit.uid, visit.location))
            if kind is None:
                yield visit.id or 0
            else:
                payloads.add(visit, kind)
    yield from (visit.id or 0 for visit in payloads.visits_without_payload())


def _types(path: Path) -> dict[tuple[bytes, RecordLocation | None], str]:
    """Return the whole captures of a file, by uid and place, and which type each is of."""
    if not path.exists():
        return {}
    return {
        (
            uid_of_record_id(found.record.id),
            RecordLocation(path.name, found.offset, found.length),
        ): found.record.type
        for found in read_records(path, keep_bytes=0)
        if not isinstance(found, ArchiveFault) and found.record.is_capture
    }
