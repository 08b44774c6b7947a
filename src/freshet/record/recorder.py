"""Arrivals become visits: archived, viewed, measured, and acknowledged in one transaction.

The order of writes is what makes a crash harmless: whole records first, made durable, then one
transaction of the catalog. A record without a row is adopted when the collection is next opened.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import Entry, LinkDelta, NewPage, ViewFacts
from freshet.archive.importers.base import Arrival
from freshet.archive.snapshots import Snapshots
from freshet.archive.warc.digest import sha1_of
from freshet.core.clock import Clock
from freshet.core.settings import Settings
from freshet.core.types import Change, Outcome, PageKey, Snapshot, View, Visit
from freshet.measure.change.compare import Masked
from freshet.record.change_criteria import Gauge
from freshet.record.fault_isolation import SYSTEM_ERRORS, fault_text, isolated
from freshet.record.page_state import (
    PageState,
    Seen,
    SeenLinks,
    change_since,
    links_since,
    state_after,
)
from freshet.record.page_state_cache import Memory
from freshet.record.parsed_visit import Sight, see
from freshet.record.record_store import Shelf, Stored
from freshet.record.redirects import with_answer
from freshet.record.remeasurement import Remeasurement, Views, left_unmeasured, noted, write_anew
from freshet.record.visit_draft import Draft, is_told, told_entry, visit_of, with_payload
from freshet.view.url import canonical, place

REMEMBERED_PAGES = 20_000

Item = tuple[int, str, Arrival]


Learnt = tuple[Visit, Change | None]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a batch: ``doubled`` are others under the identity of one before them.

    ``learnt`` are the visits that were written, each page's in time order, with what they found.
    """

    visits: int
    known: int
    unusable: tuple[Arrival, ...] = ()
    doubled: tuple[Arrival, ...] = ()
    learnt: tuple[Learnt, ...] = ()


