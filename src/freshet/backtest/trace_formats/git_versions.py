"""The days of a scraping repository, which keeps a version only where something changed.

A day with a commit is a day on which the scraper ran; a page that was there and was not written
looked as before. A page counts as changed where its visible text differs from that of its version
before, or where it comes back after it was gone.
"""

from dataclasses import dataclass, replace

import numpy as np

from freshet.archive.observation import Observation
from freshet.backtest.trace_formats.day_table_builder import DayTableBuilder, day_of
from freshet.core.settings import LimitSettings
from freshet.core.tables import PageDayTable
from freshet.core.types import IndexArray, Outcome, Snapshot, View
from freshet.record.parsed_visit import parse_visit

FOREVER = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, slots=True)
class PageVersionState:
    """What a page showed last, and on which day; ``is_present`` until a commit took it away."""

    text_hash: int
    links: frozenset[str]
    day: int
    is_present: bool = True
    is_deleted: bool = False


class GitVersions:
    """The versions of a repository's pages, taken in one commit after the other."""

    def __init__(self) -> None:
        self._book = DayTableBuilder()
        self._seen: dict[int, PageVersionState] = {}
        self._runs: set[int] = set()
        self._stays: list[tuple[int, int, int]] = []
        self._limits = LimitSettings()

    def add(self, arrival: Observation) -> None:
        """Take in what a commit wrote of a page, or that it deleted it."""
        page, day = self._book.page_index(arrival.source, arrival.url), day_of(arrival.time)
        self._runs.add(day)
        view = self._view(arrival.snapshot)
        before = self._seen.get(page)
        if before is not None:
            self._end_stay(page, before, day)
        if view is not None:
            self._seen[page] = self._look(page, day, view, before)
        elif before is not None:
            deleted = arrival.outcome is Outcome.GONE
            self._seen[page] = replace(before, is_present=False, is_deleted=deleted)

    def build(self) -> PageDayTable:
        """Return a row for every version, and for every run that left a page as it was."""
        for page, seen in self._seen.items():
            self._end_stay(page, seen, FOREVER)
        stays = np.array(self._stays, np.int32).reshape(-1, 3)
        self._book.add_unchanged_looks(*_unwritten(stays, np.array(sorted(self._runs), np.int32)))
        return self._book.build()

    def _look(
        self, page: int, day: int, view: View, before: PageVersionState | None
    ) -> PageVersionState:
        """Put down how a version differs from the one before, if there was one."""
        links = frozenset(view.links.urls)
        if before is not None:
            changed = before.is_deleted or view.text_hash != before.text_hash
            self._book.add_look(page, day, changed, len(links - before.links))
        return PageVersionState(view.text_hash, links, day)

    def _end_stay(self, page: int, seen: PageVersionState, day: int) -> None:
        if seen.is_present:
            self._stays.append((page, seen.day, day))

    def _view(self, snapshot: Snapshot | None) -> View | None:
        """Return what a version shows; nothing where it is no look."""
        if snapshot is None:
            return None
        sight = parse_visit(snapshot, self._limits)
        return sight.view if sight.outcome.is_look else None


def _unwritten(stays: IndexArray, runs: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return page and day of every run within a stay (page, first day, last day), ends left out.

    >>> stays, runs = np.array([[7, 1, 4], [8, 3, 9]]), np.array([1, 2, 3, 5])
    >>> [column.tolist() for column in _unwritten(stays, runs)]
    [[7, 7, 8], [2, 3, 5]]
    """
    start = np.searchsorted(runs, stays[:, 1], side="right")
    count = np.maximum(np.searchsorted(runs, stays[:, 2], side="left") - start, 0)
    skipped = np.repeat(np.cumsum(count) - count - start, count)
    at = np.arange(count.sum()) - skipped
    return np.repeat(stays[:, 0], count).astype(np.int32), runs[at].astype(np.int32)
