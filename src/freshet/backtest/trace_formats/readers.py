"""Histories as observed days, a row per page and look: what a trace is laid out from.

A look that was compared with the one before tells whether the page changed on its day. A page's
first look is only its reference, so of that day nothing is known.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from freshet.archive.importers import bing, csv, git
from freshet.archive.importers.base import HistoryReader
from freshet.archive.observation import Observation
from freshet.backtest.trace_formats.day_table_builder import DayTableBuilder, day_of
from freshet.backtest.trace_formats.git_versions import GitVersions
from freshet.core.errors import NotFoundError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.tables import PageDayTable
from freshet.core.types import Page
from freshet.record.store import CollectionStore

PROGRESS_EVERY = 5_000
PAGE_BATCH = 500


def ignore_note(text: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class ReadListener:
    """Who is told how far the reading is, and what could not be read."""

    progress: ProgressCallback = ignore_progress
    note: Callable[[str], None] = ignore_note


SILENT_LISTENER = ReadListener()


@dataclass(frozen=True, slots=True)
class HistorySource:
    """A history to be read, all of it or one part, and who is told."""

    path: Path
    part: str = ""
    listener: ReadListener = SILENT_LISTENER


def read_csv_days(recording: HistorySource) -> PageDayTable:
    """Return the days of a CSV file of observations."""
    return _reported(csv.read(recording.path), recording)


def read_bing_days(recording: HistorySource) -> PageDayTable:
    """Return the days of the public Bing crawl histories."""
    return _reported(bing.read(recording.path), recording)


def read_git_days(recording: HistorySource) -> PageDayTable:
    """Return the days of a scraping repository: each file a page, its runs told by its commits."""
    versions = GitVersions()
    for arrival in _arrivals(git.read(recording.path), recording):
        versions.add(arrival)
    return versions.build()


def read_collection_days(recording: HistorySource) -> PageDayTable:
    """Return the days of a collection's pages, all of them or those of one source."""
    book = DayTableBuilder()
    with CollectionStore.open(recording.path) as collection:
        total = collection.catalog.counts().pages
        pages = collection.catalog.pages(source=recording.part or None)
        for number, batch in enumerate(_batches(pages)):
            recording.listener.progress(number * PAGE_BATCH, total)
            _note_pages(book, collection, batch)
    found = book.build()
    if recording.part and not found.urls:
        raise NotFoundError(
            f"no page has source {recording.part!r}; 'freshet list' shows the sources"
        )
    return found


DAY_READERS: Mapping[str, Callable[[HistorySource], PageDayTable]] = {
    "csv": read_csv_days,
    "bing": read_bing_days,
    "git": read_git_days,
    "catalog": read_collection_days,
}


def _reported(reader: HistoryReader, recording: HistorySource) -> PageDayTable:
    """Return the days of a history that tells of changes itself."""
    book = DayTableBuilder()
    for arrival in _arrivals(reader, recording):
        page = book.page_index(arrival.source, arrival.url, arrival.importance)
        if arrival.change is not None:
            change = arrival.change
            book.add_look(page, day_of(arrival.time), change.changed, change.new_link_count)
    return book.build()


def _arrivals(reader: HistoryReader, recording: HistorySource) -> Iterator[Observation]:
    """Yield what can be read, and say at the end how much could not."""
    bad, first = 0, ""
    for number, item in enumerate(reader):
        if number % PROGRESS_EVERY == 0:
            recording.listener.progress(reader.done, reader.total)
        if isinstance(item, Observation):
            yield item
        else:
            bad, first = bad + 1, first or f"{item.place}: {item.why}"
    for text in reader.notes:
        recording.listener.note(text)
    if bad:
        recording.listener.note(
            f"{recording.path}: {bad} could not be read, the first being {first}"
        )


def _batches(pages: Iterator[Page]) -> Iterator[list[Page]]:
    while batch := list(islice(pages, PAGE_BATCH)):
        yield batch


def _note_pages(book: DayTableBuilder, collection: CollectionStore, pages: list[Page]) -> None:
    """Put down every compared look at some pages."""
    overrides = collection.catalog.setting_overrides([page.id for page in pages])
    for page in pages:
        settings = collection.settings.for_page(*overrides.get(page.id, ()))
        place = book.page_index(page.source, page.url, settings.importance)
        for row in collection.catalog.history(page.id):
            if row.visit.outcome.is_look and row.change is not None:
                links = row.change.new_link_count
                book.add_look(place, day_of(row.visit.time), row.change.changed, links)
