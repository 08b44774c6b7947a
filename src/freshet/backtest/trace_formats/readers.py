"""Read histories as observed days, a row per page and look, from which a trace is laid out.

A look that was compared with the previous one says whether the page changed on its day. A page's
first look is only the reference, so that day is unknown.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from freshet.archive.importers import bing, csv, git
from freshet.archive.importers.base import HistoryReader
from freshet.archive.observation import Observation
from freshet.backtest.trace_formats.day_table_builder import DayTableBuilder
from freshet.backtest.trace_formats.git_versions import GitVersions
from freshet.core.errors import NotFoundError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.tables import PageDayTable
from freshet.core.types import Page
from freshet.record.collection_store import CollectionStore

PROGRESS_EVERY = 5_000
PAGE_BATCH = 500


def ignore_note(text: str) -> None:
    """Ignore a note."""


@dataclass(frozen=True, slots=True)
class ReadListener:
    """Receives the progress of reading and notes about unreadable input."""

    progress: ProgressCallback = ignore_progress
    note: Callable[[str], None] = ignore_note


SILENT_LISTENER = ReadListener()


@dataclass(frozen=True, slots=True)
class HistorySource:
    """A history to read, all of it or one part, and its listener."""

    path: Path
    part: str = ""
    listener: ReadListener = SILENT_LISTENER


def read_csv_days(source: HistorySource) -> PageDayTable:
    """Read the days of a CSV file of observations."""
    return _read_reported_changes(csv.read(source.path), source)


def read_bing_days(source: HistorySource) -> PageDayTable:
    """Read the days of the public Bing crawl histories."""
    return _read_reported_changes(bing.read(source.path), source)


def read_git_days(source: HistorySource) -> PageDayTable:
    """Read the days of a scraping repository: each file is a page, each day with a commit a run."""
    versions = GitVersions()
    for observation in _readable_observations(git.read(source.path), source):
        versions.add(observation)
    return versions.build()


def read_collection_days(source: HistorySource) -> PageDayTable:
    """Read the days of a collection's pages, all of them or those of one source."""
    builder = DayTableBuilder()
    with CollectionStore.open(source.path) as collection:
        total = collection.catalog.counts().pages
        pages = collection.catalog.pages(source=source.part or None)
        for number, batch in enumerate(_batches(pages)):
            source.listener.progress(number * PAGE_BATCH, total)
            _add_pages(builder, collection, batch)
    table = builder.build()
    if source.part and not table.urls:
        raise NotFoundError(f"no page has source {source.part!r}; 'freshet list' shows the sources")
    return table


DAY_READERS: Mapping[str, Callable[[HistorySource], PageDayTable]] = {
    "csv": read_csv_days,
    "bing": read_bing_days,
    "git": read_git_days,
    "catalog": read_collection_days,
}


def _read_reported_changes(reader: HistoryReader, source: HistorySource) -> PageDayTable:
    """Return the days of a history that states changes itself."""
    builder = DayTableBuilder()
    for observation in _readable_observations(reader, source):
        page = builder.page_index(observation.source, observation.url, observation.importance)
        if observation.change is not None:
            change = observation.change
            builder.add_look(page, observation.time, change.changed, change.new_link_count)
    return builder.build()


def _readable_observations(reader: HistoryReader, source: HistorySource) -> Iterator[Observation]:
    """Yield the readable observations; at the end report how many items could not be read."""
    unreadable, first_problem = 0, ""
    for number, item in enumerate(reader):
        if number % PROGRESS_EVERY == 0:
            source.listener.progress(reader.done, reader.total)
        if isinstance(item, Observation):
            yield item
        else:
            unreadable, first_problem = unreadable + 1, first_problem or f"{item.place}: {item.why}"
    for text in reader.notes:
        source.listener.note(text)
    if unreadable:
        source.listener.note(
            f"{source.path}: {unreadable} unreadable; the first is {first_problem}"
        )


def _batches(pages: Iterator[Page]) -> Iterator[list[Page]]:
    while batch := list(islice(pages, PAGE_BATCH)):
        yield batch


def _add_pages(builder: DayTableBuilder, collection: CollectionStore, pages: list[Page]) -> None:
    """Add every compared look at some pages."""
    overrides = collection.catalog.setting_overrides([page.id for page in pages])
    for page in pages:
        settings = collection.settings.for_page(*overrides.get(page.id, ()))
        page_index = builder.page_index(page.source, page.url, settings.importance)
        for row in collection.catalog.history(page.id):
            if row.visit.outcome.is_look and row.change is not None:
                links = row.change.new_link_count
                builder.add_look(page_index, row.visit.time, row.change.changed, links)
