"""Days of a scraping repository, which stores a version only if a page changed.

The scraper ran on each day with a commit; a page that existed and was not written is unchanged. A
page counts as changed if its visible text differs from its previous version, or if it returns after
it was deleted. The time of a look is that of its commit.
"""

from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from freshet.archive.observation import Observation
from freshet.backtest.trace_formats.change_moments import previous_runs
from freshet.backtest.trace_formats.day_table_builder import DayTableBuilder, day_of
from freshet.core.clock import to_epoch
from freshet.core.settings import LimitSettings
from freshet.core.tables import PageDayTable
from freshet.core.types import IndexArray, Outcome, Snapshot, View
from freshet.record.parsed_visit import parse_visit

LAST_DAY = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, slots=True)
class PageVersionState:
    """The last version of a page and its day; ``is_present`` until a commit removes the page."""

    text_hash: int
    links: frozenset[str]
    day: int
    is_present: bool = True
    is_deleted: bool = False


class GitVersions:
    """Collects the versions of a repository's pages, commit by commit."""

    def __init__(self) -> None:
        self._builder = DayTableBuilder()
        self._versions: dict[int, PageVersionState] = {}
        self._runs: set[int] = set()
        self._commit_times: set[float] = set()
        self._stays: list[tuple[int, int, int]] = []
        self._limits = LimitSettings()

    def add(self, observation: Observation) -> None:
        """Add a version that a commit wrote, or a deletion."""
        page, day = (
            self._builder.page_index(observation.source, observation.url),
            day_of(observation.time),
        )
        self._runs.add(day)
        self._commit_times.add(to_epoch(observation.time))
        view = self._view(observation.snapshot)
        previous = self._versions.get(page)
        if previous is not None:
            self._end_stay(page, previous, day)
        if view is not None:
            self._versions[page] = self._add_version(page, observation.time, view, previous)
        elif previous is not None:
            deleted = observation.outcome is Outcome.GONE
            self._versions[page] = replace(previous, is_present=False, is_deleted=deleted)

    def build(self) -> PageDayTable:
        """Return a row for every version, and for every run that left a page unchanged."""
        for page, version in self._versions.items():
            self._end_stay(page, version, LAST_DAY)
        stays = np.array(self._stays, np.int32).reshape(-1, 3)
        self._builder.add_unchanged_looks(
            *_unchanged_runs(stays, np.array(sorted(self._runs), np.int32))
        )
        commit_times = np.array(sorted(self._commit_times))
        return self._builder.build(lambda pages, times: previous_runs(commit_times, times))

    def _add_version(
        self, page: int, time: datetime, view: View, previous: PageVersionState | None
    ) -> PageVersionState:
        """Add the difference of a version from the previous one, if there is one."""
        links = frozenset(view.links.urls)
        if previous is not None:
            changed = previous.is_deleted or view.text_hash != previous.text_hash
            self._builder.add_look(page, time, changed, len(links - previous.links))
        return PageVersionState(view.text_hash, links, day_of(time))

    def _end_stay(self, page: int, version: PageVersionState, day: int) -> None:
        if version.is_present:
            self._stays.append((page, version.day, day))

    def _view(self, snapshot: Snapshot | None) -> View | None:
        """Return the view of a version; None if the version is not a look."""
        if snapshot is None:
            return None
        parsed = parse_visit(snapshot, self._limits)
        return parsed.view if parsed.outcome.is_look else None


def _unchanged_runs(stays: IndexArray, runs: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return page and day of every run inside a stay (page, first day, last day), ends excluded.

    >>> stays, runs = np.array([[7, 1, 4], [8, 3, 9]]), np.array([1, 2, 3, 5])
    >>> [column.tolist() for column in _unchanged_runs(stays, runs)]
    [[7, 7, 8], [2, 3, 5]]
    """
    first_runs = np.searchsorted(runs, stays[:, 1], side="right")
    run_counts = np.maximum(np.searchsorted(runs, stays[:, 2], side="left") - first_runs, 0)
    offsets = np.repeat(np.cumsum(run_counts) - run_counts - first_runs, run_counts)
    run_indices = np.arange(run_counts.sum()) - offsets
    return np.repeat(stays[:, 0], run_counts).astype(np.int32), runs[run_indices].astype(np.int32)
