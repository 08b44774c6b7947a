"""Verifies a collection: every record, every row, and that each has the other."""

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
from freshet.record.collection_store import CATALOG_FILE, CollectionStore
from freshet.record.damage import cut_out_damage
from freshet.record.orphan_records import adopt_orphan_records
from freshet.record.recorder import Recorder
from freshet.record.recovery import FileRepair, has_unexamined_records, superseded_file
from freshet.record.rewrite import PayloadId, payload_id

REPAIR_REMEDY = "run 'freshet check --repair'"
CLEAR_REMEDY = f"{REPAIR_REMEDY}: the row stays and loses its bytes"
KEEP_REMEDY = "it was written so and stays; compare it with where it came from"
MOVE_REMEDY = f"{REPAIR_REMEDY}; if it is named again, move it out of the archive folder"
UNACKNOWLEDGED_NOTICE = (
    "the records after its last row are being written, or were left by a crash; the next command"
    " that writes to the archive adopts them"
)
REPLACED_NOTICE = (
    "it is being rewritten, or a crash interrupted that; the next command that writes to the"
    " archive deletes it; nothing refers to it"
)


class CheckedCapture(NamedTuple):
    """A whole capture: its location, its type, and the SHA-1 of its payload if it declares none."""

    location: RecordLocation
    type: str
    sha1: bytes | None


CapturesByUid = dict[bytes, CheckedCapture]


@dataclass(frozen=True, slots=True)
class CheckProblem:
    """A problem, the place where it is, and its remedy."""

    place: str
    what: str
    remedy: str = REPAIR_REMEDY

    def __str__(self) -> str:
        """Return the problem in one line."""
        return f"{self.place}: {self.what}; {self.remedy}"


