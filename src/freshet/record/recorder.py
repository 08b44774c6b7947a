"""Turns observations into visits: stored, parsed, compared, and acknowledged in one transaction.

The order of writes makes a crash harmless: whole records are appended and synced first, then one
transaction of the catalog acknowledges them. A record without a row is adopted when the collection
is next opened.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from freshet.archive.catalog.rows import LinkDelta, ThreadLook, ViewSummary, VisitEntry
from freshet.archive.observation import Observation
from freshet.archive.warc.digest import parse_sha1, sha1
from freshet.core.errors import OwnMeasureError
from freshet.core.types import Change, Outcome, PageKey, Snapshot, View, Visit
from freshet.record.change_criteria import ChangeCriteria
from freshet.record.collection_reader import CollectionReader, new_page
from freshet.record.fault_isolation import SYSTEM_ERRORS, describe_fault, isolate_faults
from freshet.record.page_state import KnownLinks, PageState, measure_change, measure_links
from freshet.record.page_state_cache import PageStateCache
from freshet.record.parsed_visit import ParsedVisit, parse_visit, read_posts
from freshet.record.record_store import (
    PageObservation,
    RecordStore,
    StoredBytes,
    with_last_redirect,
)
from freshet.record.remeasurement import (
    HistoryRemeasurement,
    HistoryViews,
    note_remeasuring,
    remeasure_history,
    unmeasured_pages,
)
from freshet.record.visit_draft import VisitDraft, is_report_only, reported_entry
from freshet.view.posts.page_links import ThreadPageLinks
from freshet.view.url import canonical_url

MAX_CACHED_PAGES = 20_000

log = logging.getLogger(__name__)


class RecordedVisit(NamedTuple):
    """A visit that was written, with the change that it found."""

    visit: Visit
    change: Change | None


@dataclass(frozen=True, slots=True)
class RecordedBatch:
    """The result of recording a batch of observations.

    ``recorded_visits`` are the visits that were written, each page's in time order. ``known_count``
    counts the observations that the collection already had. ``unusable`` are observations whose URL
    cannot be a page, ``duplicates`` those that differ from an earlier one with the same uid.
    """

    recorded_visits: tuple[RecordedVisit, ...]
    known_count: int
    unusable: tuple[Observation, ...] = ()
    duplicates: tuple[Observation, ...] = ()

    @property
    def visit_count(self) -> int:
        """Return how many visits were written."""
        return len(self.recorded_visits)


class Recorder:
    """Records observations in a collection whose archive this process may append to."""

    def __init__(self, reader: CollectionReader, record_store: RecordStore) -> None:
        self._reader = reader
        self._catalog = reader.catalog
        self._record_store = record_store
        self._states = PageStateCache(reader)
        # The id (0: cannot be a page) and canonical URL of pages, by URL and source as observed.
        self._pages: dict[tuple[str, str], tuple[int, str]] = {}
        self._pages_without_bytes: set[int] = set()
        # Visits that were written, but not returned yet because of a later error.
        self._unreported: list[RecordedVisit] = []

    def record(self, observations: Sequence[Observation]) -> RecordedBatch:
        """Record a batch of observations; skip those that the collection already has."""
        stored_uids = self._catalog.stored_uids([observation.uid for observation in observations])
        first_by_uid: dict[bytes, Observation] = {}
        for observation in observations:
            first_by_uid.setdefault(observation.uid, observation)
        new = [first for uid, first in first_by_uid.items() if uid not in stored_uids]
        new.sort(key=lambda observation: (observation.source, observation.time))
        unusable = self._record_new(new)
        recorded_visits, self._unreported = tuple(self._unreported), []
        duplicates = tuple(
            observation
            for observation in observations
            if _differs(observation, first_by_uid[observation.uid])
        )
        known_count = len(observations) - len(new) - len(duplicates)
        return RecordedBatch(recorded_visits, known_count, unusable, duplicates)

    def clear_cache(self) -> None:
        """Forget all page states, because masks or settings may have changed."""
        self._states.clear()

    def discard_states(self, page_ids: Iterable[int]) -> None:
        """Forget the states of some pages, because their masks have changed."""
        self._states.discard(page_ids)

    def finish_remeasuring(self) -> None:
        """Compare the histories again that a crash left with late visits not compared."""
        keys = unmeasured_pages(self._catalog)
        with note_remeasuring(self._catalog, keys):
            for key in keys:
                with isolate_faults("comparing its history again", key.url):
                    page_id = self._catalog.page(key).id
                    criteria = self._states.get_states({page_id: key.url})[page_id].criteria
                    self._remeasure(page_id, key.url, criteria, None)
                    self._states.discard([page_id])

    def _record_new(self, observations: Sequence[Observation]) -> tuple[Observation, ...]:
        """Record observations; return those whose URL cannot be a page.

        After an error the batch is halved until the observation that raises it is alone.
        """
        try:
            return self._record_together(observations)
        except SYSTEM_ERRORS:
            raise
        except Exception as error:
            if len(observations) == 1:
                if isinstance(error, OwnMeasureError):
                    log.warning("%s: %s", observations[0].url, error)
                else:
                    log.exception("%s: recording failed, a fault of Freshet", observations[0].url)
                return self._record_unreadable(observations[0], error)
        middle = len(observations) // 2
        return (*self._record_new(observations[:middle]), *self._record_new(observations[middle:]))

    def _record_together(self, observations: Sequence[Observation]) -> tuple[Observation, ...]:
        """Record observations in one transaction; return those whose URL cannot be a page."""
        observations = [with_last_redirect(observation) for observation in observations]
        # 1. Find the pages; new ones are added.
        self._find_pages(observations)
        unusable, items = [], []
        for observation in observations:
            item = self._page_observation(observation)
            if item.page_id:
                items.append(item)
            else:
                unusable.append(observation)
        # 2. Append the bytes to the archive, and parse them.
        reported, observed = self._split_reported(items)
        states = self._states.get_states({item.page_id: item.url for item in observed})
        drafts = self._store_and_parse(observed, states)
        # 3. Make the records durable: after a crash from here on, the next start adopts them.
        self._record_store.sync()
        self._save_importance(items)
        # 4. Compare the visits with those before them, and write all rows in one transaction.
        entries = [reported_entry(item.page_id, item.observation) for item in reported]
        self._unreported += self._write(drafts, entries, states)
        # 5. The visits are acknowledged.
        self._record_store.acknowledge(observation.uid for observation in observations)
        return tuple(unusable)

    def _record_unreadable(
        self, observation: Observation, error: Exception
    ) -> tuple[Observation, ...]:
        """Record the bytes of an observation that cannot be parsed or compared, as a failure."""
        with isolate_faults("recording it without its content", observation.url):
            self._find_pages([observation])
            item = self._page_observation(observation)
            if not item.page_id:
                return (observation,)
            stored = StoredBytes()
            with isolate_faults("storing its bytes", item.url):
                answered = item._replace(observation=with_last_redirect(observation))
                stored = self._record_store.append(answered)
                self._record_store.sync()
            reason = describe_fault(error, "while it was read")
            outcome, snapshot = Outcome.UNREADABLE, observation.snapshot
            visit = VisitDraft(*item, outcome, reason, stored, snapshot).visit()
            self._states.discard([item.page_id])
            self._catalog.append_visits([VisitEntry(visit)], all_new=True)
            self._unreported.append(RecordedVisit(visit, None))
            self._record_store.acknowledge([observation.uid])
            return ()
        return (observation,)

    def _find_pages(self, observations: Sequence[Observation]) -> None:
        """Look up the page of every observation, and add new pages."""
        if len(self._pages) > MAX_CACHED_PAGES:
            self._pages.clear()
            self._pages_without_bytes.clear()
        names = {(observation.url, observation.source) for observation in observations}
        names -= self._pages.keys()
        keys = {(url, source): PageKey(canonical_url(url) or "", source) for url, source in names}
        usable = [name for name in names if keys[name].url]
        new_pages = [new_page(keys[name]) for name in usable]
        page_ids = self._catalog.add_pages(new_pages, self._reader.clock.now()).ids
        id_by_name = dict(zip(usable, page_ids, strict=True))
        self._pages |= {name: (id_by_name.get(name, 0), keys[name].url) for name in names}

    def _page_observation(self, observation: Observation) -> PageObservation:
        page_id, url = self._pages[observation.url, observation.source]
        return PageObservation(page_id, url, observation)

    def _split_reported(
        self, items: Sequence[PageObservation]
    ) -> tuple[list[PageObservation], list[PageObservation]]:
        """Split off the observations of pages of which only reports are known.

        They are written as reported; there is nothing to compare them with.
        """
        with_bytes = {item.page_id for item in items if not is_report_only(item.observation)}
        without_bytes = self._pages_without_bytes
        unchecked = list({item.page_id for item in items} - with_bytes - without_bytes)
        if unchecked:
            without_bytes.update(set(unchecked) - self._catalog.last_looks(unchecked).keys())
        without_bytes -= with_bytes
        reported = [item for item in items if item.page_id in without_bytes]
        return reported, [item for item in items if item.page_id not in without_bytes]

    def _store_and_parse(
        self, items: Sequence[PageObservation], states: Mapping[int, PageState]
    ) -> list[VisitDraft]:
        """Append the bytes of observations to the archive, and parse them."""
        self._record_store.prefetch_payloads(items)
        payloads: dict[bytes, Snapshot] = {}
        drafts = []
        for item in items:
            stored = self._record_store.append(item)
            snapshot = item.observation.snapshot or self._original_snapshot(item, payloads)
            if snapshot is not None:
                if stored.digest is None:
                    body = snapshot.body
                    stored = replace(stored, digest=sha1(body), size=len(body))
                payloads[stored.digest or b""] = snapshot
            criteria = states[item.page_id].criteria
            parsed = self._parse(item, snapshot, dom=criteria.reads_dom)
            masked_view = None
            if parsed.outcome is Outcome.OK and parsed.view is not None:
                masked_view = criteria.mask_view(parsed.view)
            outcome, reason = parsed.outcome, parsed.reason
            thread = None
            if masked_view is not None and snapshot is not None and criteria.reads_posts:
                thread = self._thread_look(item, snapshot)
            drafts.append(VisitDraft(*item, outcome, reason, stored, snapshot, masked_view, thread))
        return drafts

    def _original_snapshot(
        self, item: PageObservation, payloads: Mapping[bytes, Snapshot]
    ) -> Snapshot | None:
        """Return the bytes that a revisit refers to, from this batch or from the archive."""
        observation = item.observation
        digest = parse_sha1(observation.original_digest) if observation.original_digest else None
        if digest is None or observation.outcome is Outcome.NOT_MODIFIED:
            return None
        if digest in payloads:
            return payloads[digest]
        original = self._catalog.first_visit_with_payload(digest)
        return self._reader.snapshots.read(original, item.url) if original else None

    def _parse(self, item: PageObservation, snapshot: Snapshot | None, *, dom: bool) -> ParsedVisit:
        """Parse the bytes of an observation; an outcome that the observation has is kept."""
        observation = item.observation
        if snapshot is None:
            outcome = observation.outcome
            if outcome is None or outcome is Outcome.OK:
                outcome = Outcome.REPORTED
            return ParsedVisit(outcome, observation.why, None)
        status = observation.status or snapshot.status
        final = replace(snapshot, url=observation.final_url or item.url, status=status)
        parsed = parse_visit(final, self._reader.settings.limits, dom=dom)
        if observation.outcome is None:
            return parsed
        return replace(parsed, outcome=observation.outcome, reason=observation.why)

    def _thread_look(self, item: PageObservation, snapshot: Snapshot) -> ThreadLook | None:
        """Return what a snapshot shows of a thread; None if that cannot be read."""
        limits = self._reader.settings.limits
        final = replace(snapshot, url=item.observation.final_url or item.url)
        with isolate_faults("looking for posts", item.url):
            found = read_posts(final, item.observation.time, limits)
            links = found.links if found.is_thread else ThreadPageLinks()
            # New posts are on the last page.
            next_page = links.next_page and (links.last_page or links.next_page)
            return ThreadLook(found.posts, found.reason, next_page)
        return None

    def _save_importance(self, items: Sequence[PageObservation]) -> None:
        """Save the importance that an imported history gives to pages."""
        tables = {
            item.page_id: {"importance": item.observation.importance}
            for item in items
            if item.observation.importance is not None
        }
        if tables:
            self._catalog.update_page_settings(tables)

    def _write(
        self,
        drafts: Sequence[VisitDraft],
        reported: Sequence[VisitEntry],
        states: dict[int, PageState],
    ) -> list[RecordedVisit]:
        """Compare drafts with the states of their pages, write the rows, and return the visits.

        A late visit, one before the last visit of its page, is written first; then it and the
        visits after it are compared again.
        """
        known_links = KnownLinks(self._catalog.links_ever_seen)
        entries = list(reported)
        late_drafts: dict[int, list[VisitDraft]] = {}
        for draft in drafts:
            state = states[draft.page_id]
            last_time = state.last_visit_time
            if last_time is not None and draft.observation.time < last_time:
                late_drafts.setdefault(draft.page_id, []).append(draft)
                entries.append(replace(self._entry(draft, PageState(), known_links), links=None))
            else:
                entries.append(self._entry(draft, state, known_links))
                states[draft.page_id] = draft.next_state(state)
        self._states.discard([*states, *(entry.visit.page for entry in reported)])
        late_pages = [page_drafts[0].page_key for page_drafts in late_drafts.values()]
        with note_remeasuring(self._catalog, late_pages):
            self._catalog.append_visits(entries, all_new=True)
            for page_id, page_drafts in late_drafts.items():
                url, criteria = page_drafts[0].url, states.pop(page_id).criteria
                with isolate_faults("comparing its late visits", url):
                    self._remeasure(page_id, url, criteria, page_drafts)
        self._states.put_states(states)
        new_changes = self._changes_since_first(late_drafts)
        return [
            RecordedVisit(entry.visit, new_changes.get(entry.visit.uid, entry.change))
            for entry in entries
        ]

    def _entry(self, draft: VisitDraft, before: PageState, known_links: KnownLinks) -> VisitEntry:
        """Return the row of a visit: its change, links and validators."""
        change, since = draft.observation.change, None
        if change is None:
            change = measure_change(before, draft.outcome, draft.masked_view)
            if change is not None:
                new_links = known_links.count_new(draft.page_id, change.new_links)
                change, since = replace(change, never_seen=new_links), before.last_look_uid
        links = self._link_delta(draft, before, change)
        known_links.add(draft.page_id, links)
        return VisitEntry(
            visit=draft.visit(),
            change=change,
            since=since,
            view=ViewSummary.from_view(draft.masked_view.view) if draft.masked_view else None,
            links=links,
            etag=draft.validator("etag"),
            last_modified=draft.validator("last-modified"),
            thread=draft.thread,
        )

    def _link_delta(
        self, draft: VisitDraft, before: PageState, change: Change | None
    ) -> LinkDelta | None:
        """Return the links added and removed; where the last look's bytes are lost, by its rows."""
        view_is_lost = before.last_look_uid is not None and before.masked_view is None
        if draft.masked_view is None or not view_is_lost:
            return measure_links(before, draft.masked_view, change)
        old, new = self._catalog.links_at(draft.page_id), set(draft.masked_view.view.links.urls)
        return LinkDelta(tuple(new - old), tuple(old - new))

    def _remeasure(
        self, page_id: int, url: str, criteria: ChangeCriteria, late: Sequence[VisitDraft] | None
    ) -> None:
        """Compare a page's late visits and those after them again; all visits if None are given."""
        late_views: dict[bytes, View | None] = {
            draft.observation.uid: draft.masked_view.view if draft.masked_view else None
            for draft in late or ()
        }
        dom = criteria.reads_dom
        views = HistoryViews(lambda row: self._states.read_view(row, url, dom=dom), late_views)
        late_uids = None if late is None else late_views.keys()
        remeasurement = HistoryRemeasurement(criteria, views, self._catalog.link_delta, late_uids)
        remeasure_history(self._catalog, page_id, remeasurement)

    def _changes_since_first(
        self, late_drafts: Mapping[int, Sequence[VisitDraft]]
    ) -> dict[bytes, Change | None]:
        """Return the changes of the visits from each page's first late visit on, by uid."""
        return {
            row.visit.uid: row.change
            for page_id, drafts in late_drafts.items()
            for row in self._catalog.history(page_id, since=drafts[0].observation.time)
        }


def _differs(observation: Observation, first: Observation) -> bool:
    return (observation.url, observation.time) != (first.url, first.time)
