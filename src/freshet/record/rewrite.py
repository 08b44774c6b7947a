"""Write files of the archive anew without some of their records, then exchange them.

A note names both files before the new one is begun, and again once it is whole; rows are then moved
in one transaction, and the old file goes. A crash at any point leaves one of the two whole, and the
note tells which.
"""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Collection as Items
from dataclasses import replace
from pathlib import Path

from freshet.archive.warc.build import ArchiveOrigin
from freshet.archive.warc.captures import WarcCapture, group_captures
from freshet.archive.warc.located_record import ArchiveFault, LocatedRecord, RecordOrFault
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import read_record, read_records
from freshet.archive.warc.record import uid_of_record_id
from freshet.archive.warc.writer import WarcWriter
from freshet.core.errors import DamagedError
from freshet.core.types import RecordLocation, Visit
from freshet.record.orphan_records import archive_file_source
from freshet.record.recovery import FileReplacement, file_size, finish_replacement, note_replacement
from freshet.record.store import SOFTWARE, CollectionStore

NO_SIZE_LIMIT = 1 << 62

RecordSelector = Callable[[Path], Iterable[LocatedRecord]]


def drop_records(collection: CollectionStore, lock: ArchiveLock, visits: Items[Visit]) -> int:
    """Drop the records of visits, whose rows stay; return how many bytes became free."""
    names = sorted({visit.location.file for visit in visits if visit.location})
    doomed = {visit.uid for visit in visits}
    return sum(
        rewrite_file(collection, lock, name, lambda path: _kept(path, doomed)) for name in names
    )


def dependent_visits(
    collection: CollectionStore, doomed: Items[Visit]
) -> Iterator[tuple[Visit, str]]:
    """Yield the visits, and their URLs, that stay and whose bytes only doomed records hold.

    Such are revisits of other pages, which foreign archives have.
    """
    going = {visit.uid for visit in doomed}
    payloads = {(visit.digest, visit.size) for visit in doomed if visit.location}
    for digest, size in payloads:
        if digest is None or size is None:
            continue
        staying = [
            (visit, read_record(collection.archive_folder / place.file, place.offset, place.length))
            for visit in collection.catalog.visits_with_payload(digest, size)
            if visit.uid not in going and (place := visit.location)
        ]
        if all(record.type == "revisit" for _, record in staying):
            yield from ((visit, record.target_uri) for visit, record in staying)


def rewrite_file(
    collection: CollectionStore, lock: ArchiveLock, name: str, choose: RecordSelector
) -> int:
    """Write a file anew with the records chosen of it; return how many bytes became free."""
    catalog, path = collection.catalog, collection.archive_folder / name
    before = path.stat().st_size
    rows = {visit.uid: visit.id for visit in catalog.visits_in_file(name)}
    exchange, places = _write_anew(collection, lock, path, choose)
    after = file_size(collection.archive_folder / exchange.new_name)
    note_replacement(catalog, replace(exchange, is_complete=True, new_bytes=after))
    catalog.set_locations({
        row: places.get(identity) for identity, row in rows.items() if row is not None
    })
    finish_replacement(catalog, collection.archive_folder)
    return before - after


def _write_anew(
    collection: CollectionStore, lock: ArchiveLock, path: Path, choose: RecordSelector
) -> tuple[FileReplacement, dict[bytes, RecordLocation]]:
    """Copy what stays into a new file, noted beforehand; return where each record lies now."""
    origin = ArchiveOrigin(SOFTWARE, archive_file_source(path), contact=collection.settings.contact)
    writer = WarcWriter(
        lock.folder, origin, clock=collection.clock, max_bytes=NO_SIZE_LIMIT, lock=lock
    )
    exchange = FileReplacement(path.name, writer.next_file_name())
    note_replacement(collection.catalog, exchange)
    with writer:
        places = {
            uid_of_record_id(found.record.id): _copied(writer, found)
            for found in choose(path)
            if found.record.type != "warcinfo"
        }
    return exchange, places


def _copied(writer: WarcWriter, found: LocatedRecord) -> RecordLocation:
    if found.is_copyable:
        return writer.copy_range(found.path, found.offset, found.length)
    return writer.append([found.record])[0]


def _kept(path: Path, doomed: set[bytes]) -> Iterator[LocatedRecord]:
    """Yield what stays; requests and metadata go with the record that they belong to."""
    going = doomed | _companions(path, doomed)
    return (found for found in _whole(path) if uid_of_record_id(found.record.id) not in going)


def _companions(path: Path, doomed: set[bytes]) -> set[bytes]:
    return {
        uid_of_record_id(companion.record.id)
        for capture in group_captures(_whole(path))
        if isinstance(capture, WarcCapture)
        and uid_of_record_id(capture.located.record.id) in doomed
        for companion in capture.companions
    }


def _whole(path: Path) -> Iterator[LocatedRecord]:
    """Yield the records of a file in which nothing is damaged."""
    for found in read_records(path, keep_bytes=0):
        yield _sound(found)


def _sound(found: RecordOrFault) -> LocatedRecord:
    if isinstance(found, ArchiveFault):
        raise DamagedError(f"{found}; run 'freshet check --repair' before records are dropped")
    if not found.is_copyable:
        where = f"{found.path.name}, offset {found.offset}"
        what = "; ".join(found.problems) or "record is no gzip member of its own"
        raise DamagedError(
            f"{where}: {what}; run 'freshet check --repair' before records are dropped"
        )
    return found
