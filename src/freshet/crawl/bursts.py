"""Rounds in a crawl: the samples that are due within their share, and what becomes of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby, islice
from math import inf

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import CacheValidators, HistoryRow, HostState, Lease
from freshet.core.budget import next_midnight, utc_day
from freshet.core.bursts import BurstKind, BurstProgress, PendingSample
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.humanize import duration_text
from freshet.core.settings import Settings
from freshet.core.tables import DAY_SECONDS, VisitTable
from freshet.core.types import Change, Outcome, Visit
from freshet.crawl.hosts import delay_of
from freshet.record.fault_isolation import isolate_faults
from freshet.schedule.burst_queue import BurstQueue, BurstUpdate
from freshet.schedule.bursts import (
    CANDIDATE_RUN,
    SAMPLE_OFFSETS,
    BurstVisit,
    progress_after_sample,
    room_for_samples,
)

INSTANT_REQUESTS = 2
JUST_BEFORE = timedelta(microseconds=1)

VisitsWithChanges = Sequence[tuple[Visit, Change | None]]


@dataclass(frozen=True, slots=True)
class SamplingWindow:
    """When samples are drawn: now, up to when, and of which day's budget.

    ``spending_since`` is when the crawl began to spend that budget, None: with the day.
    """

    now: datetime
    until: datetime
    budget: int
    spending_since: datetime | None = None

    @property
    def elapsed_share(self) -> float:
        """Return how much of a day has passed since the budget is being spent, 0 to 1."""
        start = self.spending_since or next_midnight(self.now) - timedelta(days=1)
        return max(0.0, (self.now - start).total_seconds() / DAY_SECONDS)


class BurstSampler:
    """Plans the samples of a crawl, within their share of the budget, and keeps what it plans."""

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self._catalog = catalog
        self._settings = settings
        self._agenda = BurstQueue(settings.rounds.fast)
        self._courses: Mapping[int, BurstProgress] = catalog.burst_progress()
        self._rows: set[int] = set(self._courses)
        self._seen: dict[int, float] = {}
        self._day = ""
        self._spent = 0
        self._before: tuple[datetime | None, int] = (None, 0)

    @property
    def is_enabled(self) -> bool:
        """Whether there are rounds at all."""
        return self._settings.rounds.share > 0 and self._settings.rounds.fast > 0

    def read_histories(self, visits: VisitTable) -> None:
        """Learn from whole histories which pages change at every visit."""
        if self.is_enabled:
            self._agenda.count_change_runs(visits, self._courses)

    def resume(self, now: datetime) -> dict[int, int]:
        """Go on where a crawl left off; return how many requests a dead one had out, by page."""
        out = self._catalog.cancel_all_samples()
        self._courses = self._catalog.burst_progress()
        heeded: dict[int, BurstProgress] = {}
        for row in self._catalog.unprocessed_samples():
            course = self._courses.get(row.visit.page)
            with isolate_faults("going on with its round", f"page {row.visit.page}"):
                if course is not None:
                    glance = self._glance_back(row)
                    heeded[row.visit.page] = progress_after_sample(
                        course, glance, self._agenda.max_bursts
                    )
        if heeded:
            self._catalog.set_burst_progress(heeded)
        if self.is_enabled:
            self._agenda.restore({**self._courses, **heeded}, to_epoch(now))
        return out

    def due_samples(
        self, moment: SamplingWindow, room: int, is_available: Callable[[int], bool]
    ) -> list[PendingSample]:  # fmt: skip
        """Return the samples that are due by a time, at most as many requests as there is room."""
        share = int(self._settings.rounds.share * moment.budget)
        left = min(room, share - self._spent_on(utc_day(moment.now)))
        if left <= 0 or not self.is_enabled:
            return []
        since = self._spent - self._spent_before(moment)
        begin = room_for_samples(share, since, self._agenda.reserved_samples, moment.elapsed_share)
        now, until = to_epoch(moment.now), to_epoch(moment.until)

        def is_free(page: int) -> bool:
            return is_available(page) and self._left_alone_until(page, now) <= until

        found: list[PendingSample] = []
        for page, course in self._agenda.due_samples(now, until, begin, is_free):
            sampling = None
            with isolate_faults("preparing its next sample", f"page {page}"):
                sampling = self._sampling(page, course)
            if sampling is None:
                self._agenda.forget_page(page)
            elif sampling.request_count <= left:
                found.append(sampling)
                left -= sampling.request_count
        return found

    def start_time(self, sampling: PendingSample, now: datetime) -> datetime:
        """Return when a sample is to be taken: it is due, and its page was left alone enough."""
        at = max(sampling.progress.due, self._left_alone_until(sampling.page, to_epoch(now)))
        return max(now, from_epoch(at))

    def next_due(self, moment: SamplingWindow) -> datetime | None:
        """Return when the next sample is due; None where none is, or the share is spent."""
        share = int(self._settings.rounds.share * moment.budget)
        if not self.is_enabled or self._spent_on(utc_day(moment.now)) >= share:
            return None
        due = self._agenda.next_due_time(to_epoch(moment.until))
        return None if due is None else from_epoch(due)

    def lease_samples(
        self, samplings: Sequence[PendingSample], lease: Lease, day: str
    ) -> list[PendingSample]:
        """Lease and book samples; return those that were."""
        held = set(self._catalog.start_samples(lease, samplings, day=day))
        sent = [sampling for sampling in samplings if sampling.page in held]
        for sampling in sent:
            self._agenda.mark_sent(sampling.page, sampling.progress, sampling.request_count)
            self._spent += sampling.request_count
        self._rows |= held
        return sent

    def return_samples(self, worker: str, pages: Sequence[int], day: str) -> None:
        """Take back samples that were not taken, a page for each request."""
        if not pages:
            return
        self._catalog.cancel_samples(worker, pages, day=day)
        self._day = ""
        for page in pages:
            self._agenda.mark_returned(page)

    def unspend(self, requests: int) -> None:
        """Note that requests for samples of this day were not made after all."""
        self._spent -= requests

    def is_in_flight(self, page: int) -> bool:
        """Whether a sample of a page is out."""
        return self._agenda.is_sent(page)

    def keep_progress(
        self, visits: VisitsWithChanges, remasked_pages: Set[int] = frozenset()
    ) -> BurstUpdate:
        """Return what visits make of rounds, and keep it; it is taken over afterwards.

        ``remasked_pages`` are pages whose masks were learnt from these visits.
        """
        if not self.is_enabled:
            return BurstUpdate()
        learnt = self._learnt_apart(list(self._glances(visits)), self._seeming(remasked_pages))
        kept = {
            p: c
            for p, c in learnt.progress_by_page.items()
            if p in learnt.sample_counts or p in self._rows
        }
        if kept:
            self._catalog.set_burst_progress(kept)
        return learnt

    def _learnt_apart(
        self, glances: Sequence[tuple[int, BurstVisit]], seeming: Set[int]
    ) -> BurstUpdate:  # fmt: skip
        """Return what visits make of rounds, page by page; a fault ends only its page's sample."""
        found = BurstUpdate()
        for page, of_page in groupby(glances, key=lambda item: item[0]):
            seen = list(of_page)
            learnt = BurstUpdate(sample_counts={page: len(seen)} if self.is_in_flight(page) else {})
            with isolate_faults("going on with its round", f"page {page}"):
                learnt = self._agenda.update_from_visits(seen, seeming)
            found.progress_by_page.update(learnt.progress_by_page)
            found.change_runs.update(learnt.change_runs)
            found.sample_counts.update(learnt.sample_counts)
            found.server_denials.update(learnt.server_denials)
        return found

    def apply_progress(self, update: BurstUpdate, visits: VisitsWithChanges, now: datetime) -> None:
        """Go on from what was learnt."""
        self._agenda.apply(update, to_epoch(now))
        for visit, _ in visits:
            if visit.page in self._agenda.progress_by_page:
                seen = self._seen.get(visit.page, 0.0)
                self._seen[visit.page] = max(seen, to_epoch(visit.time))

    def _glances(self, visits: VisitsWithChanges) -> Iterator[tuple[int, BurstVisit]]:
        """Yield visits by page and time, with how long before each its page was last visited.

        That is remembered of pages which have rounds, or may have some.
        """
        seen: dict[int, float] = {}
        denied = self._denied(visits)
        for visit, change in sorted(visits, key=lambda item: (item[0].page, item[0].time)):
            before = seen.get(visit.page, self._seen.get(visit.page, -inf))
            seen[visit.page] = to_epoch(visit.time)
            glance = _glance(visit, change, before)
            yield (
                visit.page,
                replace(glance, is_denied_by_server=glance.changed and visit.page in denied),
            )

    def _denied(self, visits: VisitsWithChanges) -> frozenset[int]:
        """Return pages that had changed though their servers call them what they were before."""
        times = {
            visit.page: visit.time
            for visit, change in visits
            if visit.outcome is Outcome.OK and change is not None and change.changed
        }
        now = self._catalog.cache_validators([
            page for page in times if not self.is_in_flight(page)
        ])
        moments = {page: times[page] - JUST_BEFORE for page in now}
        before = self._catalog.last_looks(list(now), moments)
        return frozenset(page for page in before if _is_called_the_same(before[page], now[page]))

    def _seeming(self, masked: Set[int]) -> frozenset[int]:
        """Return those of pages with new masks that do not change at every look under them."""
        return frozenset(page for page in masked if not self._changes_at_every_look(page))

    def _changes_at_every_look(self, page: int) -> bool:
        """Whether each of a page's last looks that were no samples found a change, as measured."""
        samples = {sample.visit for sample in self._catalog.burst_samples(page)}
        past = (row for row in reversed(self._catalog.history(page)) if row.visit.id not in samples)
        whole = (row.change for row in past if row.visit.outcome is Outcome.OK)
        last = islice((change for change in whole if change is not None), CANDIDATE_RUN)
        return all(change.changed for change in last)

    def _glance_back(self, row: HistoryRow) -> BurstVisit:
        """Return what a visit of a dead crawl showed, and how long before it the page was seen."""
        page, before = row.visit.page, row.visit.time - JUST_BEFORE
        seen = self._catalog.last_looks([page], {page: before}, with_content=False).get(page)
        return _glance(row.visit, row.change, to_epoch(seen.visit.time) if seen else -inf)

    def _spent_on(self, day: str) -> int:
        """Return how many requests rounds have used on a day."""
        if day != self._day:
            self._day = day
            self._spent = self._catalog.spending(day).burst_requests
        return self._spent

    def _spent_before(self, moment: SamplingWindow) -> int:
        """Return how many requests rounds had used when the crawl began to spend the budget."""
        if self._before[0] != moment.spending_since:
            self._before = (moment.spending_since, self._spent if moment.spending_since else 0)
        return self._before[1]

    def _left_alone_until(self, page: int, now: float) -> float:
        """Return until when a page is to be left alone; not between the looks of an instant round.

        The clock may have been set back since it was seen.
        """
        course = self._agenda.progress_by_page[page]
        if course.kind is BurstKind.INSTANT and course.step:
            return 0.0
        if page not in self._seen:
            last = self._catalog.last_visits([page]).get(page)
            self._seen[page] = to_epoch(last.visit.time) if last else 0.0
        return min(self._seen[page], now) + self._settings.politeness.page_interval

    def _sampling(self, page: int, course: BurstProgress) -> PendingSample:
        """Return the sample to be taken next; two at once where the host allows them."""
        kind = course.kind or BurstKind.FAST
        if kind is BurstKind.FAST:
            return PendingSample(page, course, SAMPLE_OFFSETS[kind][course.step])
        if course.step == 0 and self._allows_two(page):
            return PendingSample(page, course, 0.0, request_count=INSTANT_REQUESTS)
        return PendingSample(page, course, 0.0, apart=True)

    def _allows_two(self, page: int) -> bool:
        """Whether a page's host may be asked twice at once."""
        politeness = self._settings.politeness
        if politeness.per_host < INSTANT_REQUESTS:
            return False
        name = self._catalog.pages_by_id([page])[page].host
        state = self._catalog.host_state(name) or HostState(name)
        return delay_of(politeness, state.delay) == 0