@dataclass(slots=True)
class CheckReport:
    """The result of a check; ``mended`` lists the repairs made."""

    files: int = 0
    records: int = 0
    rows: int = 0
    problems: list[CheckProblem] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether there is no problem."""
        return not self.problems


@dataclass(slots=True)
class PayloadReferences:
    """The payloads that are stored, and the visits that only refer to one."""

    stored_payloads: set[PayloadId] = field(default_factory=set)
    revisits_by_payload: dict[PayloadId, list[Visit]] = field(default_factory=dict)

    def add(self, visit: Visit, record_type: str) -> None:
        """Add a visit whose record is of that type."""
        payload = payload_id(visit)
        if record_type != "revisit":
            self.stored_payloads.add(payload)
        elif visit.digest is not None:
            self.revisits_by_payload.setdefault(payload, []).append(visit)

    def visits_without_payload(self) -> Iterator[Visit]:
        """Yield the visits that refer to a payload that is not stored."""
        for payload in self.revisits_by_payload.keys() - self.stored_payloads:
            yield from self.revisits_by_payload[payload]


def check_collection(
    collection: CollectionStore, *, progress: ProgressCallback = ignore_progress
) -> CheckReport:
    """Verify every byte of the archive and every row of the catalog; change nothing.

    The rows of a damaged catalog are not read.
    """
    faults = collection.catalog.integrity_problems()
    report = CheckReport(
        problems=[CheckProblem(CATALOG_FILE, fault, RESTORE_ADVICE) for fault in faults]
    )
    paths = {closed_name(path): path for path in archive_files(collection.archive_folder)}
    superseded = "" if faults else superseded_file(collection.catalog, collection.archive_folder)
    if paths.pop(superseded, None):
        report.notes.append(f"{superseded}: {REPLACED_NOTICE}")
    total_bytes = sum(path.stat().st_size for path in paths.values())
    checked_bytes = 0
    seen_uids: set[bytes] = set()
    payloads = PayloadReferences()
    for name, path in paths.items():
        checked_bytes += path.stat().st_size
        report.files += 1
        if faults:
            _check_records(name, path, seen_uids, report)
        else:
            _check_file(collection.catalog, path, seen_uids, payloads, report)
        progress(checked_bytes, total_bytes)
    if not faults:
        report.problems += map(_unreadable_settings, collection.catalog.unreadable_settings())
        report.problems += map(_missing_payload, payloads.visits_without_payload())
        report.problems += _missing_files(collection.catalog, paths.keys(), report)
    return report


def repair_collection(
    collection: CollectionStore, *, progress: ProgressCallback = ignore_progress
) -> CheckReport:
    """Adopt records without rows, clear the locations of rows without records, then check.

    Bytes that are cut from a file are kept beside it. Nothing is changed if the catalog itself is
    damaged.
    """
    if collection.catalog.integrity_problems():
        return check_collection(collection, progress=progress)
    messages: list[str] = []
    with collection.appending() as lock:
        messages += map(_repair_message, collection.repairs)
        for path in archive_files(collection.archive_folder):
            messages += cut_out_damage(collection, lock, path)
    with collection.recording() as recorder:
        messages += map(_repair_message, collection.repairs)
        messages += _clear_lost_locations(collection)
        for path in archive_files(collection.archive_folder):
            messages += _adopt_records(path, collection.catalog, recorder)
    report = check_collection(collection, progress=progress)
    report.mended = messages
    return report


def _check_file(
    catalog: Catalog,
    path: Path,
    seen_uids: set[bytes],
    payloads: PayloadReferences,
    report: CheckReport,
) -> None:
    """Compare a file with its rows; a file that is still open, up to its last row."""
    name = closed_name(path)
    # Rows are read before records, because a writer adds a record before its row.
    visits = list(catalog.visits_in_file(name))
    rows_end, is_open = _end_of_rows(visits), path.name != name
    if is_open and path.stat().st_size > rows_end:
        report.notes.append(f"{path.name}: {UNACKNOWLEDGED_NOTICE}")
    read_until = rows_end if is_open else None
    captures = _check_records(name, path, seen_uids if visits else set(), report, read_until)
    for visit in visits:
        if visit.uid in captures:
            payloads.add(visit, captures[visit.uid].type)
    if not is_open and has_unexamined_records(catalog, path, rows_end):
        captures = _without_unacknowledged(catalog, captures, path, rows_end, report)
    if visits:
        report.problems += _row_problems(catalog, visits, captures)
    else:
        report.problems += _foreign_file_problems(catalog, captures)
    report.rows += len(visits)


def _without_unacknowledged(
    catalog: Catalog, captures: CapturesByUid, path: Path, rows_end: int, report: CheckReport
) -> CapturesByUid:
    """Leave out the captures of a closed file that the next recovery will adopt, and note them.

    A crash leaves such captures when a batch was being written into several files. A file without
    any row is left out as a whole if it has some.
    """
    after_rows = [uid for uid, capture in captures.items() if capture.location.offset >= rows_end]
    unacknowledged = set(after_rows) - catalog.stored_uids(after_rows)
    if not unacknowledged:
        return captures
    report.notes.append(f"{path.name}: {UNACKNOWLEDGED_NOTICE}")
    if not rows_end:
        return {}
    return {uid: captures[uid] for uid in captures.keys() - unacknowledged}


def _repair_message(repair: FileRepair) -> str:
    cut_file = f" (kept as {repair.cut_file})" if repair.cut_file else ""
    cut = f"bytes cut: {repair.cut_bytes:,}{cut_file}"
    return f"{repair.file}: {cut}; records adopted: {repair.adopted:,}"


def _clear_lost_locations(collection: CollectionStore) -> list[str]:
    locations: dict[int, RecordLocation | None] = dict.fromkeys(_lost_visits(collection))
    collection.catalog.set_locations(locations)
    if not locations:
        return []
    return [f"visits now marked as without bytes: {len(locations):,}"]


def _adopt_records(path: Path, catalog: Catalog, recorder: Recorder) -> list[str]:
    summary = adopt_orphan_records(path, catalog, recorder)
    if not summary.useful_records:
        return []
    restored = f"rows that have their bytes again: {summary.restored_rows:,}"
    return [f"{path.name}: records adopted: {summary.new_rows:,}; {restored}"]


def _end_of_rows(visits: Sequence[Visit]) -> int:
    """Return the end of the last record of a file that a row refers to."""
    locations = [visit.location for visit in visits if visit.location]
    return max((location.offset + location.length for location in locations), default=0)


def _check_records(
    name: str, path: Path, seen_uids: set[bytes], report: CheckReport, end: int | None = None
) -> CapturesByUid:
    """Verify the records of a file, up to ``end`` if given; return its whole captures."""
    captures: CapturesByUid = {}
    for item in read_records(path):
        if end is not None and item.offset >= end:
            break
        report.problems += _record_problems(item, f"{name}, offset {item.offset}", seen_uids)
        if isinstance(item, LocatedRecord) and item.record.is_capture:
            location = RecordLocation(name, item.offset, item.length)
            capture = CheckedCapture(location, item.record.type, _undeclared_sha1(item))
            captures.setdefault(uid_of_record_id(item.record.id), capture)
    report.records += len(captures)
    return captures


def _undeclared_sha1(located: LocatedRecord) -> bytes | None:
    """Return the SHA-1 of a payload if the record itself does not declare it."""
    record = located.record
    if record.type == "revisit" or located.is_partial or record.field("WARC-Payload-Digest"):
        return None
    return sha1(parse_payload(record).body)


def _record_problems(
    item: RecordOrFault, position: str, seen_uids: set[bytes]
) -> list[CheckProblem]:
    """Return the problems of a record; a record that is whole stays as it was written."""
    if isinstance(item, ArchiveFault):
        return [CheckProblem(position, item.problem)]
    remedy = KEEP_REMEDY if item.is_copyable else REPAIR_REMEDY
    return [CheckProblem(position, problem, remedy) for problem in record_problems(item, seen_uids)]


def _row_problems(
    catalog: Catalog, visits: Sequence[Visit], captures: CapturesByUid
) -> Iterator[CheckProblem]:
    """Yield the rows without a record, payloads that differ, and the records without a row."""
    for visit in visits:
        capture = captures.pop(visit.uid, None)
        if visit.location and (capture is None or capture.location != visit.location):
            problem = f"row {visit.id} has no whole record there"
            yield CheckProblem(_position(visit.location), problem, CLEAR_REMEDY)
        elif capture and capture.sha1 and visit.digest and capture.sha1 != visit.digest:
            problem = f"payload is not the one of which row {visit.id} has the digest"
            yield CheckProblem(_position(capture.location), problem, KEEP_REMEDY)
    yield from _captures_without_row(captures, catalog.stored_uids(list(captures)))


def _foreign_file_problems(catalog: Catalog, captures: CapturesByUid) -> Iterator[CheckProblem]:
    """Yield the problems of a file that no row refers to; it may only repeat other files."""
    stored_uids = catalog.stored_uids(list(captures))
    if stored_uids and len(stored_uids) == len(captures):
        file = next(iter(captures.values())).location.file
        problem = f"file belongs to no visit; its captures, all of them known: {len(captures):,}"
        yield CheckProblem(file, problem, MOVE_REMEDY)
    yield from _captures_without_row(captures, stored_uids)


def _captures_without_row(
    captures: CapturesByUid, stored_uids: set[bytes]
) -> Iterator[CheckProblem]:
    for uid, capture in captures.items():
        if uid not in stored_uids:
            remedy = f"{REPAIR_REMEDY}: a row is made for it"
            yield CheckProblem(_position(capture.location), "record has no row", remedy)


def _unreadable_settings(target: str) -> CheckProblem:
    problem = f"the settings of {target} cannot be read"
    return CheckProblem(CATALOG_FILE, problem, "set them again with 'freshet set'")


def _missing_payload(visit: Visit) -> CheckProblem:
    problem = f"row {visit.id} is of a revisit whose bytes are nowhere"
    position = _position(visit.location) if visit.location else CATALOG_FILE
    return CheckProblem(position, problem, CLEAR_REMEDY)


def _position(location: RecordLocation) -> str:
    return f"{location.file}, offset {location.offset}"


def _missing_files(
    catalog: Catalog, existing_names: Items[str], report: CheckReport
) -> Iterator[CheckProblem]:
    """Yield the files that are missing although rows refer to them."""
    for file in catalog.archive_files():
        if file.name in existing_names:
            continue
        row_count = sum(1 for _ in catalog.visits_in_file(file.name))
        report.rows += row_count
        if row_count:
            problem = f"file is missing; rows that point to it: {row_count:,}"
            remedy = f"put it back, or {REPAIR_REMEDY}: they lose their bytes"
            yield CheckProblem(file.name, problem, remedy)


def _lost_visits(collection: CollectionStore) -> Iterator[int]:
    """Yield the visits whose record is not whole or refers to a payload that is not stored."""
    payloads = PayloadReferences()
    for file in collection.catalog.archive_files():
        record_types = _capture_types(collection.archive_folder / file.name)
        for visit in collection.catalog.visits_in_file(file.name):
            record_type = record_types.get((visit.uid, visit.location))
            if record_type is None:
                yield visit.id or 0
            else:
                payloads.add(visit, record_type)
    yield from (visit.id or 0 for visit in payloads.visits_without_payload())


def _capture_types(path: Path) -> dict[tuple[bytes, RecordLocation | None], str]:
    """Return the record types of the whole captures of a file, by uid and location."""
    if not path.exists():
        return {}
    types: dict[tuple[bytes, RecordLocation | None], str] = {}
    for item in read_records(path, keep_bytes=0):
        if isinstance(item, LocatedRecord) and item.record.is_capture:
            location = RecordLocation(path.name, item.offset, item.length)
            types[uid_of_record_id(item.record.id), location] = item.record.type
    return types
