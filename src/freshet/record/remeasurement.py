"""Compares a page's history again after late visits were added to it.

A history reads the same in whatever order its visits were stored. A late visit changes the version
that later looks are compared with, whether they follow a page that was gone, and which of their
links are new. Only the rows that differ are compared and written again.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import HistoryRow, LinkDelta, ViewSummary, VisitEntry
from freshet.core.types import Change, Outcome, PageKey, View
from freshet.record.change_criteria import ChangeCriteria
from freshet.record.page_state import PageState, is_gone_after, measure_change

REMEASURING_NOTE = "measuring pages anew"
MAX_CACHED_VIEWS = 2

ViewReader = Callable[[HistoryRow], View | None]
LinkDeltaReader = Callable[[int], LinkDelta | None]


@dataclass(frozen=True, slots=True)
class HistoryState:
    """The state of a page at one point of its history: its last look, its links, whether gone."""

    last_look: HistoryRow | None = None
    is_gone: bool = False
    links: frozenset[str] = frozenset()

    @property
    def last_look_uid(self) -> bytes | None:
        """Return the uid of the last look with content."""
        return self.last_look.visit.uid if self.last_look else None

    def next_state(self, row: HistoryRow, links: frozenset[str]) -> "HistoryState":
        """Return the state after one more visit."""
        outcome = row.visit.outcome
        if outcome is Outcome.OK:
            return HistoryState(row, False, links)
        return replace(self, is_gone=is_gone_after(self.is_gone, outcome))

    def has_same_baseline(self, other: "HistoryState") -> bool:
        """Whether the next visit is compared with the same version."""
        return (self.last_look_uid, self.is_gone) == (other.last_look_uid, other.is_gone)


class HistoryViews:
    """The views of a page's visits: those given by uid, others are read and the last few cached."""

    def __init__(self, read_view: ViewReader, views: Mapping[bytes, View | None]) -> None:
        self._read_view = read_view
        self._views = views
        self._cache: dict[bytes, View | None] = {}

    def get(self, row: HistoryRow) -> View | None:
        """Return the view of a visit; None where its bytes are lost."""
        uid = row.visit.uid
        if uid in self._views:
            return self._views[uid]
        if uid not in self._cache:
            while len(self._cache) >= MAX_CACHED_VIEWS:
                del self._cache[next(iter(self._cache))]
            self._cache[uid] = self._read_view(row)
        return self._cache[uid]


