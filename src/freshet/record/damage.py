"""Damage in a closed file: set aside, and the file written anew without it."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from freshet.archive.warc.durable_files import set_aside
from freshet.archive.warc.located_record import Found, Located
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import records
from freshet.record.rewrite import rewrite
from freshet.record.store import CollectionStore

Stretch = tuple[int, int]


def cut_out_damage(collection: CollectionStore, lock: ArchiveLock, path: Path) -> list[str]:
    """Keep the damaged stretches of a file beside it, then write it anew without them.

    A record that can be read although its gzip member is odd is packed anew. Return what was done.
    """
    stretches = list(gaps(records(path, keep=0), path.stat().st_size))
    if not stretches:
        return []
    for start, end in stretches:
        set_aside(path, start, end, _aside(path, start))
    rewrite(collection, lock, path.name, _readable)
    return [
        f"{path.name}: {end - start} damaged bytes kept as {_aside(path, start).name}"
        for start, end in stretches
    ]


def gaps(found: Iterable[Found], size: int) -> Iterator[Stretch]:
    """Yield the stretches of a file, from and to, that no whole record covers."""
    end = 0
    for item in found:
        if isinstance(item, Located) and item.copyable:
            if item.offset > end:
                yield end, item.offset
            end = item.offset + item.length
    if size > end:
        yield end, size


def _readable(path: Path) -> Iterator[Located]:
    for found in records(path):
        if isinstance(found, Located) and (found.copyable or not found.is_partial):
            yield found


def _aside(path: Path, start: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{start}")
