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
from freshet.archive.catalog.rows import Entry, HistoryRow, LinkDelta, ViewFacts
from freshet.core.types import Change, Outcome, PageKey, View
from freshet.measure.change.compare import Masked
from freshet.record.change_criteria import Gauge
from freshet.record.page_state import PageState, Seen, change_since, gone_after

MEASURING = "measuring pages anew"
REMEMBERED_VIEWS = 2

ViewOf = Callable[[HistoryRow], View | None]
DeltaOf = Callable[[int], LinkDelta | None]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a page stands after some of its visits: its last content, its links, whether gone."""

    look: HistoryRow | None = None
    gone: bool = False
    links: frozenset[str] = frozenset()

    @property
    def uid(self) -> bytes | None:
        """Return the uid of the last look with content."""
        return self.look.visit.uid if self.look else None

    def after(self, row: HistoryRow, links: frozenset[str]) -> "Standing":
        """Return how the page stands after one more visit."""
        outcome = row.visit.outcome
        if outcome is Outcome.OK:
            return Standing(row, False, links)
        return replace(self, gone=gone_after(self.gone, outcome))

    def compares_like(self, other: "Standing") -> bool:
        """Whether the next visit is measured against the same."""
        return (self.uid, self.gone) == (other.uid, other.gone)


class Views:
    """The views of a page's visits; the last few are remembered."""

    def __init__(self, read: ViewOf, known: Mapping[bytes, View | None]) -> None:
        self._read = read
        self._known = known
        self._recent: dict[bytes, View | None] = {}

    def of(self, row: HistoryRow) -> View | None:
        """Return what a visit showed; None where its bytes are not kept."""
        uid = row.visit.uid
        if uid in self._known:
            return self._known[uid]
        if uid not in self._recent:
            while len(self._recent) >= REMEMBERED_VIEWS:
                del self._recent[next(iter(self._recent))]
            self._recent[uid] = self._read(row)
        return self._recent[uid]


class Remeasurement:
    """Goes through one page's history in time order and says what must be written anew."""

    def __init__(
        self,
        gauge: Gauge,
        views: Views,
        delta_of: DeltaOf,
        late: Collection[bytes] | None = None,
    ) -> None:
        self._gauge = gauge
        self._views = views
        self._delta_of = delta_of
        self._late = late

    def entries(self, rows: Sequence[HistoryRow]) -> Iterator[Entry]:
        """Yield the rows that differ; all that were measured where no visits are named as late."""
        past = now = Standing()
        seen: set[str] = set()
        for row in rows:
            new = self._late is None or row.visit.uid in self._late
            delta = self._delta(row)
            links = self._links(row, delta, now if new else past, new=new)
            if new or not past.compares_like(now):
                entry = self._measured(row, now, links, seen)
            else:
                entry = _counted(row, delta, seen)
            if entry is not None:
                yield entry
            seen |= links
            past = past if new else past.after(row, links)
            now = now.after(row, links)

    def _delta(self, row: HistoryRow) -> LinkDelta:
        """Return which links came and went by a visit, as it was written."""
        still = row.change is not None and row.change.links is False
        if row.visit.outcome is not Outcome.OK or row.visit.id is None or still:
            return LinkDelta()
        return self._delta_of(row.visit.id) or LinkDelta()

    def _links(
        self, row: HistoryRow, delta: LinkDelta, before: Standing, *, new: bool
    ) -> frozenset[str]:
        """Return the links of a visit with content: of its view, or by what is written."""
        if row.visit.outcome is not Outcome.OK:
            return before.links
        view = self._views.of(row) if new else None
        if view is not None:
            return frozenset(view.links.urls)
        return before.links.difference(delta.removed).union(delta.added)

    def _measured(
        self, row: HistoryRow, before: Standing, links: frozenset[str], seen: set[str]
    ) -> Entry | None:
        if row.visit.outcome is Outcome.OK:
            return self._compared(row, before, links, seen)
        if row.visit.outcome is Outcome.REPORTED:
            return None
        state = PageState(self._gauge, uid=before.uid, gone=before.gone)
        change = change_since(state, _seen(row, None))
        return Entry(row.visit, change, before.uid) if change else None

    def _compared(
        self, row: HistoryRow, before: Standing, links: frozenset[str], seen: set[str]
    ) -> Entry | None:
        view = self._views.of(row)
        facts = ViewFacts.of(view) if view else None
        delta = LinkDelta(tuple(links - before.links), tuple(before.links - links))
        if before.look is None:
            return Entry(row.visit, view=facts, links=delta)
        old = self._views.of(before.look)
        since: int | bytes | None = before.uid
        if view is None or old is None:
            change, since = row.change, row.since
        else:
            content = self._gauge.under(old)
            state = PageState(self._gauge, uid=before.uid, content=content, gone=before.gone)
            change = change_since(state, _seen(row, self._gauge.under(view)))
        return Entry(row.visit, _with_links(change, delta, seen), since, facts, delta)


def write_anew(catalog: Catalog, page: int, remeasurement: Remeasurement) -> int:
    """Write what measuring a page's history anew gives; return how many looks were compared."""
    entries = list(remeasurement.entries(catalog.history(page)))
    catalog.replace_changes(entries)
    return sum(entry.change is not None for entry in entries)


@contextmanager
def noted(catalog: Catalog, pages: Collection[PageKey]) -> Iterator[None]:
    """Keep in a note which pages are being measured anew, until that is done.

    Late visits are stored before their neighbours are measured: a crash in between is made good
    when the archive is next opened.
    """
    if not pages:
        yield
        return
    catalog.set_note(MEASURING, json.dumps([[page.url, page.source] for page in pages]))
    yield
    catalog.set_note(MEASURING, "[]")


def left_unmeasured(catalog: Catalog) -> list[PageKey]:
    """Return the pages that a crash kept from being measured anew."""
    return [PageKey(*names) for names in json.loads(catalog.note(MEASURING) or "[]")]


def _counted(row: HistoryRow, delta: LinkDelta, seen: set[str]) -> Entry | None:
    """Count again which links were never seen, where nothing else differs."""
    if row.change is None or row.visit.outcome is not Outcome.OK:
        return None
    change = _with_links(row.change, delta, seen)
    if change is None or change.never_seen == row.change.never_seen:
        return None
    return Entry(row.visit, change, row.since)


def _with_links(change: Change | None, delta: LinkDelta, seen: set[str]) -> Change | None:
    if change is None:
        return None
    never = len(set(delta.added) - seen)
    return replace(change, never_seen=never, new_links=delta.added, removed_links=delta.removed)


def _seen(row: HistoryRow, content: Masked | None) -> Seen:
    return Seen(row.visit.uid, row.visit.time, row.visit.outcome, content)
