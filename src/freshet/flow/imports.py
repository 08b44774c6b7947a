"""Bring histories in: a reader's arrivals, recorded batch by batch, with progress."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from freshet.archive.catalog.rows import BadRow as KeptBadRow
from freshet.archive.importers import bing, csv, git, parquet, warc
from freshet.archive.importers.base import Arrival, BadRow, Reader
from freshet.core.errors import BadInput, UsageError
from freshet.flow.collection import Collection
from freshet.flow.record import Recorder

READERS: Mapping[str, Callable[..., Reader]] = {
    "warc": warc.read,
    "git": git.read,
    "csv": csv.read,
    "bing": bing.read,
    "parquet": parquet.read,
}
BATCH_VISITS = 5_000
BATCH_BYTES = 24_000_000
LISTED_BAD_ROWS = 20

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Imported:
    """What an import brought, and what it could not take."""

    kind: str
    path: str
    visits: int = 0
    already_there: int = 0
    bad: int = 0
    bad_rows: list[BadRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def bring(
    collection: Collection,
    kind: str,
    path: Path,
    *,
    progress: Progress = lambda done, total: None,
    **options: Any,
) -> Imported:
    """Import an outside history; what is already there is left as it is, so it can be repeated."""
    if kind not in READERS:
        raise UsageError(f"{kind!r} is no kind of import; choose {', '.join(READERS)}")
    with collection.recording() as recorder:
        reader = READERS[kind](path, **options)
        number = collection.catalog.start_import(
            kind, os.fspath(path.resolve()), options.get("source") or "", collection.clock.now()
        )
        result = Imported(kind, os.fspath(path))
        for batch in _batches(reader):
            _take(collection, recorder, number, batch, result)
            progress(reader.done, reader.total)
        result.notes = list(reader.notes)
        counts = {"visits": result.visits, "known": result.already_there, "bad": result.bad}
        collection.catalog.finish_import(number, collection.clock.now(), counts)
    return result


def _take(
    collection: Collection,
    recorder: Recorder,
    number: int,
    batch: list[Arrival | BadRow],
    result: Imported,
) -> None:
    taken = recorder.take([item for item in batch if isinstance(item, Arrival)])
    bad = [item for item in batch if isinstance(item, BadRow)]
    bad += [BadRow(repr(item.url), "is no URL of a page") for item in taken.unusable]
    if bad:
        kept = [KeptBadRow(row.place, row.why) for row in bad]
        collection.catalog.note_bad_rows(number, kept)
    result.visits += taken.visits
    result.already_there += taken.known
    result.bad += len(bad)
    result.bad_rows += bad[: LISTED_BAD_ROWS - len(result.bad_rows)]


def _batches(reader: Reader) -> Iterator[list[Arrival | BadRow]]:
    """Gather arrivals until there are many, or much; an input that breaks off gives what it had."""
    batch: list[Arrival | BadRow] = []
    size = 0
    try:
        for item in reader:
            batch.append(item)
            if isinstance(item, Arrival) and item.snapshot is not None:
                size += len(item.snapshot.body)
            if len(batch) >= BATCH_VISITS or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
    except BadInput:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
