"""Removes damage from a WARC file: the damaged bytes are saved, the file is rewritten without."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from freshet.archive.warc.durable_files import save_range
from freshet.archive.warc.located_record import LocatedRecord, RecordOrFault
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import read_records
from freshet.record.collection_store import CollectionStore
from freshet.record.rewrite import rewrite_file

ByteRange = tuple[int, int]


def cut_out_damage(collection: CollectionStore, lock: ArchiveLock, path: Path) -> list[str]:
    """Save the damaged bytes of a file beside it, and rewrite it without them; return messages.

    A record that can be read although its gzip member is faulty is compressed again.
    """
    ranges = list(damaged_ranges(read_records(path, keep_bytes=0), path.stat().st_size))
    if not ranges:
        return []
    for start, end in ranges:
        save_range(path, start, end, _damage_path(path, start))
    rewrite_file(collection, lock, path.name, _readable_records)
    return [
        f"{path.name}: {end - start} damaged bytes kept as {_damage_path(path, start).name}"
        for start, end in ranges
    ]


def damaged_ranges(records: Iterable[RecordOrFault], size: int) -> Iterator[ByteRange]:
    """Yield the start and end of each range of a file that no whole record covers."""
    end = 0
    for record in records:
        if isinstance(record, LocatedRecord) and record.is_copyable:
            if record.offset > end:
                yield end, record.offset
            end = record.offset + record.length
    if size > end:
        yield end, size


def _readable_records(path: Path) -> Iterator[LocatedRecord]:
    for record in read_records(path):
        if isinstance(record, LocatedRecord) and (record.is_copyable or not record.is_partial):
            yield record


def _damage_path(path: Path, start: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{start}")
