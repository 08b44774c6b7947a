"""The loop between fetching and recording: observations go to the collection, jobs come back.

The loop records finished observations, draws due jobs, and waits; a finished observation wakes it.
On a full disk it draws nothing, keeps the observations and tries again until there is space.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import inf
from typing import TYPE_CHECKING, TypeVar

from freshet.archive.catalog.rows import HostState
from freshet.archive.observation import Observation
from freshet.core.clock import monotonic_seconds, to_epoch
from freshet.core.errors import FreshetError, LockedError, NoSpaceError
from freshet.crawl.fetch_job import DaySpending, FetchJob
from freshet.crawl.session import CrawlSession
from freshet.fetch.politeness.host_closing import HostClosing
from freshet.fetch.politeness.request_queue import QueueStatus
from freshet.record.recorder import RecordedVisit

if TYPE_CHECKING:
    from freshet.fetch.runtime import CrawlRuntime

# Nothing is drawn while a batch is recorded: batches grow while recording is fast, else they shrink.
MIN_BATCH, MAX_BATCH = 16, 128
FAST_BATCH_SECONDS, SLOW_BATCH_SECONDS = 0.1, 0.4
# Drawing many jobs at once is cheaper, so drawing waits until a fourth of the queue is free.
QUEUED_PER_CONNECTION, DRAW_AT_FREE_SHARE = 6, 4
# A host gets at most this part of the queue, or what its concurrent requests need.
MAX_HOST_SHARE = 16
MIN_AHEAD_SECONDS = 0.25
MAX_AHEAD_SECONDS = 5.0
MAX_WAIT_SECONDS = 0.5
SHORT_WAIT_SECONDS = 0.1
MIN_WAIT_SECONDS = 0.01
RETRY_SECONDS = 2.0
MAX_SILENT_SECONDS = 1.0

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CrawlEvent:
    """A report of a running crawl: new visits, the day's spending, the queue, closed hosts.

    ``recording_seconds`` is the time that recording the visits took. ``host_closings`` are the
    hosts that have closed since the last event. A crawl without visits reports every second.
    """

    visits: Sequence[RecordedVisit]
    spending: DaySpending
    queue: QueueStatus
    recording_seconds: float
    host_closings: Sequence[HostClosing] = ()


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """The number of visits or seconds after which a crawl ends; None means no limit.

    ``awaited_pages`` are page ids with their hosts. With them the crawl also ends when the hosts of
    all pages that are not visited yet are closed beyond the time limit.
    """

    visits: int | None = None
    seconds: float | None = None
    awaited_pages: tuple[tuple[int, str], ...] = ()


NO_LIMITS = CrawlLimits()


class RecordingLoop:
    """Hands observations to the collection's thread, and starts the jobs drawn there."""

    def __init__(self, runtime: "CrawlRuntime", limits: CrawlLimits) -> None:
        self._runtime = runtime
        self._collection_thread = runtime.collection_thread
        self._limits = limits
        self._observations: deque[Observation] = deque()
        self._wake = asyncio.Event()
        self._host_closings: list[HostClosing] = []
        self._awaited_hosts = dict(limits.awaited_pages)
        self._end_time = inf
        self._visit_count = 0
        self._unbudgeted_requests = 0
        self._batch_size = MIN_BATCH
        self._cycle_seconds = 0.0
        self._next_draw = 0.0
        self._last_report = monotonic_seconds()
        self._is_closing = False
        self._task: asyncio.Task[None] | None = None
        self.has_drawn = False
        self.is_closed = False
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Start recording and drawing."""
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._run())
        if self._limits.seconds is not None:
            clock = self._runtime.clock
            self._end_time = to_epoch(clock.now()) + self._limits.seconds * clock.speed
            loop.call_later(self._limits.seconds, self._runtime.stop, "finished")

    def add_observation(self, observation: Observation) -> None:
        """Queue an observation for recording."""
        self._observations.append(observation)
        self._wake.set()

    def add_host_closing(self, closing: HostClosing) -> None:
        """Queue the closing of a host for the next event."""
        self._host_closings.append(closing)
        self._wake.set()

    def book_unbudgeted(self, requests: int) -> None:
        """Count requests outside the budget; the next cycle saves them together."""
        self._unbudgeted_requests += requests
        self._wake.set()

    async def book_requests(self, requests: int) -> bool:
        """Book further requests for a job; return False if the day's budget has too few left."""
        return await self._write(partial(self._session.book_requests, requests))

    async def book_up_to(self, requests: int) -> int:
        """Book requests of someone's own spider; return how many the budget granted."""
        return await self._write(partial(self._session.book_up_to, requests))

    async def return_requests(self, requests: int) -> None:
        """Return bookings whose requests were not sent."""
        if requests:
            await self._write(partial(self._session.return_requests, requests))

    async def return_jobs(self, jobs: Sequence[FetchJob]) -> None:
        """Return jobs whose requests were not sent."""
        if jobs:
            await self._write(partial(self._session.return_jobs, list(jobs)))

    async def close(self, unsent_jobs: Sequence[FetchJob]) -> None:
        """Record all observations, return unsent jobs, and stop."""
        self._is_closing = True
        self._wake.set()
        if self._task is not None:
            await self._task
        if self.failure is None:
            with suppress(FreshetError):
                while self._observations or self._unbudgeted_requests:
                    await self._record_batch()
                await self._write(partial(self._session.return_jobs, list(unsent_jobs)))
        self.is_closed = True

    @property
    def _session(self) -> CrawlSession:
        return self._collection_thread.session

    async def _run(self) -> None:
        try:
            while not self._is_closing:
                self._wake.clear()
                cycle_start = monotonic_seconds()
                await self._record_batch()
                wait_seconds = await self._draw()
                self._cycle_seconds = monotonic_seconds() - cycle_start
                is_silent = monotonic_seconds() - self._last_report > MAX_SILENT_SECONDS
                if self._host_closings or is_silent:
                    await self._report((), 0.0)
                await self._sleep(0.0 if self._observations else wait_seconds)
        except FreshetError as error:
            self._fail(error)
        except Exception as error:
            log.exception("the crawl stops because of a fault of Freshet")
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self.failure = self.failure or error
        self._runtime.stop("failed")

    async def _write(self, work: Callable[[Sequence[HostState]], T]) -> T:
        """Run work in the collection's thread, with the unsaved host states.

        On a full disk or a locked catalog, wait and try again.
        """
        host_schedule = self._runtime.host_schedule
        while True:
            host_states = host_schedule.take_unsaved()
            try:
                return await self._collection_thread.run(work, host_states)
            except Exception as error:
                host_schedule.mark_unsaved(host_states)
                is_ending = self._is_closing or self._runtime.is_ending
                if is_ending or not isinstance(error, NoSpaceError | LockedError):
                    self._fail(error)
                    raise
                log.warning("%s; trying again, nothing is fetched meanwhile", error)
            await asyncio.sleep(RETRY_SECONDS)

    async def _record_batch(self) -> None:
        """Record the oldest observations; the batch size keeps hosts from waiting for long."""
        if self._unbudgeted_requests:
            requests, self._unbudgeted_requests = self._unbudgeted_requests, 0
            await self._write(partial(self._session.book_unbudgeted, requests))
        count = min(self._batch_size, len(self._observations))
        if not count:
            return
        batch = [self._observations.popleft() for _ in range(count)]
        batch_start = monotonic_seconds()
        visits = await self._write(partial(self._session.record_observations, batch))
        self._visit_count += len(visits)
        for visit, _ in visits:
            self._awaited_hosts.pop(visit.page, None)
        await self._report(visits, monotonic_seconds() - batch_start)
        batch_seconds = monotonic_seconds() - batch_start
        if batch_seconds > SLOW_BATCH_SECONDS:
            self._batch_size = max(MIN_BATCH, self._batch_size // 2)
        elif batch_seconds < FAST_BATCH_SECONDS:
            self._batch_size = min(MAX_BATCH, self._batch_size * 2)

    async def _report(self, visits: Sequence[RecordedVisit], recording_seconds: float) -> None:
        """Send an event to the listeners, and stop the crawl at its limits."""
        self._last_report = monotonic_seconds()
        closings, self._host_closings = self._host_closings, []
        if self._runtime.dispatcher is not None:
            spending = await self._collection_thread.run(self._session.day_spending)
            queue_status = self._runtime.request_queue.take_status()
            self._runtime.dispatcher(
                CrawlEvent(visits, spending, queue_status, recording_seconds, closings)
            )
        is_done = self._limits.visits is not None and self._visit_count >= self._limits.visits
        if is_done or self._are_awaited_hosts_closed():
            self._runtime.stop("finished")

    def _are_awaited_hosts_closed(self) -> bool:
        """Whether the hosts of all pages still awaited are closed beyond the crawl's end."""
        hosts = set(self._awaited_hosts.values())
        schedule = self._runtime.host_schedule
        return bool(hosts) and all(
            schedule.failures_and_closing(host)[1] > self._end_time for host in hosts
        )

    async def _draw(self) -> float:
        """Draw and start the jobs due in the next moments; return the seconds until the next draw."""
        if self._is_closing:
            return 0.0
        if not self._runtime.may_draw:
            return SHORT_WAIT_SECONDS
        clock, schedule = self._runtime.clock, self._runtime.host_schedule
        load_by_host = self._runtime.request_queue.load_by_host()
        capacity = self._runtime.settings.network.concurrency * QUEUED_PER_CONNECTION
        room = capacity - sum(load_by_host.values()) - len(self._observations)
        early_seconds = self._next_draw - monotonic_seconds()
        if room * DRAW_AT_FREE_SHARE < capacity or early_seconds > 0:
            return early_seconds if early_seconds > 0 else SHORT_WAIT_SECONDS
        now = clock.now()
        ahead_seconds = min(max(MIN_AHEAD_SECONDS, 2 * self._cycle_seconds), MAX_AHEAD_SECONDS)
        ahead = timedelta(seconds=ahead_seconds * clock.speed)
        per_host = self._runtime.settings.politeness.per_host
        max_per_host = max(QUEUED_PER_CONNECTION * per_host, capacity // MAX_HOST_SHARE)
        caps = schedule.host_caps(to_epoch(now), to_epoch(now + ahead), load_by_host, max_per_host)
        if self._runtime.is_embedded and (urls := self._runtime.spider_requests.take_claims()):
            await self._write(partial(self._session.claim_urls, urls))
        batch = await self._write(partial(self._session.draw_jobs, now + ahead, room, caps))
        self._observations.extend(batch.failures)
        if self._is_closing:
            await self.return_jobs(batch.jobs)
            return 0.0
        for job in batch.jobs:
            self._runtime.requests.start_job(job)
        schedule.reopen(batch.reopened_hosts)
        self.has_drawn = True
        if self._runtime.is_embedded:
            self._runtime.wake_engine()
        wait_seconds = (
            SHORT_WAIT_SECONDS
            if batch.next_draw is None
            else clock.seconds_until(batch.next_draw - ahead)
        )
        self._next_draw = monotonic_seconds() + min(wait_seconds, MAX_WAIT_SECONDS)
        return wait_seconds

    async def _sleep(self, seconds: float) -> None:
        """Wait for a time within bounds; a new observation ends the wait."""
        with suppress(TimeoutError):
            wait_seconds = min(max(seconds, MIN_WAIT_SECONDS), MAX_WAIT_SECONDS)
            await asyncio.wait_for(self._wake.wait(), wait_seconds)
