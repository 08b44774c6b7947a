"""The requests of someone's own spider: queued as Scrapy queues them, paid for by the budget.

They wait in Scrapy's own scheduler, with its priorities, its filter of duplicates and its JOBDIR,
and are taken from it as Scrapy would take them. Each is booked in the day's budget before it goes.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import Scheduler as ScrapyScheduler
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from freshet.core.budget import next_midnight, utc_day
from freshet.core.clock import Clock
from freshet.core.errors import FreshetError, SettingsError
from freshet.fetch.recording_loop import RecordingLoop
from freshet.fetch.request_context import CONTEXT_KEY, context_of

OVER_BUDGET_SETTING = "FRESHET_OVER_BUDGET"
OVER_BUDGET_CHOICES = ("wait", "drop")
DROPPED_STAT = "freshet/dropped_over_budget"
# A budget that is spent is looked at again so often: it may have been raised meanwhile.
BUDGET_CHECK_SECONDS = 30.0
DEFAULT_CONCURRENCY = 16

OverBudget = Literal["wait", "drop"]

log = logging.getLogger(__name__)


class SpiderQueue(ScrapyScheduler):
    """Scrapy's scheduler, which also takes back a request that it handed out."""

    def put_back(self, request: Request) -> None:
        """Queue a request again; it has passed the filter of duplicates before."""
        if not self._dqpush(request):
            self._mqpush(request)

    @property
    def is_kept(self) -> bool:
        """Whether what is queued outlives the crawl."""
        return self.dqs is not None


