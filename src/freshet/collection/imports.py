"""Bring histories in: a reader's arrivals, recorded batch by batch, with progress."""

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from freshet.archive.importers import bing, csv, git, parquet, wacz, warc
from freshet.archive.importers.base import HistoryReader
from freshet.archive.observation import Observation
from freshet.core.clock import visit_time_problem
from freshet.core.errors import BadInputError, UsageError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.redaction import redact_url, redact_user_info
from freshet.core.types import BadRow
from freshet.record.recorder import Recorder
from freshet.record.store import CollectionStore
from freshet.view.url import canonical_web_url

IMPORT_READERS: Mapping[str, Callable[..., HistoryReader]] = {
    "warc": warc.read,
    "wacz": wacz.read,
    "git": git.read,
    "csv": csv.read,
    "bing": bing.read,
    "parquet": parquet.read,
}
BATCH_VISITS = 5_000
BATCH_BYTES = 24_000_000
MAX_LISTED_BAD_ROWS = 20
MAX_URL_CHARS = 100_000
MAX_MESSAGE_CHARS = 300


@dataclass(slots=True)
class ImportSummary:
    """What the import of that number brought, and what it could not take.

    ``other_sources`` counts those of the visits already there that another source holds, by source.
    """

    number: int
    kind: str
    path: str
    visits: int = 0
    already_there: int = 0
    other_sources: Counter[str] = field(default_factory=Counter)
    bad: int = 0
    bad_rows: list[BadRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def import_history(
    collection: CollectionStore,
    kind: str,
    path: Path,
    *,
    progress: ProgressCallback = ignore_progress,
    **options: Any,
) -> ImportSummary:
    """Import an outside history; what is already there is left as it is, so it can be repeated."""
    if kind not in IMPORT_READERS:
        raise UsageError(f"{kind!r} is no kind of import; choose {', '.join(IMPORT_READERS)}")
    with _streaming(), collection.recording() as recorder:
        reader = IMPORT_READERS[kind](path, **options)
        number = collection.catalog.start_import(
            kind, os.fspath(path.resolve()), reader.source, collection.clock.now()
        )
        result = ImportSummary(number, kind, os.fspath(path))
        try:
            for batch in _batches(reader):
                _take(collection, recorder, batch, result)
                progress(reader.done, reader.total)
        except BadInputError:
            if not result.visits:
                _finish(collection, result)
            raise
        result.notes = list(reader.notes)
        _finish(collection, result)
    return result


@contextmanager
def _streaming() -> Iterator[None]:
    """Keep the garbage collector from looking through all modules while rows stream by."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _finish(collection: CollectionStore, result: ImportSummary) -> None:
    """Note that an import is at its end: all is read, or nothing can be."""
    counts = {"visits": result.visits, "known": result.already_there, "bad": result.bad}
    collection.catalog.finish_import(result.number, collection.clock.now(), counts)


def _take(
    collection: CollectionStore,
    recorder: Recorder,
    batch: list[Observation | BadRow],
    result: ImportSummary,
) -> None:
    now = collection.clock.now()
    checked = [_with_page_for_its_source(_checked(item, now)) for item in batch]
    arrivals = [item for item in checked if isinstance(item, Observation)]
    taken = recorder.record(arrivals)
    if taken.known_count:
        sources = collection.catalog.sources_by_uid([item.uid for item in arrivals])
        held = [(sources.get(item.uid, item.source), item.source) for item in arrivals]
        result.other_sources.update(source for source, wanted in held if source != wanted)
    bad = [item for item in checked if isinstance(item, BadRow)]
    bad += [
        _bad_row(item, f"page {redact_url(item.url)!r} is no URL; write https://…")
        for item in taken.unusable
    ]
    bad += [
        _bad_row(item, "another record before it has the same identity")
        for item in taken.duplicates
    ]
    bad = [BadRow(_told(row.place), _told(row.why)) for row in bad]
    if bad:
        collection.catalog.add_bad_rows(result.number, bad)
    result.visits += taken.visit_count
    result.already_there += taken.known_count
    result.bad += len(bad)
    result.bad_rows += bad[: MAX_LISTED_BAD_ROWS - len(result.bad_rows)]


def _checked(item: Observation | BadRow, now: datetime) -> Observation | BadRow:
    """Return a bad row in place of a visit whose time or URL no visit can have."""
    if isinstance(item, BadRow):
        return item
    why = visit_time_problem(item.time, now)
    if len(item.url) > MAX_URL_CHARS:
        why = f"its URL has {len(item.url):,} characters, more than the {MAX_URL_CHARS:,} taken"
    return _bad_row(item, why) if why else item


def _with_page_for_its_source(item: Observation | BadRow) -> Observation | BadRow:
    """Return a bad row in place of a visit whose page the live list cannot take.

    A history with a source may have pages of any id; a live page is fetched, so it has a URL.
    """
    if isinstance(item, BadRow) or item.source:
        return item
    try:
        canonical_web_url(item.url)
    except ValueError as error:
        page = f"page {redact_url(item.url)!r}"
        why = f"{page} cannot be a live page: it {error}; or import it with a --source"
        return _bad_row(item, why)
    return item


def _bad_row(item: Observation, why: str) -> BadRow:
    """Return the bad row of a visit, by its place in the input or else by its URL."""
    return BadRow(item.place or repr(redact_url(item.url)), why)


def _told(text: str) -> str:
    """Return what is kept and shown of a text from an input: its beginning, without passwords.

    >>> len(_told("x" * 1_000_000)), _told("after http://me:pw@example.org/")
    (300, 'after http://[blanked]@example.org/')
    """
    text = redact_user_info(text)
    return text if len(text) <= MAX_MESSAGE_CHARS else text[: MAX_MESSAGE_CHARS - 1] + "…"


def _bytes_held(item: Observation | BadRow) -> int:
    """Return about how much memory an item takes."""
    if isinstance(item, BadRow):
        return len(item.why)
    body = len(item.snapshot.body) if item.snapshot is not None else 0
    return (
        body + len(item.url) + len(item.raw_record or b"") + sum(map(len, item.companion_records))
    )


def _batches(reader: HistoryReader) -> Iterator[list[Observation | BadRow]]:
    """Gather arrivals until there are many, or much; an input that breaks off gives what it had."""
    batch: list[Observation | BadRow] = []
    size = 0
    try:
        for item in reader:
            batch.append(item)
            size += _bytes_held(item)
            if len(batch) >= BATCH_VISITS or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
    except BadInputError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