def sample_reason(sampling: PendingSample) -> str:
    """Say in words what a sample is for.

    >>> sample_reason(PendingSample(1, BurstProgress(BurstKind.FAST, 0.0, step=1), 120.0))
    'fast round, 2 minutes after the first'
    >>> sample_reason(PendingSample(1, BurstProgress(BurstKind.INSTANT, 0.0), 0.0, request_count=2))
    'instant round, two at once'
    """
    course = sampling.progress
    if sampling.request_count > 1:
        return f"{course.kind} round, two at once"
    if course.step == 0:
        return f"{course.kind} round, the first"
    if course.kind is BurstKind.INSTANT:
        return f"{course.kind} round, a host's delay after the first"
    return f"{course.kind} round, {duration_text(sampling.offset / DAY_SECONDS)} after the first"


def _glance(visit: Visit, change: Change | None, before: float = -inf) -> BurstVisit:
    changed, time = change is not None and change.changed, to_epoch(visit.time)
    is_hearsay = visit.outcome is Outcome.NOT_MODIFIED
    return BurstVisit(time, visit.outcome.is_look, changed, time - before, is_hearsay)


def _is_called_the_same(before: HistoryRow, now: CacheValidators) -> bool:
    """Whether a server gave two looks the same ETag, or without any the same date."""
    if before.etag or now.etag:
        return before.etag == now.etag
    return before.last_modified == now.last_modified
