"""Between fetching and recording: finished visits go to the collection, errands come back.

One loop records what is finished, draws what is due and waits; it wakes early when a visit ends. A
full disk stops the drawing, keeps what was fetched and tries again until there is space.
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
from typing import TypeVar

from freshet.archive.catalog.rows import HostState
from freshet.core.clock import monotonic_seconds, to_epoch
from freshet.core.errors import FreshetError, LockedError, NoSpaceError
from freshet.crawl.fetch_job import DaySpending, FetchJob, FetchResult
from freshet.fetch.collection_thread import CollectionThread
from freshet.fetch.politeness.host_closing import HostClosing
from freshet.fetch.politeness.host_schedule import HostSchedule
from freshet.fetch.politeness.request_queue import QueueStatus
from freshet.record.recorder import RecordedVisit

# Drawing waits while a batch is recorded, so a batch grows when that is quick, else it shrinks.
MIN_BATCH, MAX_BATCH = 16, 128
FAST_BATCH_SECONDS, SLOW_BATCH_SECONDS = 0.1, 0.4
# Drawing many at once is cheaper: it waits until a fourth of the queue is free.
QUEUED_PER_CONNECTION, DRAW_AT_FREE_SHARE = 6, 4
# No host gets more of the queue than one part in so many, or what it may have in flight warrants.
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
    """What a crawl tells those who watch it: the visits just kept, the day's spending, the queue.

    ``recording_seconds`` is how long recording took, ``host_closings`` are the hosts that have closed since the
    last time. Where nothing is kept for a second, it tells that too.
    """

    visits: Sequence[RecordedVisit]
    spending: DaySpending
    queue: QueueStatus
    recording_seconds: float
    host_closings: Sequence[HostClosing] = ()


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """When a crawl ends by itself: after so many visits or seconds; None where it does not.

    With ``awaited_pages`` pages, given with their hosts, it also ends when the hosts of all that were not
    visited yet are closed for longer than it may go on.
    """

    visits: int | None = None
    seconds: float | None = None
    awaited_pages: tuple[tuple[int, str], ...] = ()


NO_LIMITS = CrawlLimits()


@dataclass(frozen=True, slots=True)
class CrawlHooks:
    """What the desk needs of the fetching side.

    ``claims`` are the URLs that someone's own spider has asked for since the last time; pages are
    drawn once they ``may_draw``, and ``has_drawn`` is told of it.
    """

    waiting: Callable[[], dict[str, int]]
    queue: Callable[[], QueueStatus]
    start: Callable[[FetchJob], None]
    stop: Callable[[str], None]
    is_ending: Callable[[], bool]
    claims: Callable[[], Sequence[str]] = tuple
    may_draw: Callable[[], bool] = lambda: True
    has_drawn: Callable[[], None] = lambda: None
    listeners: tuple[Callable[[CrawlEvent], None], ...] = ()


class RecordingLoop:
    """Hands finished visits to the collection's thread, and brings errands from it."""

    def __init__(
        self,
        worker: CollectionThread,
        hosts: HostSchedule,
        outlook: CrawlHooks,
        limits: CrawlLimits,
    ) -> None:
        self._worker = worker
        self._hosts = hosts
        self._outlook = outlook
        self._limits = limits
        self._finished: deque[FetchResult] = deque()
        self._wake = asyncio.Event()
        self._closings: list[HostClosing] = []
        self._awaited = dict(limits.awaited_pages)
        self._end = inf
        self._kept = 0
        self._apart = 0
        self._batch = MIN_BATCH
        self._round_seconds = 0.0
        self._draw_at = 0.0
        self._told = monotonic_seconds()
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
            clock = self._worker.clock
            self._end = to_epoch(clock.now()) + self._limits.seconds * clock.speed
            loop.call_later(self._limits.seconds, self._outlook.stop, "finished")

    def add_result(self, result: FetchResult) -> None:
        """Take in what came of a request, to be recorded soon."""
        self._finished.append(result)
        self._wake.set()

    def add_host_closing(self, closing: HostClosing) -> None:
        """Take in that a host has closed, to be told soon."""
        self._closings.append(closing)
        self._wake.set()

    async def book_requests(self, requests: int) -> bool:
        """Book further requests for an errand; False where the day's budget has none left."""
        return await self._insist(partial(self._worker.session.book_requests, requests))

    async def book_up_to(self, requests: int) -> int:
        """Book requests of someone's own spider; return how many the day's budget has left."""
        return await self._insist(partial(self._worker.session.book_up_to, requests))

    async def return_requests(self, requests: int) -> None:
        """Take back bookings whose requests did not go out."""
        if requests:
            await self._insist(partial(self._worker.session.return_requests, requests))

    def book_unbudgeted(self, requests: int) -> None:
        """Count requests that the budget does not; they are written down together."""
        self._apart += requests
        self._wake.set()

    async def return_jobs(self, jobs: Sequence[FetchJob]) -> None:
        """Take back errands that were not run."""
        if jobs:
            await self._insist(partial(self._worker.session.return_jobs, list(jobs)))

    async def close(self, unsent_jobs: Sequence[FetchJob]) -> None:
        """Record everything that is finished, give back what was not run, and stop."""
        self._is_closing = True
        self._wake.set()
        if self._task is not None:
            await self._task
        if self.failure is None:
            with suppress(FreshetError):
                await self._record_all()
                await self._insist(partial(self._worker.session.return_jobs, list(unsent_jobs)))
        self.is_closed = True

    async def _run(self) -> None:
        try:
            while not self._is_closing:
                self._wake.clear()
                began = monotonic_seconds()
                await self._record_some()
                wait = await self._fill()
                self._round_seconds = monotonic_seconds() - began
                if self._closings or monotonic_seconds() - self._told > MAX_SILENT_SECONDS:
                    await self._tell((), 0.0)
                await self._rest(0.0 if self._finished else wait)
        except FreshetError as error:
            self._fail(error)
        except Exception as error:
            log.exception("the crawl stops because of a fault of Freshet")
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self.failure = self.failure or error
        self._outlook.stop("failed")

    async def _record_all(self) -> None:
        while self._finished or self._apart:
            await self._record_some()

    async def _record_some(self) -> None:
        """Record what finished first; so much of it that hosts need not wait for it long."""
        if self._apart:
            apart, self._apart = self._apart, 0
            await self._insist(partial(self._worker.session.book_unbudgeted, apart))
        count = min(self._batch, len(self._finished))
        if not count:
            return
        began = monotonic_seconds()
        await self._record([self._finished.popleft() for _ in range(count)])
        seconds = monotonic_seconds() - began
        if seconds > SLOW_BATCH_SECONDS:
            self._batch = max(MIN_BATCH, self._batch // 2)
        elif seconds < FAST_BATCH_SECONDS:
            self._batch = min(MAX_BATCH, self._batch * 2)

    async def _insist(self, work: Callable[[Sequence[HostState]], T]) -> T:
        """Have something written, with what is new of hosts; wait until there is space for it."""
        while True:
            hosts = self._hosts.take_unsaved()
            try:
                return await self._worker.run(work, hosts)
            except Exception as error:
                self._hosts.mark_unsaved(hosts)
                is_ending = self._is_closing or self._outlook.is_ending()
                if is_ending or not isinstance(error, NoSpaceError | LockedError):
                    self._fail(error)
                    raise
                log.warning("%s; trying again, nothing is fetched meanwhile", error)
            await asyncio.sleep(RETRY_SECONDS)

    async def _record(self, batch: list[FetchResult]) -> None:
        began = monotonic_seconds()
        learnt = await self._insist(partial(self._worker.session.record_results, batch))
        self._kept += len(learnt)
        for visit, _ in learnt:
            self._awaited.pop(visit.page, None)
        await self._tell(learnt, monotonic_seconds() - began)

    async def _tell(self, learnt: Sequence[RecordedVisit], seconds: float) -> None:
        self._told = monotonic_seconds()
        closings, self._closings = self._closings, []
        if self._outlook.listeners:
            spending = await self._worker.run(self._worker.session.day_spending)
            tidings = CrawlEvent(learnt, spending, self._outlook.queue(), seconds, closings)
            for listener in self._outlook.listeners:
                listener(tidings)
        is_done = self._limits.visits is not None and self._kept >= self._limits.visits
        if is_done or self._waits_in_vain():
            self._outlook.stop("finished")

    def _waits_in_vain(self) -> bool:
        """Whether the hosts of all pages still awaited are closed beyond the crawl's end."""
        hosts = set(self._awaited.values())
        return bool(hosts) and all(
            self._hosts.failures_and_closing(host)[1] > self._end for host in hosts
        )

    async def _fill(self) -> float:
        """Draw what is due within a moment; return how long to wait before the next time."""
        if self._is_closing:
            return 0.0
        if not self._outlook.may_draw():
            return SHORT_WAIT_SECONDS
        crawl, clock = self._worker.session, self._worker.clock
        waiting = self._outlook.waiting()
        capacity = self._worker.settings.network.concurrency * QUEUED_PER_CONNECTION
        room = capacity - sum(waiting.values()) - len(self._finished)
        early = self._draw_at - monotonic_seconds()
        if room * DRAW_AT_FREE_SHARE < capacity or early > 0:
            return early if early > 0 else SHORT_WAIT_SECONDS
        now = clock.now()
        seconds = min(max(MIN_AHEAD_SECONDS, 2 * self._round_seconds), MAX_AHEAD_SECONDS)
        ahead = timedelta(seconds=seconds * clock.speed)
        most = max(
            QUEUED_PER_CONNECTION * self._worker.settings.politeness.per_host,
            capacity // MAX_HOST_SHARE,
        )
        caps = self._hosts.host_caps(to_epoch(now), to_epoch(now + ahead), waiting, most)
        if claims := self._outlook.claims():
            await self._insist(partial(crawl.claim_urls, claims))
        drawn = await self._insist(partial(crawl.draw_jobs, now + ahead, room, caps))
        self._finished.extend(drawn.failures)
        if self._is_closing:
            await self.return_jobs(drawn.jobs)
            return 0.0
        for errand in drawn.jobs:
            self._outlook.start(errand)
        self._hosts.reopen(drawn.reopened_hosts)
        self.has_drawn = True
        self._outlook.has_drawn()
        wait = (
            SHORT_WAIT_SECONDS
            if drawn.next_draw is None
            else clock.seconds_until(drawn.next_draw - ahead)
        )
        self._draw_at = monotonic_seconds() + min(wait, MAX_WAIT_SECONDS)
        return wait

    async def _rest(self, seconds: float) -> None:
        """Wait, but not longer than others' changes may; a finished visit ends the wait."""
        try:
            wait = min(max(seconds, MIN_WAIT_SECONDS), MAX_WAIT_SECONDS)
            await asyncio.wait_for(self._wake.wait(), wait)
        except TimeoutError:
            return
