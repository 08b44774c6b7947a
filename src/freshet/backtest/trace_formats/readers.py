"""Histories as observed days, a row per page and look: what a trace is laid out from.

A look that was compared with the one before tells whether the page changed on its day. A page's
first look is only its reference, so of that day nothing is known.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from freshet.archive.importers import bing, csv, git
from freshet.archive.importers.base import Arrival, Reader
from freshet.backtest.trace_formats.day_table_builder import Daybook, day_of
from freshet.backtest.trace_formats.git_versions import Versions
from freshet.core.errors import NotFound
from freshet.core.progress import Progress, silent
from freshet.core.tables import DayTable
from freshet.core.types import Page
from freshet.record.store import CollectionStore

TOLD_EVERY = 5_000
PAGES_AT_ONCE = 500


def mute(text: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Told:
    """Who is told how far the reading is, and what could not be read."""

    progress: Progress = silent
    note: Callable[[str], None] = mute


UNTOLD = Told()


@dataclass(frozen=True, slots=True)
class Recording:
    """A history to be read, all of it or one part, and who is told."""

    where: Path
    part: str = ""
    told: Told = UNTOLD


def days_of_csv(recording: Recording) -> DayTable:
    """Return the days of a CSV file of observations."""
    return _reported(csv.read(recording.where), recording)


def days_of_bing(recording: Recording) -> DayTable:
    """Return the days of the public Bing crawl histories."""
    return _reported(bing.read(recording.where), recording)


def days_of_git(recording: Recording) -> DayTable:
    """Return the days of a scraping repository: each file a page, its runs told by its commits."""
    versions = Versions()
    for arrival in _arrivals(git.read(recording.where), recording):
        versions.take(arrival)
    return versions.table()


def days_of_collection(recording: Recording) -> DayTable:
    """Return the days of a collection's pages, all of them or those of one source."""
    book = Daybook()
    with CollectionStore.open(recording.where) as collection:
        total = collection.catalog.counts().pages
        pages = collection.catalog.pages(source=recording.part or None)
        for number, batch in enumerate(_batches(pages)):
            recording.told.progress(number * PAGES_AT_ONCE, total)
            _note_pages(book, collection, batch)
    found = book.table()
    if recording.part and not found.urls:
        raise NotFound(f"no page has source {recording.part!r}; 'freshet list' shows the sources")
    return found


READERS: Mapping[str, Callable[[Recording], DayTable]] = {
    "csv": days_of_csv,
    "bing": days_of_bing,
    "git": days_of_git,
    "catalog": days_of_collection,
}


def _reported(reader: Reader, recording: Recording) -> DayTable:
    """Return the days of a history that tells of changes itself."""
    book = Daybook()
    for arrival in _arrivals(reader, recording):
        page = book.page(arrival.source, arrival.url, arrival.importance)
        if arrival.change is not None:
            change = arrival.change
            book.note(page, day_of(arrival.time), change.changed, change.new_link_count)
    return book.table()


def _arrivals(reader: Reader, recording: Recording) -> Iterator[Arrival]:
    """Yield what can be read, and say at the end how much could not."""
    bad, first = 0, ""
    for number, item in enumerate(reader):
        if number % TOLD_EVERY == 0:
            recording.told.progress(reader.done, reader.total)
        if isinstance(item, Arrival):
            yield item
        else:
            bad, first = bad + 1, first or f"{item.place}: {item.why}"
    for text in reader.notes:
        recording.told.note(text)
    if bad:
        recording.told.note(f"{recording.where}: {bad} could not be read, the first being {first}")


def _batches(pages: Iterator[Page]) -> Iterator[list[Page]]:
    while batch := list(islice(pages, PAGES_AT_ONCE)):
        yield batch


def _note_pages(book: Daybook, collection: CollectionStore, pages: list[Page]) -> None:
    """Put down every compared look at some pages."""
    overrides = collection.catalog.overrides([page.id for page in pages])
    for page in pages:
        settings = collection.settings.for_page(*overrides.get(page.id, ()))
        place = book.page(page.source, page.url, settings.importance)
        for row in collection.catalog.history(page.id):
            if row.visit.outcome.is_look and row.change is not None:
                links = row.change.new_link_count
                book.note(place, day_of(row.visit.time), row.change.changed, links)
