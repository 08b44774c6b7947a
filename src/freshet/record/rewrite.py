"""Rewrites files of the archive without some of their records.

A note names both files before the new one is begun, and again when it is complete. The rows are
then moved in one transaction, and the old file is deleted. A crash at any point leaves one of the
two files whole, and the note shows which.
"""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Collection as Items
from dataclasses import replace
from pathlib import Path

from freshet.archive.warc.build import ArchiveOrigin
from freshet.archive.warc.captures import WarcCapture, group_captures
from freshet.archive.warc.located_record import ArchiveFault, LocatedRecord
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import read_record, read_records
from freshet.archive.warc.record import uid_of_record_id
from freshet.archive.warc.writer import WarcWriter
from freshet.core.errors import DamagedError
from freshet.core.types import RecordLocation, Visit
from freshet.record.collection_reader import SOFTWARE
from freshet.record.collection_store import CollectionStore
from freshet.record.orphan_records import archive_file_source
from freshet.record.recovery import (
    FileReplacement,
    file_size,
    finish_replacement,
    note_replacement,
)

NO_SIZE_LIMIT = 1 << 62

RecordSelector = Callable[[Path], Iterable[LocatedRecord]]
PayloadId = tuple[bytes | None, int | None]


def payload_id(visit: Visit) -> PayloadId:
    """Return the SHA-1 and the size of a visit's payload."""
    return visit.digest, visit.size


def drop_records(collection: CollectionStore, lock: ArchiveLock, visits: Items[Visit]) -> int:
    """Delete the records of visits but not their rows; return the number of bytes freed."""
    names = sorted({visit.location.file for visit in visits if visit.location})
    dropped_uids = {visit.uid for visit in visits}

    def remaining_records(path: Path) -> Iterator[LocatedRecord]:
        # Requests and metadata are dropped with the record that they belong to.
        uids = dropped_uids | _companion_uids(path, dropped_uids)
        return (item for item in _undamaged(path) if uid_of_record_id(item.record.id) not in uids)

    return sum(rewrite_file(collection, lock, name, remaining_records) for name in names)


def dependent_visits(
    collection: CollectionStore, dropped: Items[Visit]
) -> Iterator[tuple[Visit, str]]:
    """Yield the visits that stay but whose bytes only dropped records hold, with their URLs.

    These are revisits of other pages, as archives of other programs have them.
    """
    dropped_uids = {visit.uid for visit in dropped}
    payloads = {payload_id(visit) for visit in dropped if visit.location}
    for digest, size in payloads:
        if digest is None or size is None:
            continue
        staying = [
            (visit, read_record(collection.archive_folder / at.file, at.offset, at.length))
            for visit in collection.catalog.visits_with_payload(digest, size)
            if visit.uid not in dropped_uids and (at := visit.location)
        ]
        if all(record.type == "revisit" for _, record in staying):
            yield from ((visit, record.target_uri) for visit, record in staying)


def rewrite_file(
    collection: CollectionStore, lock: ArchiveLock, name: str, select: RecordSelector
) -> int:
    """Rewrite a file with the selected ones of its records; return the number of bytes freed."""
    catalog, folder = collection.catalog, collection.archive_folder
    old_bytes = (folder / name).stat().st_size
    row_ids = {visit.uid: visit.id for visit in catalog.visits_in_file(name)}
    replacement, locations = _write_selected(collection, lock, folder / name, select)
    new_bytes = file_size(folder / replacement.new_name)
    note_replacement(catalog, replace(replacement, is_complete=True, new_bytes=new_bytes))
    catalog.set_locations({
        row_id: locations.get(uid) for uid, row_id in row_ids.items() if row_id is not None
    })
    finish_replacement(catalog, folder)
    return old_bytes - new_bytes


def _write_selected(
    collection: CollectionStore, lock: ArchiveLock, path: Path, select: RecordSelector
) -> tuple[FileReplacement, dict[bytes, RecordLocation]]:
    """Copy the selected records into a new file, noted before; return their new locations."""
    origin = ArchiveOrigin(SOFTWARE, archive_file_source(path), contact=collection.settings.contact)
    writer = WarcWriter(
        lock.folder, origin, clock=collection.clock, max_bytes=NO_SIZE_LIMIT, lock=lock
    )
    replacement = FileReplacement(path.name, writer.next_file_name())
    note_replacement(collection.catalog, replacement)
    locations = {}
    with writer:
        for item in select(path):
            if item.record.type != "warcinfo":
                locations[uid_of_record_id(item.record.id)] = _copy_record(writer, item)
    return replacement, locations


def _copy_record(writer: WarcWriter, located: LocatedRecord) -> RecordLocation:
    if located.is_copyable:
        return writer.copy_range(located.path, located.offset, located.length)
    return writer.append([located.record])[0]


def _companion_uids(path: Path, capture_uids: set[bytes]) -> set[bytes]:
    """Return the uids of the requests and metadata that belong to some captures of a file."""
    return {
        uid_of_record_id(companion.record.id)
        for capture in group_captures(_undamaged(path))
        if isinstance(capture, WarcCapture)
        and uid_of_record_id(capture.located.record.id) in capture_uids
        for companion in capture.companions
    }


def _undamaged(path: Path) -> Iterator[LocatedRecord]:
    """Yield the records of a file; DamagedError if one of them is damaged."""
    for item in read_records(path, keep_bytes=0):
        if isinstance(item, ArchiveFault):
            raise DamagedError(f"{item}; run 'freshet check --repair' before records are dropped")
        if not item.is_copyable:
            problem = "; ".join(item.problems) or "record is not a gzip member of its own"
            raise DamagedError(
                f"{item.path.name}, offset {item.offset}: {problem};"
                " run 'freshet check --repair' before records are dropped"
            )
        yield item
