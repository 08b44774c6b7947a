"""Bursts in a crawl: draws the due samples within their share of the budget, and tracks them.

A burst is a series of looks at one page, minutes apart (fast) or at once (instant).
"""

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
from freshet.schedule.bursts.burst_queue import BurstQueue, BurstUpdate
from freshet.schedule.bursts.burst_rules import (
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
    """The time span for which samples are drawn, and the day's budget.

    ``spending_since`` is when the crawl started to spend the budget, None for the day's start.
    """

    now: datetime
    until: datetime
    budget: int
    spending_since: datetime | None = None

    @property
    def elapsed_share(self) -> float:
        """Return the share of a day that has passed since the spending started."""
        start = self.spending_since or next_midnight(self.now) - timedelta(days=1)
        return max(0.0, (self.now - start).total_seconds() / DAY_SECONDS)


class BurstSampler:
    """Plans the samples of a crawl within their share of the budget, and saves their progress."""

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self._catalog = catalog
        self._settings = settings
        self._queue = BurstQueue(settings.rounds.fast)
        self._saved_progress: Mapping[int, BurstProgress] = catalog.burst_progress()
        self._pages_with_rows: set[int] = set(self._saved_progress)
        self._last_visit_times: dict[int, float] = {}
        self._day = ""
        self._spent = 0
        self._spent_at_start: tuple[datetime | None, int] = (None, 0)

    @property
    def is_enabled(self) -> bool:
        """Whether the settings allow bursts."""
        return self._settings.rounds.share > 0 and self._settings.rounds.fast > 0

    def read_histories(self, visits: VisitTable) -> None:
        """Learn from whole histories which pages change at every visit."""
        if self.is_enabled:
            self._queue.count_change_runs(visits, self._saved_progress)

    def resume(self, now: datetime) -> dict[int, int]:
        """Continue the bursts of the last crawl; return its unfinished requests by page."""
        cancelled_requests = self._catalog.cancel_all_samples()
        self._saved_progress = self._catalog.burst_progress()
        advanced: dict[int, BurstProgress] = {}
        for row in self._catalog.unprocessed_samples():
            progress = self._saved_progress.get(row.visit.page)
            with isolate_faults("continuing its burst", f"page {row.visit.page}"):
                if progress is not None:
                    burst_visit = self._restore_burst_visit(row)
                    advanced[row.visit.page] = progress_after_sample(
                        progress, burst_visit, self._queue.max_bursts
                    )
        if advanced:
            self._catalog.set_burst_progress(advanced)
        if self.is_enabled:
            self._queue.restore({**self._saved_progress, **advanced}, to_epoch(now))
        return cancelled_requests

    def due_samples(
        self, window: SamplingWindow, room: int, is_available: Callable[[int], bool]
    ) -> list[PendingSample]:  # fmt: skip
        """Return the samples that are due in a window, with at most ``room`` requests."""
        share = int(self._settings.rounds.share * window.budget)
        remaining = min(room, share - self._spent_on(utc_day(window.now)))
        if remaining <= 0 or not self.is_enabled:
            return []
        spent_since_start = self._spent - self._spent_before(window)
        start_room = room_for_samples(
            share, spent_since_start, self._queue.reserved_samples, window.elapsed_share
        )
        now, until = to_epoch(window.now), to_epoch(window.until)

        def is_free(page: int) -> bool:
            return is_available(page) and self._earliest_visit(page, now) <= until

        samples: list[PendingSample] = []
        for page, progress in self._queue.due_samples(now, until, start_room, is_free):
            sample = None
            with isolate_faults("preparing its next sample", f"page {page}"):
                sample = self._next_sample(page, progress)
            if sample is None:
                self._queue.forget_page(page)
            elif sample.request_count <= remaining:
                samples.append(sample)
                remaining -= sample.request_count
        return samples

    def start_time(self, sample: PendingSample, now: datetime) -> datetime:
        """Return when a sample is to be taken: when it is due and the page interval has passed."""
        start = max(sample.progress.due, self._earliest_visit(sample.page, to_epoch(now)))
        return max(now, from_epoch(start))

    def next_due(self, window: SamplingWindow) -> datetime | None:
        """Return when the next sample is due; None if there is none or the share is spent."""
        share = int(self._settings.rounds.share * window.budget)
        if not self.is_enabled or self._spent_on(utc_day(window.now)) >= share:
            return None
        due = self._queue.next_due_time(to_epoch(window.until))
        return None if due is None else from_epoch(due)

    def lease_samples(
        self, samples_to_lease: Sequence[PendingSample], lease: Lease, day: str
    ) -> list[PendingSample]:
        """Lease and book samples; return those that were leased."""
        leased_pages = set(self._catalog.start_samples(lease, samples_to_lease, day=day))
        leased = [sample for sample in samples_to_lease if sample.page in leased_pages]
        for sample in leased:
            self._queue.mark_sent(sample.page, sample.progress, sample.request_count)
            self._spent += sample.request_count
        self._pages_with_rows |= leased_pages
        return leased

    def return_samples(self, lease_holder: str, pages: Sequence[int], day: str) -> None:
        """Return samples that were not taken; ``pages`` has one entry for each request."""
        if not pages:
            return
        self._catalog.cancel_samples(lease_holder, pages, day=day)
        self._day = ""
        for page in pages:
            self._queue.mark_returned(page)

    def unspend(self, requests: int) -> None:
        """Subtract requests of this day that were not sent."""
        self._spent -= requests

    def is_in_flight(self, page: int) -> bool:
        """Whether a sample of a page is in flight."""
        return self._queue.is_sent(page)

    def keep_progress(
        self, visits: VisitsWithChanges, remasked_pages: Set[int] = frozenset()
    ) -> BurstUpdate:
        """Save the burst progress that visits cause, and return it for ``apply_progress``.

        ``remasked_pages`` are pages whose masks were learned from these visits.
        """
        if not self.is_enabled:
            return BurstUpdate()
        update = self._update_by_page(
            list(self._burst_visits(visits)), self._calmed_pages(remasked_pages)
        )
        progress_to_save = {
            page: progress
            for page, progress in update.progress_by_page.items()
            if page in update.sample_counts or page in self._pages_with_rows
        }
        if progress_to_save:
            self._catalog.set_burst_progress(progress_to_save)
        return update

    def _update_by_page(
        self, burst_visits: Sequence[tuple[int, BurstVisit]], calmed_pages: Set[int]
    ) -> BurstUpdate:  # fmt: skip
        """Return the update that visits cause; a fault ends only its own page's sample."""
        update = BurstUpdate()
        for page, group in groupby(burst_visits, key=lambda item: item[0]):
            page_visits = list(group)
            sample_counts = {page: len(page_visits)} if self.is_in_flight(page) else {}
            page_update = BurstUpdate(sample_counts=sample_counts)
            with isolate_faults("continuing its burst", f"page {page}"):
                page_update = self._queue.update_from_visits(page_visits, calmed_pages)
            update.progress_by_page.update(page_update.progress_by_page)
            update.change_runs.update(page_update.change_runs)
            update.sample_counts.update(page_update.sample_counts)
            update.server_denials.update(page_update.server_denials)
        return update

    def apply_progress(self, update: BurstUpdate, visits: VisitsWithChanges, now: datetime) -> None:
        """Apply saved progress to the queue in memory."""
        self._queue.apply(update, to_epoch(now))
        for visit, _ in visits:
            if visit.page in self._queue.progress_by_page:
                last_time = self._last_visit_times.get(visit.page, 0.0)
                self._last_visit_times[visit.page] = max(last_time, to_epoch(visit.time))

    def _burst_visits(self, visits: VisitsWithChanges) -> Iterator[tuple[int, BurstVisit]]:
        """Yield visits by page and time, with the time since the page's previous visit.

        Previous visits are known of pages which have or may have bursts.
        """
        last_times: dict[int, float] = {}
        denied_pages = self._denied_pages(visits)
        for visit, change in sorted(visits, key=lambda item: (item[0].page, item[0].time)):
            previous_time = last_times.get(visit.page, self._last_visit_times.get(visit.page, -inf))
            last_times[visit.page] = to_epoch(visit.time)
            burst_visit = _burst_visit(visit, change, previous_time)
            is_denied = burst_visit.changed and visit.page in denied_pages
            yield visit.page, replace(burst_visit, is_denied_by_server=is_denied)

    def _denied_pages(self, visits: VisitsWithChanges) -> frozenset[int]:
        """Return changed pages whose servers sent the validators of the previous look."""
        times = {
            visit.page: visit.time
            for visit, change in visits
            if visit.outcome is Outcome.OK and change is not None and change.changed
        }
        validators = self._catalog.cache_validators([
            page for page in times if not self.is_in_flight(page)
        ])
        previous_times = {page: times[page] - JUST_BEFORE for page in validators}
        previous = self._catalog.last_looks(list(validators), previous_times)
        return frozenset(
            page for page in previous if _has_same_validators(previous[page], validators[page])
        )

    def _calmed_pages(self, remasked_pages: Set[int]) -> frozenset[int]:
        """Return the pages that do not change at every look under their new masks."""
        return frozenset(page for page in remasked_pages if not self._changes_at_every_look(page))

    def _changes_at_every_look(self, page: int) -> bool:
        """Whether each of a page's last looks outside bursts showed a change."""
        samples = {sample.visit for sample in self._catalog.burst_samples(page)}
        rows = (row for row in reversed(self._catalog.history(page)) if row.visit.id not in samples)
        changes = (row.change for row in rows if row.visit.outcome is Outcome.OK)
        last_changes = islice((change for change in changes if change is not None), CANDIDATE_RUN)
        return all(change.changed for change in last_changes)

    def _restore_burst_visit(self, row: HistoryRow) -> BurstVisit:
        """Return a visit of a killed crawl as a burst visit."""
        page, before = row.visit.page, row.visit.time - JUST_BEFORE
        last_look = self._catalog.last_looks([page], {page: before}, with_content=False).get(page)
        previous_time = to_epoch(last_look.visit.time) if last_look else -inf
        return _burst_visit(row.visit, row.change, previous_time)

    def _spent_on(self, day: str) -> int:
        """Return the number of requests that bursts have used on a day."""
        if day != self._day:
            self._day = day
            self._spent = self._catalog.spending(day).burst_requests
        return self._spent

    def _spent_before(self, window: SamplingWindow) -> int:
        """Return the requests that bursts had used when the crawl started to spend the budget."""
        if self._spent_at_start[0] != window.spending_since:
            self._spent_at_start = (
                window.spending_since,
                self._spent if window.spending_since else 0,
            )
        return self._spent_at_start[1]

    def _earliest_visit(self, page: int, now: float) -> float:
        """Return the earliest time of a page's next visit; an instant burst need not wait.

        The clock may have been set back since the last visit.
        """
        progress = self._queue.progress_by_page[page]
        if progress.kind is BurstKind.INSTANT and progress.step:
            return 0.0
        if page not in self._last_visit_times:
            row = self._catalog.last_visits([page]).get(page)
            self._last_visit_times[page] = to_epoch(row.visit.time) if row else 0.0
        return min(self._last_visit_times[page], now) + self._settings.politeness.page_interval

    def _next_sample(self, page: int, progress: BurstProgress) -> PendingSample:
        """Return the next sample of a page, with two requests for an instant one if allowed."""
        kind = progress.kind or BurstKind.FAST
        if kind is BurstKind.FAST:
            return PendingSample(page, progress, SAMPLE_OFFSETS[kind][progress.step])
        if progress.step == 0 and self._allows_two(page):
            return PendingSample(page, progress, 0.0, request_count=INSTANT_REQUESTS)
        return PendingSample(page, progress, 0.0, apart=True)

    def _allows_two(self, page: int) -> bool:
        """Whether a page's host accepts two requests at once."""
        politeness = self._settings.politeness
        if politeness.per_host < INSTANT_REQUESTS:
            return False
        host = self._catalog.pages_by_id([page])[page].host
        state = self._catalog.host_state(host) or HostState(host)
        return delay_of(politeness, state.delay) == 0


def sample_reason(sample: PendingSample) -> str:
    """Describe the purpose of a sample.

    >>> sample_reason(PendingSample(1, BurstProgress(BurstKind.FAST, 0.0, step=1), 120.0))
    'fast burst, 2 minutes after the first'
    >>> progress = BurstProgress(BurstKind.INSTANT, 0.0)
    >>> sample_reason(PendingSample(1, progress, 0.0, request_count=2))
    'instant burst, two at once'
    """
    progress = sample.progress
    if sample.request_count > 1:
        return f"{progress.kind} burst, two at once"
    if progress.step == 0:
        return f"{progress.kind} burst, the first"
    if progress.kind is BurstKind.INSTANT:
        return f"{progress.kind} burst, a host's delay after the first"
    return f"{progress.kind} burst, {duration_text(sample.offset / DAY_SECONDS)} after the first"


def _burst_visit(visit: Visit, change: Change | None, previous_time: float) -> BurstVisit:
    changed, time = change is not None and change.changed, to_epoch(visit.time)
    is_not_modified = visit.outcome is Outcome.NOT_MODIFIED
    return BurstVisit(time, visit.outcome.is_look, changed, time - previous_time, is_not_modified)


def _has_same_validators(look: HistoryRow, validators: CacheValidators) -> bool:
    """Whether two looks have the same ETag, or without any the same Last-Modified."""
    if look.etag or validators.etag:
        return look.etag == validators.etag
    return look.last_modified == validators.last_modified
