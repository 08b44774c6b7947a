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
from freshet.core.clock import stopwatch, to_epoch
from freshet.core.errors import FreshetError, Locked, NoSpace
from freshet.crawl.fetch_job import DaySpending, Errand, Fetched
from freshet.fetch.collection_thread import Worker
from freshet.fetch.politeness.host_closing import HostClosing
from freshet.fetch.politeness.host_schedule import HostClocks
from freshet.fetch.politeness.request_queue import Queue
from freshet.record.recorder import Learnt

# Drawing waits while a batch is recorded, so a batch grows when that is quick, else it shrinks.
SMALLEST_BATCH, LARGEST_BATCH = 16, 128
QUICK_SECONDS, SLOW_SECONDS = 0.1, 0.4
# Drawing many at once is cheaper: it waits until a fourth of the queue is free.
QUEUED, FREE_SHARE = 6, 4
# No host gets more of the queue than one part in so many, or what it may have in flight warrants.
LARGEST_PART = 16
AHEAD_SECONDS = 0.25
LONGEST_AHEAD = 5.0
LONGEST_WAIT = 0.5
SHORT_WAIT = 0.1
SHORTEST_WAIT = 0.01
TRY_AGAIN_SECONDS = 2.0
SILENT_SECONDS = 1.0

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tidings:
    """What a crawl tells those who watch it: the visits just kept, the day's spending, the queue.

    ``seconds`` is how long recording took, ``closings`` are the hosts that have closed since the
    last time. Where nothing is kept for a second, it tells that too.
    """

    learnt: Sequence[Learnt]
    spending: DaySpending
    queue: Queue
    seconds: float
    closings: Sequence[HostClosing] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """When a crawl ends by itself: after so many visits or seconds; None where it does not.

    With ``awaited`` pages, given with their hosts, it also ends when the hosts of all that were not
    visited yet are closed for longer than it may go on.
    """

    visits: int | None = None
    seconds: float | None = None
    awaited: tuple[tuple[int, str], ...] = ()