class Recorder:
    """Records arrivals in a collection whose archive this process may append to."""

    def __init__(
        self, catalog: Catalog, snapshots: Snapshots, settings: Settings, shelf: Shelf, clock: Clock
    ) -> None:
        self._catalog = catalog
        self._snapshots = snapshots
        self._settings = settings
        self._shelf = shelf
        self._clock = clock
        self._memory = Memory(catalog, snapshots, settings)
        self._links = SeenLinks(catalog.seen_links)
        self._pages: dict[tuple[str, str], tuple[int, str]] = {}
        self._bare: set[int] = set()
        # Visits that were written, but not returned yet because an error came after them.
        self._unreported: list[Learnt] = []

    def take(self, arrivals: Sequence[Arrival]) -> Taken:
        """Record a batch; what the collection already has is left as it is."""
        known = self._catalog.known([arrival.uid for arrival in arrivals])
        first: dict[bytes, Arrival] = {}
        for arrival in arrivals:
            first.setdefault(arrival.uid, arrival)
        fresh = [arrival for uid, arrival in first.items() if uid not in known]
        fresh.sort(key=lambda arrival: (arrival.source, arrival.time))
        unusable = self._record(fresh)
        learnt, self._unreported = tuple(self._unreported), []
        doubled = tuple(arrival for arrival in arrivals if _differs(arrival, first[arrival.uid]))
        known_already = len(arrivals) - len(fresh) - len(doubled)
        return Taken(len(learnt), known_already, unusable, doubled, learnt)

    def _record(self, arrivals: Sequence[Arrival]) -> tuple[Arrival, ...]:
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

    def _record_together(self, arrivals: Sequence[Arrival]) -> tuple[Arrival, ...]:
        """Record arrivals in one transaction; return those that no page can have."""
        fresh = [with_answer(arrival) for arrival in arrivals]
        self._find_pages(fresh)
        items = [(*self._pages[arrival.url, arrival.source], arrival) for arrival in fresh]
        told, plain = self._parted([item for item in items if item[0]])
        states = self._memory.recall({page: url for page, url, _ in plain})
        drafts = self._drafts(plain, states)
        self._shelf.sync()
        self._weigh(items)
        reports = [told_entry(page, arrival) for page, _, arrival in told]
        self._unreported += self._write(drafts, reports, states)
        self._shelf.acknowledge(arrival.uid for arrival in fresh)
        return tuple(arrival for page, _, arrival in items if not page)

    def _record_unread(self, arrival: Arrival, error: Exception) -> tuple[Arrival, ...]:
        """Record an arrival that cannot be read or measured: its bytes, and that it failed."""
        with isolated("recording it without its content", arrival.url):
            self._find_pages([arrival])
            page, url = self._pages[arrival.url, arrival.source]
            if not page:
                return (arrival,)
            stored = Stored()
            with isolated("storing its bytes", url):
                stored = self._shelf.put(with_answer(arrival), page, url)
                self._shelf.sync()
            seen = Seen(arrival.uid, arrival.time, Outcome.UNREADABLE, None)
            why = fault_text(error, "while it was read")
            visit = visit_of(Draft(arrival, page, url, seen, stored, arrival.snapshot, why))
            self._memory.forget([page])
            self._catalog.append([Entry(visit)], unknown=True)
            self._unreported.append((visit, None))
            self._shelf.acknowledge([arrival.uid])
            return ()
        return (arrival,)

    def _parted(self, items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
        """Part what can be written as it is told from what is compared with other visits."""
        with_bytes = {page for page, _, arrival in items if not is_told(arrival)}
        pages = list({page for page, _, _ in items} - with_bytes - self._bare)
        self._bare.update(set(pages) - self._catalog.last_looks(pages).keys() if pages else ())
        self._bare -= with_bytes
        told = [item for item in items if item[0] in self._bare]
        return told, [item for item in items if item[0] not in self._bare]

    def _find_pages(self, arrivals: Sequence[Arrival]) -> None:
        """Know the page of every arrival, added where it is new; 0 where its URL is no page's."""
        if len(self._pages) > REMEMBERED_PAGES:
            self._pages.clear()
            self._bare.clear()
        names = {(arrival.url, arrival.source) for arrival in arrivals} - self._pages.keys()
        keys = {(url, source): PageKey(canonical(url) or "", source) for url, source in names}
        usable = [name for name in names if keys[name].url]
        new = [_new_page(keys[name]) for name in usable]
        ids = dict(zip(usable, self._catalog.add_pages(new, self._clock.now()), strict=True))
        self._pages |= {name: (ids.get(name, 0), keys[name].url) for name in names}

    def _drafts(self, items: Sequence[Item], states: Mapping[int, PageState]) -> list[Draft]:
        """Put the bytes of arrivals on the shelf, and see what they show."""
        self._shelf.expect(items)
        payloads: dict[bytes, Snapshot] = {}
        drafts = []
        for page, url, arrival in items:
            stored = self._shelf.put(arrival, page, url)
            snapshot = arrival.snapshot or self._repeated(arrival, url, payloads)
            if snapshot is not None:
                stored = with_payload(stored, snapshot)
                payloads[stored.digest or b""] = snapshot
            gauge = states[page].gauge
            sight = self._sight(arrival, url, snapshot, dom=gauge.reads_dom)
            content = _content(sight, gauge)
            seen = Seen(arrival.uid, arrival.time, sight.outcome, content)
            drafts.append(Draft(arrival, page, url, seen, stored, snapshot, sight.why))
        return drafts

    def _repeated(
        self, arrival: Arrival, url: str, payloads: Mapping[bytes, Snapshot]
    ) -> Snapshot | None:
        """Return the bytes that a revisit stands for, from this batch or from the archive."""
        digest = sha1_of(arrival.earlier) if arrival.earlier else None
        if digest is None or arrival.outcome is Outcome.NOT_MODIFIED:
            return None
        if digest in payloads:
            return payloads[digest]
        kept = self._catalog.find_payload(digest)
        return self._snapshots.of(kept, url) if kept else None

    def _sight(self, arrival: Arrival, url: str, snapshot: Snapshot | None, *, dom: bool) -> Sight:
        if snapshot is None:
            bare = Outcome.REPORTED if arrival.outcome is Outcome.OK else arrival.outcome
            return Sight(bare or Outcome.REPORTED, arrival.why, None)
        status = arrival.status or snapshot.status
        based = replace(snapshot, url=arrival.final_url or url, status=status)
        sight = see(based, self._settings.limits, dom=dom)
        if arrival.outcome is None:
            return sight
        return replace(sight, outcome=arrival.outcome, why=arrival.why)

    def _write(
        self, drafts: Sequence[Draft], told: Sequence[Entry], states: dict[int, PageState]
    ) -> tuple[Learnt, ...]:
        """Measure drafts and write their rows; late ones are put between their neighbours.

        Return what was written. What failed before and is tried again begins anew.
        """
        self._links = SeenLinks(self._catalog.seen_links)
        entries: list[Entry] = []
        late: dict[int, list[Draft]] = {}
        for draft in drafts:
            before = states[draft.page]
            if before.latest is not None and draft.arrival.time < before.latest:
                late.setdefault(draft.page, []).append(draft)
                entries.append(self._late_entry(draft))
                continue
            entries.append(self._entry(draft, before))
            states[draft.page] = state_after(before, draft.seen)
        self._memory.forget([*states, *(entry.visit.page for entry in told)])
        entries = [*told, *entries]
        with noted(self._catalog, [_key(of_page[0]) for of_page in late.values()]):
            self._catalog.append(entries, unknown=True)
            for page, of_page in late.items():
                with isolated("measuring its late visits", of_page[0].url):
                    self._settle(page, of_page, states.pop(page))
        self._memory.keep(states)
        anew = self._remeasured(late)
        return tuple((entry.visit, anew.get(entry.visit.uid, entry.change)) for entry in entries)

    def _remeasured(self, late: Mapping[int, Sequence[Draft]]) -> dict[bytes, Change | None]:
        """Return what was found by the visits from the first late one on, by their uids."""
        return {
            row.visit.uid: row.change
            for page, drafts in late.items()
            for row in self._catalog.history(page, since=drafts[0].arrival.time)
        }

    def _weigh(self, items: Sequence[Item]) -> None:
        """Keep the importance that an outside history gives to pages."""
        weights = {
            page: {"importance": arrival.importance}
            for page, _, arrival in items
            if page and arrival.importance is not None
        }
        if weights:
            self._catalog.update_page_settings(weights)

    def _entry(self, draft: Draft, before: PageState) -> Entry:
        seen, told = draft.seen, draft.arrival.change
        change = told or self._counted(draft.page, change_since(before, seen))
        links = self._delta(draft, before, change)
        self._links.note(draft.page, links)
        return Entry(
            visit=visit_of(draft),
            change=change,
            since=before.uid if change is not None and told is None else None,
            view=ViewFacts.of(seen.content.view) if seen.content else None,
            links=links,
            etag=_validator(draft, "etag"),
            last_modified=_validator(draft, "last-modified"),
        )

    def _delta(self, draft: Draft, before: PageState, change: Change | None) -> LinkDelta | None:
        """Return which links came and went; by the catalog where the last look's bytes are lost."""
        content = draft.seen.content
        if content is None or before.content is not None or before.uid is None:
            return links_since(before, draft.seen, change)
        old, new = self._catalog.links_at(draft.page), set(content.view.links.urls)
        return LinkDelta(tuple(new - old), tuple(old - new))

    def _counted(self, page: int, change: Change | None) -> Change | None:
        if change is None:
            return None
        return replace(change, never_seen=self._links.count_new(page, change.new_links))

    def _late_entry(self, draft: Draft) -> Entry:
        """Return the row of a late visit; what it is compared with is found once it is written."""
        return replace(self._entry(draft, PageState()), links=None)

    def look_again(self) -> None:
        """Forget what is remembered of pages, because others may have changed how they count."""
        self._memory.clear()

    def forget(self, pages: Iterable[int]) -> None:
        """Forget what is remembered of some pages, because they are measured otherwise now."""
        self._memory.forget(pages)

    def finish_measuring(self) -> None:
        """Measure the whole histories of pages that a crash left with late visits not measured."""
        keys = left_unmeasured(self._catalog)
        with noted(self._catalog, keys):
            self._measure_all(keys)

    def _measure_all(self, keys: Sequence[PageKey]) -> None:
        for key in keys:
            with isolated("measuring it anew", key.url):
                page = self._catalog.page(key).id
                state = self._memory.recall({page: key.url})[page]
                write_anew(self._catalog, page, self._remeasurement(key.url, state.gauge, None))
                self._memory.forget([page])

    def _settle(self, page: int, late: Sequence[Draft], state: PageState) -> None:
        """Measure late visits and whatever comes after them in their page's history."""
        known = {
            draft.arrival.uid: draft.seen.content.view if draft.seen.content else None
            for draft in late
        }
        write_anew(self._catalog, page, self._remeasurement(late[0].url, state.gauge, known))

    def _remeasurement(
        self, url: str, gauge: Gauge, late: Mapping[bytes, View | None] | None
    ) -> Remeasurement:
        dom = gauge.reads_dom
        views = Views(lambda row: self._memory.view_of(row, url, dom=dom), late or {})
        return Remeasurement(gauge, views, self._catalog.link_delta, late)


def _content(sight: Sight, gauge: Gauge) -> Masked | None:
    """Return what a visit showed under its page's mask, where it showed the content."""
    if sight.outcome is not Outcome.OK or sight.view is None:
        return None
    return gauge.under(sight.view)


def _validator(draft: Draft, name: str) -> str | None:
    """Return an answer's ETag or Last-Modified; that of a 304 stands in its head alone."""
    if draft.snapshot is not None:
        return draft.snapshot.header(name) or None
    http = draft.arrival.http
    if http is None or draft.arrival.outcome is not Outcome.NOT_MODIFIED:
        return None
    lines = (line.partition(":") for line in http.head.decode("latin-1").splitlines())
    values = (value.strip() for key, _, value in lines if key.lower() == name)
    return next(values, None) or None


def _new_page(key: PageKey) -> NewPage:
    where = place(key.url)
    return NewPage(key, where.host, where.site, where.directory)


def _differs(arrival: Arrival, first: Arrival) -> bool:
    return (arrival.url, arrival.time) != (first.url, first.time)


def _key(draft: Draft) -> PageKey:
    return PageKey(draft.url, draft.arrival.source)