class HistoryRemeasurement:
    """Goes through a page's history in time order and finds the rows to be written again.

    ``late_uids`` are the visits that were added late; all visits are compared if it is None.
    """

    def __init__(
        self,
        criteria: ChangeCriteria,
        views: HistoryViews,
        read_link_delta: LinkDeltaReader,
        late_uids: Collection[bytes] | None = None,
    ) -> None:
        self._criteria = criteria
        self._views = views
        self._read_link_delta = read_link_delta
        self._late_uids = late_uids

    def changed_entries(self, rows: Sequence[HistoryRow]) -> Iterator[VisitEntry]:
        """Yield the rows that must be written again."""
        # The state with and without the late visits.
        state = state_without_late = HistoryState()
        known_links: set[str] = set()
        for row in rows:
            is_late = self._late_uids is None or row.visit.uid in self._late_uids
            delta = self._written_delta(row)
            before = state if is_late else state_without_late
            links = self._links_after(row, delta, before, read_view=is_late)
            if is_late or not state_without_late.has_same_baseline(state):
                entry = self._measured_entry(row, state, links, known_links)
            else:
                entry = _recounted_entry(row, delta, known_links)
            if entry is not None:
                yield entry
            known_links |= links
            if not is_late:
                state_without_late = state_without_late.next_state(row, links)
            state = state.next_state(row, links)

    def _written_delta(self, row: HistoryRow) -> LinkDelta:
        """Return the links that a visit added and removed, as they were written."""
        has_same_links = row.change is not None and row.change.links is False
        if row.visit.outcome is not Outcome.OK or row.visit.id is None or has_same_links:
            return LinkDelta()
        return self._read_link_delta(row.visit.id) or LinkDelta()

    def _links_after(
        self, row: HistoryRow, delta: LinkDelta, before: HistoryState, *, read_view: bool
    ) -> frozenset[str]:
        """Return the links of the page after a visit, from its view or from the written delta."""
        if row.visit.outcome is not Outcome.OK:
            return before.links
        view = self._views.get(row) if read_view else None
        if view is not None:
            return frozenset(view.links.urls)
        return before.links.difference(delta.removed).union(delta.added)

    def _measured_entry(
        self, row: HistoryRow, before: HistoryState, links: frozenset[str], known_links: set[str]
    ) -> VisitEntry | None:
        """Return the row of a visit, compared with the state before it."""
        outcome = row.visit.outcome
        if outcome is Outcome.OK:
            return self._compared_entry(row, before, links, known_links)
        if outcome is Outcome.REPORTED:
            return None
        uid = before.last_look_uid
        state = PageState(self._criteria, last_look_uid=uid, is_gone=before.is_gone)
        change = measure_change(state, outcome, None)
        return VisitEntry(row.visit, change, uid) if change else None

    def _compared_entry(
        self, row: HistoryRow, before: HistoryState, links: frozenset[str], known_links: set[str]
    ) -> VisitEntry:
        """Return the row of a look with content, compared with the look before it."""
        view = self._views.get(row)
        summary = ViewSummary.from_view(view) if view else None
        delta = LinkDelta(tuple(links - before.links), tuple(before.links - links))
        if before.last_look is None:
            return VisitEntry(row.visit, view=summary, links=delta)
        old_view = self._views.get(before.last_look)
        since: int | bytes | None = before.last_look_uid
        if view is None or old_view is None:
            change, since = row.change, row.since
        else:
            state = PageState(
                self._criteria,
                last_look_uid=before.last_look_uid,
                masked_view=self._criteria.mask_view(old_view),
                is_gone=before.is_gone,
            )
            masked_view = self._criteria.mask_view(view)
            change = measure_change(state, row.visit.outcome, masked_view)
        if change is not None:
            change = _with_links(change, delta, known_links)
        return VisitEntry(row.visit, change, since, summary, delta)


def remeasure_history(catalog: Catalog, page_id: int, remeasurement: HistoryRemeasurement) -> int:
    """Compare a page's history again and write it; return the number of looks compared."""
    entries = list(remeasurement.changed_entries(catalog.history(page_id)))
    catalog.replace_changes(entries)
    return sum(entry.change is not None for entry in entries)


@contextmanager
def note_remeasuring(catalog: Catalog, keys: Collection[PageKey]) -> Iterator[None]:
    """Keep a note of the pages whose history is being compared again.

    Late visits are stored before the visits after them are compared again. After a crash in
    between, the pages of the note are compared again when the archive is next opened.
    """
    if not keys:
        yield
        return
    catalog.write_note(REMEASURING_NOTE, json.dumps([[key.url, key.source] for key in keys]))
    yield
    catalog.write_note(REMEASURING_NOTE, "[]")


def unmeasured_pages(catalog: Catalog) -> list[PageKey]:
    """Return the pages whose comparison a crash interrupted."""
    return [PageKey(*names) for names in json.loads(catalog.read_note(REMEASURING_NOTE) or "[]")]


def _recounted_entry(row: HistoryRow, delta: LinkDelta, known_links: set[str]) -> VisitEntry | None:
    """Return the row with its new links counted again; None where the count is the same."""
    if row.change is None or row.visit.outcome is not Outcome.OK:
        return None
    change = _with_links(row.change, delta, known_links)
    if change.never_seen == row.change.never_seen:
        return None
    return VisitEntry(row.visit, change, row.since)


def _with_links(change: Change, delta: LinkDelta, known_links: set[str]) -> Change:
    never_seen = len(set(delta.added) - known_links)
    return replace(
        change, never_seen=never_seen, new_links=delta.added, removed_links=delta.removed
    )
