"""The loop between fetching and recording: observations go to the collection, jobs come back.

The loop records finished observations, draws due jobs, and waits; a finished observation wakes it.
On a full disk it draws nothing, keeps the observations and tries again until there is space.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import inf

from freshet.core.clock import monotonic_seconds, to_epoch
from freshet.core.errors import FreshetError, OwnClassError
from freshet.crawl.fetch_job import FetchJob
from freshet.fetch.collection_writer import CollectionWriter
from freshet.fetch.environment import CrawlEnvironment
from freshet.fetch.event_dispatcher import CrawlEvent, EventDispatcher
from freshet.fetch.request_lifecycle import RequestLifecycle
from freshet.record.recorder import RecordedVisit

# Nothing is drawn while a batch is recorded: batches grow while recording is fast, else shrink.
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
MAX_SILENT_SECONDS = 1.0

log = logging.getLogger(__name__)


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

    def __init__(
        self,
        environment: CrawlEnvironment,
        writer: CollectionWriter,
        requests: RequestLifecycle,
        dispatcher: EventDispatcher | None,
        limits: CrawlLimits,
    ) -> None:
        self._environment = environment
        self._writer = writer
        self._requests = requests
        self._dispatcher = dispatcher
        self._limits = limits
        self._awaited_hosts = dict(limits.awaited_pages)
        self._end_time = inf
        self._visit_count = 0
        self._batch_size = MIN_BATCH
        self._cycle_seconds = 0.0
        self._next_draw = 0.0
        self._last_report = monotonic_seconds()
        self._task: asyncio.Task[None] | None = None
        self.has_drawn = False
        self.is_closed = False

    def start(self) -> None:
        """Start recording and drawing."""
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._run())
        if self._limits.seconds is not None:
            clock = self._environment.clock
            self._end_time = to_epoch(clock.now()) + self._limits.seconds * clock.speed
            loop.call_later(self._limits.seconds, self._environment.stop, "finished")

    async def close(self, unsent_jobs: Sequence[FetchJob]) -> None:
        """Record all observations, return unsent jobs, and stop."""
        self._writer.is_closing = True
        self._writer.wake.set()
        if self._task is not None:
            await self._task
        if self._writer.failure is None or isinstance(self._writer.failure, OwnClassError):
            with suppress(FreshetError):
                await self._record_rest()
                await self._writer.write(
                    partial(self._writer.session.return_jobs, list(unsent_jobs))
                )
        self.is_closed = True

    async def _record_rest(self) -> None:
        """Record all observations; a visit is recorded before a user's policy fails to learn it."""
        while self._writer.observations or self._writer.unbudgeted_requests:
            with suppress(OwnClassError):
                await self._record_batch()

    async def _run(self) -> None:
        try:
            while not self._writer.is_closing:
                self._writer.wake.clear()
                cycle_start = monotonic_seconds()
                await self._record_batch()
                wait_seconds = await self._draw()
                self._cycle_seconds = monotonic_seconds() - cycle_start
                is_silent = monotonic_seconds() - self._last_report > MAX_SILENT_SECONDS
                if self._writer.host_closings or is_silent:
                    await self._report((), 0.0)
                await self._sleep(0.0 if self._writer.observations else wait_seconds)
        except FreshetError as error:
            self._writer.fail(error)
        except Exception as error:
            log.exception("the crawl stops because of a fault of Freshet")
            self._writer.fail(error)

    async def _record_batch(self) -> None:
        """Record the oldest observations; the batch size keeps hosts from waiting for long."""
        if self._writer.unbudgeted_requests:
            requests, self._writer.unbudgeted_requests = self._writer.unbudgeted_requests, 0
            await self._writer.write(partial(self._writer.session.book_unbudgeted, requests))
        count = min(self._batch_size, len(self._writer.observations))
        if not count:
            return
        batch = [self._writer.observations.popleft() for _ in range(count)]
        batch_start = monotonic_seconds()
        visits = await self._writer.write(partial(self._writer.session.record_observations, batch))
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
        closings, self._writer.host_closings = self._writer.host_closings, []
        if self._dispatcher is not None:
            spending = await self._environment.collection_thread.run(
                self._writer.session.day_spending
            )
            queue_status = self._requests.request_queue.take_status()
            self._dispatcher(
                CrawlEvent(visits, spending, queue_status, recording_seconds, closings)
            )
        is_done = self._limits.visits is not None and self._visit_count >= self._limits.visits
        if is_done or self._are_awaited_hosts_closed():
            self._environment.stop("finished")

    def _are_awaited_hosts_closed(self) -> bool:
        """Whether the hosts of all pages still awaited are closed beyond the crawl's end."""
        hosts = set(self._awaited_hosts.values())
        schedule = self._environment.host_schedule
        return bool(hosts) and all(
            schedule.failures_and_closing(host)[1] > self._end_time for host in hosts
        )

    async def _draw(self) -> float:
        """Draw and start the jobs that are due soon; return the seconds until the next draw."""
        if self._writer.is_closing:
            return 0.0
        if not self._environment.may_draw:
            return SHORT_WAIT_SECONDS
        clock, schedule = self._environment.clock, self._environment.host_schedule
        load_by_host = self._requests.request_queue.load_by_host()
        capacity = self._environment.settings.network.concurrency * QUEUED_PER_CONNECTION
        room = capacity - sum(load_by_host.values()) - len(self._writer.observations)
        early_seconds = self._next_draw - monotonic_seconds()
        if room * DRAW_AT_FREE_SHARE < capacity or early_seconds > 0:
            return early_seconds if early_seconds > 0 else SHORT_WAIT_SECONDS
        now = clock.now()
        ahead_seconds = min(max(MIN_AHEAD_SECONDS, 2 * self._cycle_seconds), MAX_AHEAD_SECONDS)
        ahead = timedelta(seconds=ahead_seconds * clock.speed)
        per_host = self._environment.settings.politeness.per_host
        max_per_host = max(QUEUED_PER_CONNECTION * per_host, capacity // MAX_HOST_SHARE)
        caps = schedule.host_caps(to_epoch(now), to_epoch(now + ahead), load_by_host, max_per_host)
        if urls := self._requests.spider_requests.take_claims():
            await self._writer.write(partial(self._writer.session.claim_urls, urls))
        batch = await self._writer.write(
            partial(self._writer.session.draw_jobs, now + ahead, room, caps)
        )
        self._writer.observations.extend(batch.failures)
        if self._writer.is_closing:
            await self._writer.return_jobs(batch.jobs)
            return 0.0
        for job in batch.jobs:
            self._requests.start_job(job)
        schedule.reopen(batch.reopened_hosts)
        self.has_drawn = True
        if self._environment.is_embedded:
            self._environment.wake_engine()
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
            await asyncio.wait_for(self._writer.wake.wait(), wait_seconds)
