"""Write files of the archive anew without some of their records, then exchange them.

A note names both files before the new one is begun, and again once it is whole; rows are then moved
in one transaction, and the old file goes. A crash at any point leaves one of the two whole, and the
note tells which.
"""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Collection as Items
from dataclasses import replace
from pathlib import Path

from freshet.archive.importers.warc import Capture, captures
from freshet.archive.warc.build import Origin
from freshet.archive.warc.located_record import Fault, Found, Located
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import read_record, records
from freshet.archive.warc.record import uid
from freshet.archive.warc.writer import Writer
from freshet.core.errors import Damaged
from freshet.core.types import Location, Visit
from freshet.record.orphan_records import source_of
from freshet.record.recovery import Exchange, begin_exchange, file_size, settle_exchange
from freshet.record.store import SOFTWARE, CollectionStore

WITHOUT_LIMIT = 1 << 62

Choose = Callable[[Path], Iterable[Located]]


def drop_records(collection: CollectionStore, lock: ArchiveLock, visits: Items[Visit]) -> int:
    """Drop the records of visits, whose rows stay; return how many bytes became free."""
    names = sorted({visit.location.file for visit in visits if visit.location})
    doomed = {visit.uid for visit in visits}
    return sum(rewrite(collection, lock, name, lambda path: _kept(path, doomed)) for name in names)


def dependants(collection: CollectionStore, doomed: Items[Visit]) -> Iterator[tuple[Visit, str]]:
    """Yield the visits, and their URLs, that stay and whose bytes only doomed records hold.

    Such are revisits of other pages, which foreign archives have.
    """
    going = {visit.uid for visit in doomed}
    payloads = {(visit.digest, visit.size) for visit in doomed if visit.location}
    for digest, size in payloads:
        if digest is None or size is None:
            continue
        staying = [
            (visit, read_record(collection.archive / place.file, place.offset, place.length))
            for visit in collection.catalog.payload_visits(digest, size)
            if visit.uid not in going and (place := visit.location)
        ]
        if all(record.type == "revisit" for _, record in staying):
            yield from ((visit, record.target) for visit, record in staying)


def rewrite(collection: CollectionStore, lock: ArchiveLock, name: str, choose: Choose) -> int:
    """Write a file anew with the records chosen of it; return how many bytes became free."""
    catalog, path = collection.catalog, collection.archive / name
    before = path.stat().st_size
    rows = {visit.uid: visit.id for visit in catalog.visits_in_file(name)}
    exchange, places = _write_anew(collection, lock, path, choose)
    after = file_size(collection.archive / exchange.new)
    begin_exchange(catalog, replace(exchange, is_whole=True, new_bytes=after))
    catalog.set_locations({
        row: places.get(identity) for identity, row in rows.items() if row is not None
    })
    settle_exchange(catalog, collection.archive)
    return before - after


def _write_anew(
    collection: CollectionStore, lock: ArchiveLock, path: Path, choose: Choose
) -> tuple[Exchange, dict[bytes, Location]]:
    """Copy what stays into a new file, noted beforehand; return where each record lies now."""
    origin = Origin(SOFTWARE, source_of(path), contact=collection.settings.contact)
    writer = Writer(lock.folder, origin, clock=collection.clock, max_bytes=WITHOUT_LIMIT, lock=lock)
    exchange = Exchange(path.name, writer.next_name())
    begin_exchange(collection.catalog, exchange)
    with writer:
        places = {
            uid(found.record.id): _copied(writer, found)
            for found in choose(path)
            if found.record.type != "warcinfo"
        }
    return exchange, places


def _copied(writer: Writer, found: Located) -> Location:
    if found.copyable:
        return writer.copy_range(found.path, found.offset, found.length)
    return writer.append([found.record])[0]


def _kept(path: Path, doomed: set[bytes]) -> Iterator[Located]:
    """Yield what stays; requests and metadata go with the record that they belong to."""
    going = doomed | _companions(path, doomed)
    return (found for found in _whole(path) if uid(found.record.id) not in going)


def _companions(path: Path, doomed: set[bytes]) -> set[bytes]:
    return {
        uid(companion.record.id)
        for capture in captures(_whole(path))
        if isinstance(capture, Capture) and uid(capture.record.record.id) in doomed
        for companion in capture.companions
    }


def _whole(path: Path) -> Iterator[Located]:
    """Yield the records of a file in which nothing is damaged."""
    for found in records(path, keep=0):
        yield _sound(found)


def _sound(found: Found) -> Located:
    if isinstance(found, Fault):
        raise Damaged(f"{found}; run 'freshet check --repair' before records are dropped")
    if not found.copyable:
        where = f"{found.path.name}, offset {found.offset}"
        what = "; ".join(found.problems) or "record is no gzip member of its own"
        raise Damaged(f"{where}: {what}; run 'freshet check --repair' before records are dropped")
    return found