class SpiderRequestFeed:
    """Takes a spider's requests from its queue, pays for them, and sends them to their hosts.

    ``send`` lets a request wait for its host, and says whether the host can be asked before long.
    With ``is_claiming``, URLs that the spider asks for are told by ``take_claims``.
    """

    def __init__(
        self,
        crawler: Crawler,
        desk: RecordingLoop,
        clock: Clock,
        send: Callable[[Request], bool],
        *,
        is_claiming: bool,
    ) -> None:
        self._crawler = crawler
        self._desk = desk
        self._clock = clock
        self._send_to_host = send
        self._is_claiming = is_claiming
        self._queue = SpiderQueue.from_crawler(crawler)
        self._over_budget = over_budget_setting(crawler.settings)
        self._unpaid: deque[Request] = deque()
        self._out: set[Request] = set()
        self._put_aside: set[Request] = set()
        self._paying: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._is_told = False
        self._claims: list[str] = []

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Open the queue."""
        return self._queue.open(spider)

    def add(self, request: Request) -> bool:
        """Queue a request; False where it is a duplicate."""
        if not context_of(request).hops:
            # It is made anew when the request is taken; until then it need not be on a disk.
            del request.meta[CONTEXT_KEY]
        is_new = self._queue.enqueue_request(request)
        if is_new:
            self._claim(request)
        return is_new

    def has_pending(self) -> bool:
        """Whether requests are queued, or wait to go."""
        return bool(self._out or self._put_aside) or self._queue.has_pending_requests()

    def take_requests(self) -> None:
        """Take requests from the queue, as many as Scrapy would have under way at once."""
        engine = self._crawler.engine
        if engine is None:
            return
        limit = engine.downloader.total_concurrency or DEFAULT_CONCURRENCY
        while len(self._out) + len(engine.downloader.active) < limit:
            request = self._queue.next_request()
            if request is None:
                return
            self._claim(request)
            self.book_request(request)

    def book_request(self, request: Request) -> None:
        """Let a request go to its host as soon as the budget pays for it."""
        self._begin(request)
        self._unpaid.append(request)
        if self._paying is None:
            self._paying = asyncio.get_running_loop().create_task(self._pay())

    def enqueue_again(self, request: Request) -> None:
        """Let a request that is paid for wait for its host once more."""
        self._begin(request)
        self._send(request)

    def put_aside(self, request: Request) -> None:
        """Let a request that waits for a closed host keep none from going to other hosts."""
        self._out.discard(request)
        self._put_aside.add(request)

    def forget(self, request: Request) -> None:
        """Note that a request is with the downloader, or goes no further."""
        self._out.discard(request)
        self._put_aside.discard(request)
        engine = self._crawler.engine
        if engine is not None:
            engine.downloader._get_slot(request)[1].active.discard(request)

    def _begin(self, request: Request) -> None:
        """Count a request as under way, for its host too: the queue prefers hosts with fewer."""
        self._out.add(request)
        engine = self._crawler.engine
        if engine is not None:
            engine.downloader._get_slot(request)[1].active.add(request)

    def _send(self, request: Request) -> None:
        if not self._send_to_host(request) and request in self._out:
            self.put_aside(request)

    def take_claims(self) -> list[str]:
        """Return the URLs that the spider has asked for since this was last called."""
        claims, self._claims = self._claims, []
        return claims

    async def close(self, reason: str, halt: Callable[[], Sequence[Request]]) -> None:
        """Queue what waits again, with its booking returned, and close the queue.

        ``halt`` lets no request go any more, and returns those of the spider that wait.
        """
        self._closing.set()
        if self._paying is not None:
            await self._paying
        paid = halt()
        today = utc_day(self._clock.now())
        await self._desk.return_requests(
            sum(context_of(request).budget_day == today for request in paid)
        )
        for request in reversed([*paid, *self._unpaid]):
            trip = context_of(request)
            trip.has_turn, trip.budget_day = False, ""
            self._queue.put_back(request)
        self._unpaid.clear()
        for request in (*self._out, *self._put_aside):
            self.forget(request)
        closing = self._queue.close(reason)
        if closing is not None:
            await maybe_deferred_to_future(closing)

    def _claim(self, request: Request) -> None:
        if self._is_claiming and request.method == "GET":
            self._claims.append(request.url)

    async def _pay(self) -> None:
        """Book what is taken, all of it at once; what the budget does not cover waits or goes."""
        try:
            while self._unpaid and not self._closing.is_set():
                granted = await self._desk.book_up_to(len(self._unpaid))
                for _ in range(granted):
                    request = self._unpaid.popleft()
                    context_of(request).budget_day = utc_day(self._clock.now())
                    self._send(request)
                if self._unpaid and not granted:
                    await self._exceed()
        except FreshetError:
            log.debug("The crawl stops, so requests of the spider stay in the queue")
        finally:
            self._paying = None

    async def _exceed(self) -> None:
        """Drop what the day's budget does not cover, or wait until it does."""
        self._tell()
        if self._over_budget == "drop":
            while self._unpaid:
                self._drop(self._unpaid.popleft())
            wake_engine(self._crawler)
            return
        until = self._clock.seconds_until(next_midnight(self._clock.now()))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), min(until, BUDGET_CHECK_SECONDS))

    def _drop(self, request: Request) -> None:
        self.forget(request)
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(DROPPED_STAT)
        log.debug("Dropped over budget: %s", request)
        self._crawler.signals.send_catch_log(
            signals.request_dropped, request=request, spider=self._crawler.spider
        )

    def _tell(self) -> None:
        if self._is_told:
            return
        self._is_told = True
        fate = "are dropped" if self._over_budget == "drop" else "wait until midnight (UTC)"
        log.warning(
            "The day's budget of page requests is spent: further requests of the spider %s "
            "(FRESHET_BUDGET sets the budget, %s what happens beyond it)",
            fate,
            OVER_BUDGET_SETTING,
        )


def over_budget_setting(settings: BaseSettings) -> OverBudget:
    """Return what happens to requests beyond the budget."""
    value = settings.get(OVER_BUDGET_SETTING, "wait")
    if value not in OVER_BUDGET_CHOICES:
        raise SettingsError(f'{OVER_BUDGET_SETTING}: {value!r} must be "wait" or "drop"')
    return "drop" if value == "drop" else "wait"


def wake_engine(crawler: Crawler) -> None:
    """Let the engine ask for requests now instead of at its next pulse."""
    engine = crawler.engine
    if engine is not None and engine._slot is not None:
        engine._slot.nextcall.schedule()