FOR_EVER = Limits()


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the desk needs of the fetching side.

    ``claims`` are the URLs that someone's own spider has asked for since the last time; pages are
    drawn once they ``may_draw``, and ``has_drawn`` is told of it.
    """

    waiting: Callable[[], dict[str, int]]
    queue: Callable[[], Queue]
    start: Callable[[Errand], None]
    stop: Callable[[str], None]
    is_ending: Callable[[], bool]
    claims: Callable[[], Sequence[str]] = tuple
    may_draw: Callable[[], bool] = lambda: True
    has_drawn: Callable[[], None] = lambda: None
    listeners: tuple[Callable[[Tidings], None], ...] = ()


class Desk:
    """Hands finished visits to the collection's thread, and brings errands from it."""

    def __init__(self, worker: Worker, hosts: HostClocks, outlook: Outlook, limits: Limits) -> None:
        self._worker = worker
        self._hosts = hosts
        self._outlook = outlook
        self._limits = limits
        self._finished: deque[Fetched] = deque()
        self._wake = asyncio.Event()
        self._closings: list[HostClosing] = []
        self._awaited = dict(limits.awaited)
        self._end = inf
        self._kept = 0
        self._apart = 0
        self._batch = SMALLEST_BATCH
        self._round_seconds = 0.0
        self._draw_at = 0.0
        self._told = stopwatch()
        self._is_closing = False
        self._task: asyncio.Task[None] | None = None
        self.has_drawn = False
        self.is_closed = False
        self.failure: BaseException | None = None

    def begin(self) -> None:
        """Start recording and drawing."""
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._run())
        if self._limits.seconds is not None:
            clock = self._worker.clock
            self._end = to_epoch(clock.now()) + self._limits.seconds * clock.speed
            loop.call_later(self._limits.seconds, self._outlook.stop, "finished")

    def finished(self, fetched: Fetched) -> None:
        """Take in what came of a request, to be recorded soon."""
        self._finished.append(fetched)
        self._wake.set()

    def host_closed(self, closing: HostClosing) -> None:
        """Take in that a host has closed, to be told soon."""
        self._closings.append(closing)
        self._wake.set()

    async def book(self, requests: int) -> bool:
        """Book further requests for an errand; False where the day's budget has none left."""
        return await self._insist(partial(self._worker.crawl.book, requests))

    async def book_some(self, requests: int) -> int:
        """Book requests of someone's own spider; return how many the day's budget has left."""
        return await self._insist(partial(self._worker.crawl.book_some, requests))

    async def return_requests(self, requests: int) -> None:
        """Take back bookings whose requests did not go out."""
        if requests:
            await self._insist(partial(self._worker.crawl.return_requests, requests))

    def book_apart(self, requests: int) -> None:
        """Count requests that the budget does not; they are written down together."""
        self._apart += requests
        self._wake.set()

    async def give_back(self, errands: Sequence[Errand]) -> None:
        """Take back errands that were not run."""
        if errands:
            await self._insist(partial(self._worker.crawl.give_back, list(errands)))

    async def close(self, unused: Sequence[Errand]) -> None:
        """Record everything that is finished, give back what was not run, and stop."""
        self._is_closing = True
        self._wake.set()
        if self._task is not None:
            await self._task
        if self.failure is None:
            with suppress(FreshetError):
                await self._record_all()
                await self._insist(partial(self._worker.crawl.give_back, list(unused)))
        self.is_closed = True

    async def _run(self) -> None:
        try:
            while not self._is_closing:
                self._wake.clear()
                began = stopwatch()
                await self._record_some()
                wait = await self._fill()
                self._round_seconds = stopwatch() - began
                if self._closings or stopwatch() - self._told > SILENT_SECONDS:
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
            await self._insist(partial(self._worker.crawl.book_apart, apart))
        count = min(self._batch, len(self._finished))
        if not count:
            return
        began = stopwatch()
        await self._record([self._finished.popleft() for _ in range(count)])
        seconds = stopwatch() - began
        if seconds > SLOW_SECONDS:
            self._batch = max(SMALLEST_BATCH, self._batch // 2)
        elif seconds < QUICK_SECONDS:
            self._batch = min(LARGEST_BATCH, self._batch * 2)

    async def _insist(self, work: Callable[[Sequence[HostState]], T]) -> T:
        """Have something written, with what is new of hosts; wait until there is space for it."""
        while True:
            hosts = self._hosts.dirty()
            try:
                return await self._worker.call(work, hosts)
            except Exception as error:
                self._hosts.unwritten(hosts)
                is_ending = self._is_closing or self._outlook.is_ending()
                if is_ending or not isinstance(error, NoSpace | Locked):
                    self._fail(error)
                    raise
                log.warning("%s; trying again, nothing is fetched meanwhile", error)
            await asyncio.sleep(TRY_AGAIN_SECONDS)

    async def _record(self, batch: list[Fetched]) -> None:
        began = stopwatch()
        learnt = await self._insist(partial(self._worker.crawl.take, batch))
        self._kept += len(learnt)
        for visit, _ in learnt:
            self._awaited.pop(visit.page, None)
        await self._tell(learnt, stopwatch() - began)

    async def _tell(self, learnt: Sequence[Learnt], seconds: float) -> None:
        self._told = stopwatch()
        closings, self._closings = self._closings, []
        if self._outlook.listeners:
            spending = await self._worker.call(self._worker.crawl.spending)
            tidings = Tidings(learnt, spending, self._outlook.queue(), seconds, closings)
            for listener in self._outlook.listeners:
                listener(tidings)
        is_done = self._limits.visits is not None and self._kept >= self._limits.visits
        if is_done or self._waits_in_vain():
            self._outlook.stop("finished")

    def _waits_in_vain(self) -> bool:
        """Whether the hosts of all pages still awaited are closed beyond the crawl's end."""
        hosts = set(self._awaited.values())
        return bool(hosts) and all(self._hosts.back_off(host)[1] > self._end for host in hosts)

    async def _fill(self) -> float:
        """Draw what is due within a moment; return how long to wait before the next time."""
        if self._is_closing:
            return 0.0
        if not self._outlook.may_draw():
            return SHORT_WAIT
        crawl, clock = self._worker.crawl, self._worker.clock
        waiting = self._outlook.waiting()
        capacity = self._worker.settings.network.concurrency * QUEUED
        room = capacity - sum(waiting.values()) - len(self._finished)
        early = self._draw_at - stopwatch()
        if room * FREE_SHARE < capacity or early > 0:
            return early if early > 0 else SHORT_WAIT
        now = clock.now()
        seconds = min(max(AHEAD_SECONDS, 2 * self._round_seconds), LONGEST_AHEAD)
        ahead = timedelta(seconds=seconds * clock.speed)
        most = max(QUEUED * self._worker.settings.politeness.per_host, capacity // LARGEST_PART)
        caps = self._hosts.caps(to_epoch(now), to_epoch(now + ahead), waiting, most)
        if claims := self._outlook.claims():
            await self._insist(partial(crawl.claim, claims))
        drawn = await self._insist(partial(crawl.draw, now + ahead, room, caps))
        self._finished.extend(drawn.failed)
        if self._is_closing:
            await self.give_back(drawn.errands)
            return 0.0
        for errand in drawn.errands:
            self._outlook.start(errand)
        self._hosts.reopen(drawn.reopened)
        self.has_drawn = True
        self._outlook.has_drawn()
        wait = SHORT_WAIT if drawn.again is None else clock.seconds_until(drawn.again - ahead)
        self._draw_at = stopwatch() + min(wait, LONGEST_WAIT)
        return wait

    async def _rest(self, seconds: float) -> None:
        """Wait, but not longer than others' changes may; a finished visit ends the wait."""
        try:
            wait = min(max(seconds, SHORTEST_WAIT), LONGEST_WAIT)
            await asyncio.wait_for(self._wake.wait(), wait)
        except TimeoutError:
            return
