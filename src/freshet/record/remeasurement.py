"""Visits that come late: put between their neighbours, which are measured anew.

A history reads the same in whatever order its visits were stored: a visit before the last one known
changes what later looks are compared with, whether they follow a page that was gone, and which of
their links were never seen. Only what differs is compared and written again.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import HistoryRow, LinkDelta, ViewSummary, VisitEntry
from freshet.core.types import Change, Outcome, PageKey, View
from freshet.measure.change.compare import MaskedView
from freshet.record.change_criteria import ChangeCriteria
from freshet.record.page_state import PageState, VisitContent, is_gone_after, measure_change

REMEASURING_NOTE = "measuring pages anew"
MAX_CACHED_VIEWS = 2

ViewReader = Callable[[HistoryRow], View | None]
LinkDeltaReader = Callable[[int], LinkDelta | None]


@dataclass(frozen=True, slots=True)
class HistoryState:
    """How a page stands after some of its visits: its last content, its links, whether gone."""

    last_look: HistoryRow | None = None
    is_gone: bool = False
    links: frozenset[str] = frozenset()

    @property
    def last_look_uid(self) -> bytes | None:
        """Return the uid of the last look with content."""
        return self.last_look.visit.uid if self.last_look else None

    def next_state(self, row: HistoryRow, links: frozenset[str]) -> "HistoryState":
        """Return how the page stands after one more visit."""
        outcome = row.visit.outcome
        if outcome is Outcome.OK:
            return HistoryState(row, False, links)
        return replace(self, is_gone=is_gone_after(self.is_gone, outcome))

    def has_same_baseline(self, other: "HistoryState") -> bool:
        """Whether the next visit is measured against the same."""
        return (self.last_look_uid, self.is_gone) == (other.last_look_uid, other.is_gone)


class HistoryViews:
    """The views of a page's visits; the last few are remembered."""

    def __init__(self, read: ViewReader, known: Mapping[bytes, View | None]) -> None:
        self._read = read
        self._known = known
        self._recent: dict[bytes, View | None] = {}

    def get(self, row: HistoryRow) -> View | None:
        """Return what a visit showed; None where its bytes are not kept."""
        uid = row.visit.uid
        if uid in self._known:
            return self._known[uid]
        if uid not in self._recent:
            while len(self._recent) >= MAX_CACHED_VIEWS:
                del self._recent[next(iter(self._recent))]
            self._recent[uid] = self._read(row)
        return self._recent[uid]


class HistoryRemeasurement:
    """Goes through one page's history in time order and says what must be written anew."""

    def __init__(
        self,
        gauge: ChangeCriteria,
        views: HistoryViews,
        delta_of: LinkDeltaReader,
        late_uids: Collection[bytes] | None = None,
    ) -> None:
        self._gauge = gauge
        self._views = views
        self._delta_of = delta_of
        self._late = late_uids

    def changed_entries(self, rows: Sequence[HistoryRow]) -> Iterator[VisitEntry]:
        """Yield the rows that differ; all that were measured where no visits are named as late."""
        past = now = HistoryState()
        seen: set[str] = set()
        for row in rows:
            new = self._late is None or row.visit.uid in self._late
            delta = self._delta(row)
            links = self._links(row, delta, now if new else past, new=new)
            if new or not past.has_same_baseline(now):
                entry = self._measured(row, now, links, seen)
            else:
                entry = _counted(row, delta, seen)
            if entry is not None:
                yield entry
            seen |= links
            past = past if new else past.next_state(row, links)
            now = now.next_state(row, links)

    def _delta(self, row: HistoryRow) -> LinkDelta:
        """Return which links came and went by a visit, as it was written."""
        still = row.change is not None and row.change.links is False
        if row.visit.outcome is not Outcome.OK or row.visit.id is None or still:
            return LinkDelta()
        return self._delta_of(row.visit.id) or LinkDelta()

    def _links(
        self, row: HistoryRow, delta: LinkDelta, before: HistoryState, *, new: bool
    ) -> frozenset[str]:
        """Return the links of a visit with content: of its view, or by what is written."""
        if row.visit.outcome is not Outcome.OK:
            return before.links
        view = self._views.get(row) if new else None
        if view is not None:
            return frozenset(view.links.urls)
        return before.links.difference(delta.removed).union(delta.added)

    def _measured(
        self, row: HistoryRow, before: HistoryState, links: frozenset[str], seen: set[str]
    ) -> VisitEntry | None:
        if row.visit.outcome is Outcome.OK:
            return self._compared(row, before, links, seen)
        if row.visit.outcome is Outcome.REPORTED:
            return None
        state = PageState(self._gauge, last_look_uid=before.last_look_uid, is_gone=before.is_gone)
        change = measure_change(state, _seen(row, None))
        return VisitEntry(row.visit, change, before.last_look_uid) if change else None

    def _compared(
        self, row: HistoryRow, before: HistoryState, links: frozenset[str], seen: set[str]
    ) -> VisitEntry | None:
        view = self._views.get(row)
        facts = ViewSummary.from_view(view) if view else None
        delta = LinkDelta(tuple(links - before.links), tuple(before.links - links))
        if before.last_look is None:
            return VisitEntry(row.visit, view=facts, links=delta)
        old = self._views.get(before.last_look)
        since: int | bytes | None = before.last_look_uid
        if view is None or old is None:
            change, since = row.change, row.since
        else:
            content = self._gauge.mask_view(old)
            state = PageState(
                self._gauge,
                last_look_uid=before.last_look_uid,
                masked_view=content,
                is_gone=before.is_gone,
            )
            change = measure_change(state, _seen(row, self._gauge.mask_view(view)))
        return VisitEntry(row.visit, _with_links(change, delta, seen), since, facts, delta)


def remeasure_history(catalog: Catalog, page: int, remeasurement: HistoryRemeasurement) -> int:
    """Write what measuring a page's history anew gives; return how many looks were compared."""
    entries = list(remeasurement.changed_entries(catalog.history(page)))
    catalog.replace_changes(entries)
    return sum(entry.change is not None for entry in entries)


@contextmanager
def note_remeasuring(catalog: Catalog, pages: Collection[PageKey]) -> Iterator[None]:
    """Keep in a note which pages are being measured anew, until that is done.

    Late visits are stored before their neighbours are measured: a crash in between is made good
    when the archive is next opened.
    """
    if not pages:
        yield
        return
    catalog.write_note(REMEASURING_NOTE, json.dumps([[page.url, page.source] for page in pages]))
    yield
    catalog.write_note(REMEASURING_NOTE, "[]")


def unmeasured_pages(catalog: Catalog) -> list[PageKey]:
    """Return the pages that a crash kept from being measured anew."""
    return [PageKey(*names) for names in json.loads(catalog.read_note(REMEASURING_NOTE) or "[]")]


def _counted(row: HistoryRow, delta: LinkDelta, seen: set[str]) -> VisitEntry | None:
    """Count again which links were never seen, where nothing else differs."""
    if row.change is None or row.visit.outcome is not Outcome.OK:
        return None
    change = _with_links(row.change, delta, seen)
    if change is None or change.never_seen == row.change.never_seen:
        return None
    return VisitEntry(row.visit, change, row.since)


def _with_links(change: Change | None, delta: LinkDelta, seen: set[str]) -> Change | None:
    if change is None:
        return None
    never = len(set(delta.added) - seen)
    return replace(change, never_seen=never, new_links=delta.added, removed_links=delta.removed)


def _seen(row: HistoryRow, content: MaskedView | None) -> VisitContent:
    return VisitContent(row.visit.uid, row.visit.time, row.visit.outcome, content)
