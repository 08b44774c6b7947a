"""The requests of someone's own spider: queued as Scrapy does, and booked on the day's budget.

They wait in Scrapy's own scheduler, with its priorities, duplicate filter and JOBDIR, and are taken
from it as Scrapy takes them. Each is booked on the day's budget before it is sent.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import Scheduler as ScrapyScheduler
from scrapy.settings import BaseSettings
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from freshet.core.budget import next_midnight, utc_day
from freshet.core.errors import FreshetError, SettingsError
from freshet.fetch.collection_writer import CollectionWriter
from freshet.fetch.environment import CrawlEnvironment
from freshet.fetch.politeness.request_queue import RequestQueue
from freshet.fetch.request_context import CONTEXT_KEY, context_of

OVER_BUDGET_SETTING = "FRESHET_OVER_BUDGET"
OVER_BUDGET_CHOICES = ("wait", "drop")
DROPPED_STAT = "freshet/dropped_over_budget"
# A spent budget is checked again at this interval, because it may be raised.
BUDGET_CHECK_SECONDS = 30.0
DEFAULT_CONCURRENCY = 16

OverBudget = Literal["wait", "drop"]

log = logging.getLogger(__name__)


class SpiderQueue(ScrapyScheduler):
    """Scrapy's scheduler with a method to put a request back."""

    def put_back(self, request: Request) -> None:
        """Queue a request again; it has passed the duplicate filter before."""
        if not self._dqpush(request):
            self._mqpush(request)


