"""Imports histories: the observations of a reader are recorded batch by batch."""

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freshet.archive.importers import bing, csv, git, wacz, warc
from freshet.archive.importers.base import HistoryReader
from freshet.archive.observation import Observation
from freshet.core.clock import visit_time_problem
from freshet.core.errors import BadInputError, UsageError
from freshet.core.extras import OptionalPackage
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.redaction import redact_url, redact_user_info
from freshet.core.types import BadRow
from freshet.record.collection_store import CollectionStore
from freshet.record.recorder import Recorder
from freshet.view.url import canonical_web_url

if TYPE_CHECKING:
    from freshet.archive.importers import parquet
else:
    parquet = OptionalPackage("freshet.archive.importers.parquet", extra="parquet")

IMPORT_READERS: Mapping[str, Callable[..., HistoryReader]] = {
    "warc": warc.read,
    "wacz": wacz.read,
    "git": git.read,
    "csv": csv.read,
    "bing": bing.read,
    "parquet": lambda *words, **options: parquet.read(*words, **options),
}
BATCH_VISITS = 5_000
BATCH_BYTES = 24_000_000
MAX_LISTED_BAD_ROWS = 20
MAX_URL_CHARS = 100_000
MAX_MESSAGE_CHARS = 300


@dataclass(slots=True)
class ImportSummary:
    """The result of an import, with its number.

    ``other_sources`` counts the visits already there that belong to another source, by source.
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
    """Import a history; visits that are already there are skipped, so it can be repeated."""
    if kind not in IMPORT_READERS:
        raise UsageError(f"{kind!r} is not a kind of import; choose {', '.join(IMPORT_READERS)}")
    with _frozen_garbage(), collection.recording() as recorder:
        reader = IMPORT_READERS[kind](path, **options)
        number = collection.catalog.start_import(
            kind, os.fspath(path.resolve()), reader.source, collection.clock.now()
        )
        summary = ImportSummary(number, kind, os.fspath(path))
        try:
            for batch in _batches(reader):
                _record_batch(collection, recorder, batch, summary)
                progress(reader.done, reader.total)
        except BadInputError:
            if not summary.visits:
                _finish_import(collection, summary)
            raise
        summary.notes = list(reader.notes)
        _finish_import(collection, summary)
    return summary


@contextmanager
def _frozen_garbage() -> Iterator[None]:
    """Keep the garbage collector from scanning all modules again and again during an import."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _finish_import(collection: CollectionStore, summary: ImportSummary) -> None:
    """Save that an import has ended: everything was read, or nothing could be."""
    counts = {"visits": summary.visits, "known": summary.already_there, "bad": summary.bad}
    collection.catalog.finish_import(summary.number, collection.clock.now(), counts)


def _record_batch(
    collection: CollectionStore,
    recorder: Recorder,
    items: list[Observation | BadRow],
    summary: ImportSummary,
) -> None:
    """Record a batch of observations, save its bad rows, and add both to the summary."""
    now = collection.clock.now()
    checked = [item if isinstance(item, BadRow) else _checked(item, now) for item in items]
    observations = [item for item in checked if isinstance(item, Observation)]
    batch = recorder.record(observations)
    if batch.known_count:
        sources = collection.catalog.sources_by_uid([item.uid for item in observations])
        for item in observations:
            source = sources.get(item.uid, item.source)
            if source != item.source:
                summary.other_sources[source] += 1
    bad_rows = [item for item in checked if isinstance(item, BadRow)]
    for item in batch.unusable:
        problem = f"page {redact_url(item.url)!r} is not a URL; write https://…"
        bad_rows.append(_bad_row(item, problem))
    for item in batch.duplicates:
        bad_rows.append(_bad_row(item, "another record before it has the same identity"))
    bad_rows = [BadRow(_shown_text(row.place), _shown_text(row.why)) for row in bad_rows]
    if bad_rows:
        collection.catalog.add_bad_rows(summary.number, bad_rows)
    summary.visits += batch.visit_count
    summary.already_there += batch.known_count
    summary.bad += len(bad_rows)
    summary.bad_rows += bad_rows[: MAX_LISTED_BAD_ROWS - len(summary.bad_rows)]


def _checked(observation: Observation, now: datetime) -> Observation | BadRow:
    """Return a bad row instead of an observation whose time or URL cannot be that of a visit.

    A history with a source may have pages with any URL; a live page needs one to be fetched.
    """
    url = observation.url
    if len(url) > MAX_URL_CHARS:
        problem = f"its URL has {len(url):,} characters, more than the {MAX_URL_CHARS:,} taken"
        return _bad_row(observation, problem)
    problem = visit_time_problem(observation.time, now)
    if problem:
        return _bad_row(observation, problem)
    if not observation.source:
        try:
            canonical_web_url(url)
        except ValueError as error:
            page = f"page {redact_url(url)!r}"
            problem = f"{page} cannot be a live page: it {error}; or import it with a --source"
            return _bad_row(observation, problem)
    return observation


def _bad_row(observation: Observation, problem: str) -> BadRow:
    """Return the bad row of an observation, by its place in the input or by its URL."""
    return BadRow(observation.place or repr(redact_url(observation.url)), problem)


def _shown_text(text: str) -> str:
    """Return the beginning of a text from an input, without passwords.

    >>> len(_shown_text("x" * 1_000_000)), _shown_text("after http://me:pw@example.org/")
    (300, 'after http://[blanked]@example.org/')
    """
    text = redact_user_info(text)
    return text if len(text) <= MAX_MESSAGE_CHARS else text[: MAX_MESSAGE_CHARS - 1] + "…"


def _memory_bytes(item: Observation | BadRow) -> int:
    """Return the approximate memory that an item takes."""
    if isinstance(item, BadRow):
        return len(item.why)
    body_bytes = len(item.snapshot.body) if item.snapshot is not None else 0
    record_bytes = len(item.raw_record or b"") + sum(map(len, item.companion_records))
    return body_bytes + len(item.url) + record_bytes


def _batches(reader: HistoryReader) -> Iterator[list[Observation | BadRow]]:
    """Yield the items of an input in batches; if the input breaks off, those before that too."""
    batch: list[Observation | BadRow] = []
    batch_bytes = 0
    try:
        for item in reader:
            batch.append(item)
            batch_bytes += _memory_bytes(item)
            if len(batch) >= BATCH_VISITS or batch_bytes >= BATCH_BYTES:
                yield batch
                batch, batch_bytes = [], 0
    except BadInputError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
