"""Arrivals become visits: archived, viewed, measured, and acknowledged in one transaction.

The order of writes is what makes a crash harmless: whole records first, made durable, then one
transaction of the catalog. A record without a row is adopted when the collection is next opened.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import LinkDelta, NewPage, ViewSummary, VisitEntry
from freshet.archive.observation import Observation
from freshet.archive.snapshots import SnapshotReader
from freshet.archive.warc.digest import parse_sha1
from freshet.core.clock import Clock
from freshet.core.settings import Settings
from freshet.core.types import Change, Outcome, PageKey, Snapshot, View, Visit
from freshet.measure.change.compare import MaskedView
from freshet.record.change_criteria import ChangeCriteria
from freshet.record.fault_isolation import SYSTEM_ERRORS, describe_fault, isolate_faults
from freshet.record.page_state import (
    KnownLinks,
    PageState,
    VisitContent,
    measure_change,
    measure_links,
    next_state,
)
from freshet.record.page_state_cache import PageStateCache
from freshet.record.parsed_visit import ParsedVisit, parse_visit
from freshet.record.record_store import RecordStore, StoredBytes
from freshet.record.redirects import with_last_redirect
from freshet.record.remeasurement import (
    HistoryRemeasurement,
    HistoryViews,
    note_remeasuring,
    remeasure_history,
    unmeasured_pages,
)
from freshet.record.visit_draft import (
    VisitDraft,
    is_report_only,
    reported_entry,
    visit_from_draft,
    with_payload,
)
from freshet.view.url import canonical_url, page_address

MAX_CACHED_PAGES = 20_000

PageObservation = tuple[int, str, Observation]


RecordedVisit = tuple[Visit, Change | None]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordedBatch:
    """What became of a batch: ``duplicates`` are others under the identity of one before them.

    ``recorded_visits`` are the visits that were written, each page's in time order, with what they found.
    """

    visit_count: int
    known_count: int
    unusable: tuple[Observation, ...] = ()
    duplicates: tuple[Observation, ...] = ()
    recorded_visits: tuple[RecordedVisit, ...] = ()


class Recorder:
    """Records arrivals in a collection whose archive this process may append to."""

    def __init__(
        self,
        catalog: Catalog,
        snapshots: SnapshotReader,
        settings: Settings,
        shelf: RecordStore,
        clock: Clock,
    ) -> None:
        self._catalog = catalog
        self._snapshots = snapshots
        self._settings = settings
        self._shelf = shelf
        self._clock = clock
        self._memory = PageStateCache(catalog, snapshots, settings)
        self._links = KnownLinks(catalog.links_ever_seen)
        self._pages: dict[tuple[str, str], tuple[int, str]] = {}
        self._bare: set[int] = set()
        # Visits that were written, but not returned yet because an error came after them.
        self._unreported: list[RecordedVisit] = []

    def record(self, observations: Sequence[Observation]) -> RecordedBatch:
        """Record a batch; what the collection already has is left as it is."""
        known = self._catalog.stored_uids([arrival.uid for arrival in observations])
        first: dict[bytes, Observation] = {}
        for arrival in observations:
            first.setdefault(arrival.uid, arrival)
        fresh = [arrival for uid, arrival in first.items() if uid not in known]
        fresh.sort(key=lambda arrival: (arrival.source, arrival.time))
        unusable = self._record(fresh)
        learnt, self._unreported = tuple(self._unreported), []
        doubled = tuple(
            arrival for arrival in observations if _differs(arrival, first[arrival.uid])
        )
        known_already = len(observations) - len(fresh) - len(doubled)
        return RecordedBatch(len(learnt), known_already, unusable, doubled, learnt)

    def _record(self, arrivals: Sequence[Observation]) -> tuple[Observation, ...]:
        """Record arrivals and return those that no page can have.

        Where one of them raises an error, they are halved until it is alone.
        """
        try:
            return self._record_together(arrivals)
        except SYSTEM_ERRORS:
            raise
        except Exception as error:
            if len(arrivals) == 1:
                log.exception("%s: recording failed, a fault of Freshet", arrivals[0].url)
                return self._record_unread(arrivals[0], error)
        middle = len(arrivals) // 2
        return (*self._record(arrivals[:middle]), *self._record(arrivals[middle:]))

    def _record_together(self, arrivals: Sequence[Observation]) -> tuple[Observation, ...]:
        """Record arrivals in one transaction; return those that no page can have."""
        fresh = [with_last_redirect(arrival) for arrival in arrivals]
        self._find_pages(fresh)
        items = [(*self._pages[arrival.url, arrival.source], arrival) for arrival in fresh]
        told, plain = self._parted([item for item in items if item[0]])
        states = self._memory.get_states({page: url for page, url, _ in plain})
        drafts = self._drafts(plain, states)
        self._shelf.sync()
        self._weigh(items)
        reports = [reported_entry(page, arrival) for page, _, arrival in told]
        self._unreported += self._write(drafts, reports, states)
        self._shelf.acknowledge(arrival.uid for arrival in fresh)
        return tuple(arrival for page, _, arrival in items if not page)

    def _record_unread(self, arrival: Observation, error: Exception) -> tuple[Observation, ...]:
        """Record an arrival that cannot be read or measured: its bytes, and that it failed."""
        with isolate_faults("recording it without its content", arrival.url):
            self._find_pages([arrival])
            page, url = self._pages[arrival.url, arrival.source]
            if not page:
                return (arrival,)
            stored = StoredBytes()
            with isolate_faults("storing its bytes", url):
                stored = self._shelf.append(with_last_redirect(arrival), page, url)
                self._shelf.sync()
            seen = VisitContent(arrival.uid, arrival.time, Outcome.UNREADABLE, None)
            why = describe_fault(error, "while it was read")
            visit = visit_from_draft(
                VisitDraft(arrival, page, url, seen, stored, arrival.snapshot, why)
            )
            self._memory.discard([page])
            self._catalog.append_visits([VisitEntry(visit)], all_new=True)
            self._unreported.append((visit, None))
            self._shelf.acknowledge([arrival.uid])
            return ()
        return (arrival,)

    def _parted(
        self, items: Sequence[PageObservation]
    ) -> tuple[list[PageObservation], list[PageObservation]]:
        """Part what can be written as it is told from what is compared with other visits."""
        with_bytes = {page for page, _, arrival in items if not is_report_only(arrival)}
        pages = list({page for page, _, _ in items} - with_bytes - self._bare)
        self._bare.update(set(pages) - self._catalog.last_looks(pages).keys() if pages else ())
        self._bare -= with_bytes
        told = [item for item in items if item[0] in self._bare]
        return told, [item for item in items if item[0] not in self._bare]

    def _find_pages(self, arrivals: Sequence[Observation]) -> None:
        """Know the page of every arrival, added where it is new; 0 where its URL is no page's."""
        if len(self._pages) > MAX_CACHED_PAGES:
            self._pages.clear()
            self._bare.clear()
        names = {(arrival.url, arrival.source) for arrival in arrivals} - self._pages.keys()
        keys = {(url, source): PageKey(canonical_url(url) or "", source) for url, source in names}
        usable = [name for name in names if keys[name].url]
        new = [_new_page(keys[name]) for name in usable]
        ids = dict(zip(usable, self._catalog.add_pages(new, self._clock.now()), strict=True))
        self._pages |= {name: (ids.get(name, 0), keys[name].url) for name in names}

    def _drafts(
        self, items: Sequence[PageObservation], states: Mapping[int, PageState]
    ) -> list[VisitDraft]:
        """Put the bytes of arrivals on the shelf, and see what they show."""
        self._shelf.prefetch_payloads(items)
        payloads: dict[bytes, Snapshot] = {}
        drafts = []
        for page, url, arrival in items:
            stored = self._shelf.append(arrival, page, url)
            snapshot = arrival.snapshot or self._repeated(arrival, url, payloads)
            if snapshot is not None:
                stored = with_payload(stored, snapshot)
                payloads[stored.digest or b""] = snapshot
            gauge = states[page].criteria
            sight = self._sight(arrival, url, snapshot, dom=gauge.reads_dom)
            content = _content(sight, gauge)
            seen = VisitContent(arrival.uid, arrival.time, sight.outcome, content)
            drafts.append(VisitDraft(arrival, page, url, seen, stored, snapshot, sight.reason))
        return drafts

    def _repeated(
        self, arrival: Observation, url: str, payloads: Mapping[bytes, Snapshot]
    ) -> Snapshot | None:
        """Return the bytes that a revisit stands for, from this batch or from the archive."""
        digest = parse_sha1(arrival.original_digest) if arrival.original_digest else None
        if digest is None or arrival.outcome is Outcome.NOT_MODIFIED:
            return None
        if digest in payloads:
            return payloads[digest]
        kept = self._catalog.first_visit_with_payload(digest)
        return self._snapshots.read(kept, url) if kept else None

    def _sight(
        self, arrival: Observation, url: str, snapshot: Snapshot | None, *, dom: bool
    ) -> ParsedVisit:
        if snapshot is None:
            bare = Outcome.REPORTED if arrival.outcome is Outcome.OK else arrival.outcome
            return ParsedVisit(bare or Outcome.REPORTED, arrival.why, None)
        status = arrival.status or snapshot.status
        based = replace(snapshot, url=arrival.final_url or url, status=status)
        sight = parse_visit(based, self._settings.limits, dom=dom)
        if arrival.outcome is None:
            return sight
        return replace(sight, outcome=arrival.outcome, reason=arrival.why)

    def _write(
        self, drafts: Sequence[VisitDraft], told: Sequence[VisitEntry], states: dict[int, PageState]
    ) -> tuple[RecordedVisit, ...]:
        """Measure drafts and write their rows; late ones are put between their neighbours.

        Return what was written. What failed before and is tried again begins anew.
        """
        self._links = KnownLinks(self._catalog.links_ever_seen)
        entries: list[VisitEntry] = []
        late: dict[int, list[VisitDraft]] = {}
        for draft in drafts:
            before = states[draft.page]
            if (
                before.last_visit_time is not None
                and draft.observation.time < before.last_visit_time
            ):
                late.setdefault(draft.page, []).append(draft)
                entries.append(self._late_entry(draft))
                continue
            entries.append(self._entry(draft, before))
            states[draft.page] = next_state(before, draft.content)
        self._memory.discard([*states, *(entry.visit.page for entry in told)])
        entries = [*told, *entries]
        with note_remeasuring(self._catalog, [_key(of_page[0]) for of_page in late.values()]):
            self._catalog.append_visits(entries, all_new=True)
            for page, of_page in late.items():
                with isolate_faults("measuring its late visits", of_page[0].url):
                    self._settle(page, of_page, states.pop(page))
        self._memory.put_states(states)
        anew = self._remeasured(late)
        return tuple((entry.visit, anew.get(entry.visit.uid, entry.change)) for entry in entries)

    def _remeasured(self, late: Mapping[int, Sequence[VisitDraft]]) -> dict[bytes, Change | None]:
        """Return what was found by the visits from the first late one on, by their uids."""
        return {
            row.visit.uid: row.change
            for page, drafts in late.items()
            for row in self._catalog.history(page, since=drafts[0].observation.time)
        }

    def _weigh(self, items: Sequence[PageObservation]) -> None:
        """Keep the importance that an outside history gives to pages."""
        weights = {
            page: {"importance": arrival.importance}
            for page, _, arrival in items
            if page and arrival.importance is not None
        }
        if weights:
            self._catalog.update_page_settings(weights)

    def _entry(self, draft: VisitDraft, before: PageState) -> VisitEntry:
        seen, told = draft.content, draft.observation.change
        change = told or self._counted(draft.page, measure_change(before, seen))
        links = self._delta(draft, before, change)
        self._links.add(draft.page, links)
        return VisitEntry(
            visit=visit_from_draft(draft),
            change=change,
            since=before.last_look_uid if change is not None and told is None else None,
            view=ViewSummary.from_view(seen.masked_view.view) if seen.masked_view else None,
            links=links,
            etag=_validator(draft, "etag"),
            last_modified=_validator(draft, "last-modified"),
        )

    def _delta(
        self, draft: VisitDraft, before: PageState, change: Change | None
    ) -> LinkDelta | None:
        """Return which links came and went; by the catalog where the last look's bytes are lost."""
        content = draft.content.masked_view
        if content is None or before.masked_view is not None or before.last_look_uid is None:
            return measure_links(before, draft.content, change)
        old, new = self._catalog.links_at(draft.page), set(content.view.links.urls)
        return LinkDelta(tuple(new - old), tuple(old - new))

    def _counted(self, page: int, change: Change | None) -> Change | None:
        if change is None:
            return None
        return replace(change, never_seen=self._links.count_new(page, change.new_links))

    def _late_entry(self, draft: VisitDraft) -> VisitEntry:
        """Return the row of a late visit; what it is compared with is found once it is written."""
        return replace(self._entry(draft, PageState()), links=None)

    def clear_cache(self) -> None:
        """Forget what is remembered of pages, because others may have changed how they count."""
        self._memory.clear()

    def discard_states(self, pages: Iterable[int]) -> None:
        """Forget what is remembered of some pages, because they are measured otherwise now."""
        self._memory.discard(pages)

    def finish_remeasuring(self) -> None:
        """Measure the whole histories of pages that a crash left with late visits not measured."""
        keys = unmeasured_pages(self._catalog)
        with note_remeasuring(self._catalog, keys):
            self._measure_all(keys)

    def _measure_all(self, keys: Sequence[PageKey]) -> None:
        for key in keys:
            with isolate_faults("measuring it anew", key.url):
                page = self._catalog.page(key).id
                state = self._memory.get_states({page: key.url})[page]
                remeasure_history(
                    self._catalog, page, self._remeasurement(key.url, state.criteria, None)
                )
                self._memory.discard([page])

    def _settle(self, page: int, late: Sequence[VisitDraft], state: PageState) -> None:
        """Measure late visits and whatever comes after them in their page's history."""
        known = {
            draft.observation.uid: draft.content.masked_view.view
            if draft.content.masked_view
            else None
            for draft in late
        }
        remeasure_history(
            self._catalog, page, self._remeasurement(late[0].url, state.criteria, known)
        )

    def _remeasurement(
        self, url: str, gauge: ChangeCriteria, late: Mapping[bytes, View | None] | None
    ) -> HistoryRemeasurement:
        dom = gauge.reads_dom
        views = HistoryViews(lambda row: self._memory.read_view(row, url, dom=dom), late or {})
        return HistoryRemeasurement(gauge, views, self._catalog.link_delta, late)


def _content(sight: ParsedVisit, gauge: ChangeCriteria) -> MaskedView | None:
    """Return what a visit showed under its page's mask, where it showed the content."""
    if sight.outcome is not Outcome.OK or sight.view is None:
        return None
    return gauge.mask_view(sight.view)


def _validator(draft: VisitDraft, name: str) -> str | None:
    """Return an answer's ETag or Last-Modified; that of a 304 stands in its head alone."""
    if draft.snapshot is not None:
        return draft.snapshot.header(name) or None
    http = draft.observation.exchange
    if http is None or draft.observation.outcome is not Outcome.NOT_MODIFIED:
        return None
    lines = (line.partition(":") for line in http.response_head.decode("latin-1").splitlines())
    values = (value.strip() for key, _, value in lines if key.lower() == name)
    return next(values, None) or None


def _new_page(key: PageKey) -> NewPage:
    where = page_address(key.url)
    return NewPage(key, where.host, where.site, where.directory)


def _differs(arrival: Observation, first: Observation) -> bool:
    return (arrival.url, arrival.time) != (first.url, first.time)


def _key(draft: VisitDraft) -> PageKey:
    return PageKey(draft.url, draft.observation.source)