class SpiderRequestFeed:
    """Takes a spider's requests from its queue, books them, and queues them for their hosts.

    ``take_claims`` returns the URLs that the spider has requested, so that they are not drawn too.
    """

    _queue: SpiderQueue
    _over_budget: OverBudget

    def __init__(
        self, environment: CrawlEnvironment, writer: CollectionWriter, request_queue: RequestQueue
    ) -> None:
        self._environment = environment
        self._writer = writer
        self._request_queue = request_queue
        self._crawler = environment.crawler
        self._unbooked: deque[Request] = deque()
        self._active: set[Request] = set()
        self._put_aside: set[Request] = set()
        self._booking: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._has_warned = False
        self._claimed_urls: list[str] = []

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Open the queue."""
        self._queue = SpiderQueue.from_crawler(self._crawler)
        self._over_budget = over_budget_setting(self._crawler.settings)
        return self._queue.open(spider)

    def add(self, request: Request) -> bool:
        """Queue a request; return False if it is a duplicate."""
        if not context_of(request).hops:
            # The context is created again when the request is taken, so it is not saved to disk.
            del request.meta[CONTEXT_KEY]
        is_new = self._queue.enqueue_request(request)
        if is_new:
            self._claim(request)
        return is_new

    def has_pending(self) -> bool:
        """Whether requests are queued or wait to be sent."""
        return bool(self._active or self._put_aside) or self._queue.has_pending_requests()

    def take_requests(self) -> None:
        """Take requests from the queue, as many as Scrapy would have active at once."""
        engine = self._crawler.engine
        if engine is None:
            return
        limit = engine.downloader.total_concurrency or DEFAULT_CONCURRENCY
        while len(self._active) + len(engine.downloader.active) < limit:
            request = self._queue.next_request()
            if request is None:
                return
            self._claim(request)
            self.book_request(request)

    def book_request(self, request: Request) -> None:
        """Queue a request for its host as soon as the budget pays for it."""
        self._mark_active(request)
        self._unbooked.append(request)
        if self._booking is None:
            self._booking = asyncio.get_running_loop().create_task(self._book())

    def enqueue_again(self, request: Request) -> None:
        """Queue a booked request for its host again."""
        self._mark_active(request)
        self._enqueue(request)

    def put_aside(self, request: Request) -> None:
        """Stop counting a request that waits for a closed host, so that others can be taken."""
        self._active.discard(request)
        self._put_aside.add(request)

    def forget(self, request: Request) -> None:
        """Stop tracking a request that is with the downloader or was dropped."""
        self._active.discard(request)
        self._put_aside.discard(request)
        engine = self._crawler.engine
        if engine is not None:
            engine.downloader._get_slot(request)[1].active.discard(request)

    def _mark_active(self, request: Request) -> None:
        """Count a request as active, also for its host: the queue prefers hosts with fewer."""
        self._active.add(request)
        engine = self._crawler.engine
        if engine is not None:
            engine.downloader._get_slot(request)[1].active.add(request)

    def _enqueue(self, request: Request) -> None:
        if not self._request_queue.enqueue(request) and request in self._active:
            self.put_aside(request)

    def take_claims(self) -> list[str]:
        """Return the URLs that the spider has requested since the last call."""
        urls, self._claimed_urls = self._claimed_urls, []
        return urls

    async def stop_booking(self) -> None:
        """Book no more requests."""
        self._closing.set()
        if self._booking is not None:
            await self._booking

    async def close(self, reason: str, booked_requests: Sequence[Request]) -> None:
        """Put waiting requests back, return their bookings, and close the queue."""
        today = utc_day(self._environment.clock.now())
        await self._writer.return_requests(
            sum(context_of(request).budget_day == today for request in booked_requests)
        )
        for request in reversed([*booked_requests, *self._unbooked]):
            context = context_of(request)
            context.has_turn, context.budget_day = False, ""
            self._queue.put_back(request)
        self._unbooked.clear()
        for request in (*self._active, *self._put_aside):
            self.forget(request)
        closing = self._queue.close(reason)
        if closing is not None:
            await maybe_deferred_to_future(closing)

    def _claim(self, request: Request) -> None:
        if self._environment.pages_mode != "off" and request.method == "GET":
            self._claimed_urls.append(request.url)

    async def _book(self) -> None:
        """Book all taken requests at once; those beyond the budget wait or are dropped."""
        try:
            while self._unbooked and not self._closing.is_set():
                granted = await self._writer.book_up_to(len(self._unbooked))
                for _ in range(granted):
                    request = self._unbooked.popleft()
                    context_of(request).budget_day = utc_day(self._environment.clock.now())
                    self._enqueue(request)
                if self._unbooked and not granted:
                    await self._handle_spent_budget()
        except FreshetError:
            log.debug("The crawl stops, so requests of the spider stay in the queue")
        finally:
            self._booking = None

    async def _handle_spent_budget(self) -> None:
        """Drop the requests beyond the day's budget, or wait for the next day."""
        self._warn_once()
        if self._over_budget == "drop":
            while self._unbooked:
                self._drop(self._unbooked.popleft())
            self._environment.wake_engine()
            return
        clock = self._environment.clock
        seconds = min(clock.seconds_until(next_midnight(clock.now())), BUDGET_CHECK_SECONDS)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)

    def _drop(self, request: Request) -> None:
        self.forget(request)
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(DROPPED_STAT)
        log.debug("Dropped over budget: %s", request)
        self._crawler.signals.send_catch_log(
            signals.request_dropped, request=request, spider=self._crawler.spider
        )

    def _warn_once(self) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        fate = "are dropped" if self._over_budget == "drop" else "wait until midnight (UTC)"
        log.warning(
            "The day's budget of page requests is spent: further requests of the spider %s "
            "(FRESHET_BUDGET sets the budget, %s what happens beyond it)",
            fate,
            OVER_BUDGET_SETTING,
        )


def over_budget_setting(settings: BaseSettings) -> OverBudget:
    """Return whether requests beyond the budget wait or are dropped."""
    value = settings.get(OVER_BUDGET_SETTING, "wait")
    if value not in OVER_BUDGET_CHOICES:
        raise SettingsError(f'{OVER_BUDGET_SETTING}: {value!r} must be "wait" or "drop"')
    return "drop" if value == "drop" else "wait"
