"""Damage in a closed file: set aside, and the file written anew without it."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from freshet.archive.warc.durable_files import save_range
from freshet.archive.warc.located_record import LocatedRecord, RecordOrFault
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import read_records
from freshet.record.rewrite import rewrite_file
from freshet.record.store import CollectionStore

ByteRange = tuple[int, int]


def cut_out_damage(collection: CollectionStore, lock: ArchiveLock, path: Path) -> list[str]:
    """Keep the damaged stretches of a file beside it, then write it anew without them.

    A record that can be read although its gzip member is odd is packed anew. Return what was done.
    """
    stretches = list(damaged_ranges(read_records(path, keep_bytes=0), path.stat().st_size))
    if not stretches:
        return []
    for start, end in stretches:
        save_range(path, start, end, _aside(path, start))
    rewrite_file(collection, lock, path.name, _readable)
    return [
        f"{path.name}: {end - start} damaged bytes kept as {_aside(path, start).name}"
        for start, end in stretches
    ]


def damaged_ranges(found: Iterable[RecordOrFault], size: int) -> Iterator[ByteRange]:
    """Yield the stretches of a file, from and to, that no whole record covers."""
    end = 0
    for item in found:
        if isinstance(item, LocatedRecord) and item.is_copyable:
            if item.offset > end:
                yield end, item.offset
            end = item.offset + item.length
    if size > end:
        yield end, size


def _readable(path: Path) -> Iterator[LocatedRecord]:
    for found in read_records(path):
        if isinstance(found, LocatedRecord) and (found.is_copyable or not found.is_partial):
            yield found


def _aside(path: Path, start: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{start}")
