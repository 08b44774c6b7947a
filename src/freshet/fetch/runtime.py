"""The parts of one crawl, put together once for each Scrapy crawler and found by it."""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings
from twisted.internet.defer import Deferred

from freshet.core.budget import utc_day
from freshet.core.clock import from_epoch, monotonic_seconds, to_epoch
from freshet.core.errors import SettingsError
from freshet.core.types import Outcome
from freshet.crawl.fetch_job import FetchJob, FetchResult, unsent_result
from freshet.fetch.collection_thread import CollectionThread
from freshet.fetch.event_dispatcher import EventDispatcher, EventListener
from freshet.fetch.network.failures import (
    BudgetDayOverError,
    CrawlEndedError,
    RobotsDisallowedError,
)
from freshet.fetch.politeness.host_schedule import HostSchedule
from freshet.fetch.politeness.proxy_schedules import ProxySchedules
from freshet.fetch.politeness.request_queue import RequestQueue
from freshet.fetch.politeness.robots import ROBOTS_KEY
from freshet.fetch.recording_loop import NO_LIMITS, CrawlHooks, CrawlLimits, RecordingLoop
from freshet.fetch.request_context import (
    context_of,
    host_of,
    observation_without_answer,
    request_for_job,
    retried_request,
)
from freshet.fetch.spider_requests import SpiderRequestFeed, wake_engine
from freshet.record.fault_isolation import describe_fault
from freshet.view.url import canonical_web_url

COLLECTION_SETTING = "FRESHET_COLLECTION"
BUDGET_SETTING = "FRESHET_BUDGET"
# A robots.txt that redirects to a host which is not free within so many seconds cannot be had.
MAX_ROBOTS_WAIT_SECONDS = 60.0
ENDING_CHECK_SECONDS = 0.5
PAGES_SETTING = "FRESHET_PAGES"
PAGES_CHOICES = ("record", "parse", "off")
# In a project pages are drawn when the spider's start requests are known, or after some seconds.
MAX_SPIDER_START_SECONDS = 5.0

log = logging.getLogger(__name__)


def runtime_of(crawler: Crawler) -> "CrawlRuntime":
    """Return a crawler's parts; in someone's own project they are made when first asked for."""
    found: CrawlRuntime | None = getattr(crawler, "freshet", None)
    if found is not None:
        return found
    path = crawler.settings.get(COLLECTION_SETTING)
    if not path:
        raise NotConfigured(f"set {COLLECTION_SETTING} to the folder of a Freshet collection")
    budget = crawler.settings.get(BUDGET_SETTING) or ""
    worker = CollectionThread(Path(path), budget=budget, catch_up=True, once=True)
    worker.open()
    return CrawlRuntime(crawler, worker, is_embedded=True)


class CrawlRuntime:
    """Worker, host clocks, pacing and desk of a crawl, and how they meet Scrapy's engine.

    ``is_embedded`` says that the crawl is someone else's: it ends when their spider and what is due
    are done. Their spider's requests are kept by ``spider_requests``.
    """

    spider_requests: SpiderRequestFeed

    def __init__(
        self,
        crawler: Crawler,
        worker: CollectionThread,
        *,
        is_embedded: bool = False,
        limits: CrawlLimits = NO_LIMITS,
        listeners: Sequence[EventListener] = (),
    ) -> None:
        crawler.freshet = self  # type: ignore[attr-defined]
        self._crawler = crawler
        self.is_embedded = is_embedded
        self._is_stopped = False
        self.pages_awaiting_robots = 0
        self._pages = pages_setting(crawler.settings) if is_embedded else "parse"
        self._opened = monotonic_seconds()
        self._left: list[Request] = []
        self.refused_hosts: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.collection_thread = worker
        self.clock = worker.clock
        self.settings = worker.settings
        self.host_schedule = HostSchedule(worker.settings.politeness)
        self.host_schedule.load(
            worker.start_state.host_states, worker.start_state.hosts_without_pages
        )
        self.proxy_schedules = ProxySchedules(worker.settings.politeness)
        if worker.start_state.last_death is not None:
            self.host_schedule.delay_all(to_epoch(worker.start_state.last_death))
        self.ready_requests: deque[Request] = deque()
        self.request_queue = RequestQueue(
            self.host_schedule, self.clock, worker.settings.politeness.per_host, self._release
        )
        self.dispatcher = EventDispatcher(listeners, self.stop) if listeners else None
        told = (self.dispatcher,) if self.dispatcher else ()
        outlook = CrawlHooks(
            self.request_queue.load_by_host, self.request_queue.take_status, self.start_job, self.stop, self._is_ending,
            self._claims, self._may_draw, self._has_drawn, told,
        )  # fmt: skip
        self.recording_loop = RecordingLoop(worker, self.host_schedule, outlook, limits)

    @property
    def failure(self) -> BaseException | None:
        """Return what ended the crawl against its will."""
        return self.recording_loop.failure or (self.dispatcher.failure if self.dispatcher else None)

    @property
    def spider(self) -> Spider:
        """Return the spider that the crawler runs."""
        spider = self._crawler.spider
        if spider is None:
            raise RuntimeError("the crawler has no spider yet")
        return spider

    @property
    def is_draw_pending(self) -> bool:
        """Whether the pages that are due now are still to be drawn."""
        return self._pages != "off" and not self.recording_loop.has_drawn

    def open_spider(self, spider: Spider) -> Deferred[None] | None:
        """Open the queue of someone's own spider."""
        if not self.is_embedded:
            return None
        self._opened = monotonic_seconds()
        self.spider_requests = SpiderRequestFeed(
            self._crawler,
            self.recording_loop,
            self.clock,
            self.enqueue,
            is_claiming=self._pages != "off",
        )
        return self.spider_requests.open(spider)

    def start_job(self, errand: FetchJob) -> None:
        """Send an errand on its way; where that is impossible, its page gets an outcome."""
        self.host_schedule.add_page(errand.host)
        callback = None if self._pages == "parse" else _unheard
        try:
            canonical_web_url(errand.url)
        except ValueError as error:
            self._fail(errand, errand.budget_day, f"its URL {error}")
            return
        try:
            request = request_for_job(errand, _unheard, callback)
        except Exception as error:
            log.exception("%s: building its request failed", errand.url)
            self._fail(
                errand, errand.budget_day, describe_fault(error, "while its request was built")
            )
            return
        self.request_queue.add(request, errand.host, errand.not_before)

    def fail_request(self, request: Request, error: Exception) -> None:
        """Let a visit fail whose end could not be recorded."""
        trip = context_of(request)
        if trip.job is not None and not trip.is_recorded:
            trip.is_recorded = True
            self._fail(trip.job, trip.budget_day, describe_fault(error, "with its request"))

    def _fail(self, errand: FetchJob, day: str, why: str) -> None:
        """Let a visit fail that could not be begun."""
        self.recording_loop.add_result(unsent_result(errand, day, why, self.clock.now()))

    def enqueue(self, request: Request) -> bool:
        """Let a request wait for its host; return whether the host can be asked before long."""
        host = host_of(request)
        if not context_of(request).hops:
            self.host_schedule.add_page(host)
        self.request_queue.add(request, host)
        return not self.host_schedule.is_resting(host, to_epoch(self.clock.now()))

    def end_turn(self, request: Request, *, was_sent: bool = True) -> None:
        """Note that a request has ended, whatever came of it.

        Its host's delay runs from here on: it may have gone out later than it was let go.
        """
        trip, host = context_of(request), host_of(request)
        if trip.has_turn:
            trip.has_turn = False
            if was_sent:
                self.host_schedule.start_delay(host, to_epoch(self.clock.now()))
            self.request_queue.finish(host)

    async def take_turn(self, request: Request) -> None:
        """Wait for the turn of a request's host, unless the request has waited for it already.

        This stands before every download, so that no request goes around its host's delay.
        """
        trip = context_of(request)
        if trip.has_turn:
            return
        host = host_of(request)
        turn = asyncio.ensure_future(self.request_queue.wait_turn(host))
        began = monotonic_seconds()
        try:
            while not turn.done():
                self._require_turn(request, host, monotonic_seconds() - began)
                await asyncio.wait({turn}, timeout=ENDING_CHECK_SECONDS)
        except BaseException:
            if not turn.cancel():
                self.request_queue.finish(host)
            raise
        trip.has_turn = True

    def _require_turn(self, request: Request, host: str, waited: float) -> None:
        """Raise an error where a request has no turn to wait for."""
        if self._is_ending():
            raise CrawlEndedError("the crawl ended before it was asked for")
        opening = self.host_schedule.open_from(host, to_epoch(self.clock.now()))
        wait = self.clock.seconds_until(from_epoch(opening))
        is_robots = ROBOTS_KEY in request.meta
        longest = MAX_ROBOTS_WAIT_SECONDS if is_robots else self.settings.politeness.longest_delay
        if wait > longest or (is_robots and waited > longest):
            raise RobotsDisallowedError(f"{host} is to be left alone for now")

    def pass_turn(self, page: Request, robots: Request) -> None:
        """Let a request for a host's robots.txt go in place of the page that has the turn."""
        trip = context_of(page)
        if host_of(page) == host_of(robots):
            context_of(robots).has_turn, trip.has_turn = trip.has_turn, False

    @contextmanager
    def awaiting_robots(self, host: str) -> Iterator[None]:
        """Hold back a host's pages while its robots.txt is asked for.

        A page that waits for the answer takes no place among the concurrent requests meanwhile.
        """
        self.pages_awaiting_robots += 1
        try:
            with self.request_queue.hold(host):
                yield
        finally:
            self.pages_awaiting_robots -= 1

    def abandon(self, request: Request) -> None:
        """Take back a visit that the end of the crawl overtook."""
        trip = context_of(request)
        if trip.job and not trip.hops:
            self.run_in_background(self.recording_loop.return_jobs([trip.job]))
        else:
            self.end_at_redirect(request, "the crawl ended before it was followed")

    def return_host_jobs(self, host: str) -> None:
        """Give back the errands that wait for a host which has closed; other requests wait on."""
        left = self.request_queue.withdraw(host)
        errands = _unsent(left)
        for request in left:
            trip = context_of(request)
            if trip.job is None or trip.hops:
                self.request_queue.add(request, host)
            if trip.job is None and self.is_embedded:
                self.spider_requests.put_aside(request)
        self.run_in_background(self.recording_loop.return_jobs(errands))

    def stop(self, why: str) -> None:
        """End the crawl; what is under way is still recorded."""
        self._is_stopped = True
        engine = self._crawler.engine
        if engine is not None and engine.spider is not None:
            self.run_in_background(engine.close_spider_async(reason=why))

    async def close(self, reason: str) -> None:
        """Record what is finished, give back what waits, and let go of the collection."""
        if self.is_embedded:
            await self.spider_requests.close(reason, self._halt)
        waiting = [*self._left, *self.request_queue.stop(), *self.ready_requests]
        for request in waiting:
            self.end_at_redirect(request, "the crawl ended before it was followed")
        await self.recording_loop.close(_unsent(waiting))
        if self.is_embedded and self.failure is not None:
            log.error("The crawl was stopped: %s", self.failure)
        if self.dispatcher is not None:
            self.dispatcher.close()
        if self.is_embedded:
            self.collection_thread.close()

    def _halt(self) -> list[Request]:
        """Let nothing go any more; return what waits of someone's own spider."""
        waiting = [*self.request_queue.stop(), *self.ready_requests]
        self.ready_requests.clear()
        self._left = [request for request in waiting if context_of(request).job]
        return [request for request in waiting if not context_of(request).job]

    def _claims(self) -> list[str]:
        return self.spider_requests.take_claims() if self.is_embedded else []

    def _has_drawn(self) -> None:
        if self.is_embedded:
            wake_engine(self._crawler)

    def _may_draw(self) -> bool:
        """Whether pages may be drawn: a spider's start requests come first, to serve both."""
        engine = self._crawler.engine
        if not self.is_embedded or self._pages == "off" or engine is None:
            return not self.is_embedded
        return (
            engine._start is None or monotonic_seconds() - self._opened > MAX_SPIDER_START_SECONDS
        )

    def _is_ending(self) -> bool:
        """Whether the crawl was asked to end, or has come to its end."""
        return self._is_stopped or not self._crawler.crawling

    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> None:
        """Let work go on beside everything else."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _release(self, request: Request) -> bool:
        """Let a request that has waited go, unless yesterday's budget was to pay for it."""
        trip = context_of(request)
        trip.has_turn = True
        if self._is_of_another_day(request):
            self.end_turn(request, was_sent=False)
            self.rebook(request)
            return False
        if not trip.hops:
            trip.sent_at = self.clock.now()
        engine = self._crawler.engine
        if trip.job is None:
            self.ready_requests.append(request)
            wake_engine(self._crawler)
        elif engine is not None:
            engine.crawl(request)
        return True

    def require_budget_day(self, request: Request) -> None:
        """Raise DayOver where the day that was to pay for a request has ended.

        This stands where a request goes out, when its connection is there: it may have waited since
        it was let go, for a place among the concurrent requests, a robots.txt or the connection.
        """
        if self._is_of_another_day(request):
            raise BudgetDayOverError("the day that was to pay for it has ended")

    def _is_of_another_day(self, request: Request) -> bool:
        day = context_of(request).budget_day
        return bool(day) and day != utc_day(self.clock.now())

    def rebook(self, request: Request) -> None:
        """See to a request that yesterday's budget was to pay for, and that did not go out.

        One that is its errand's first is given back; one that follows a redirect is paid for today,
        and where nothing is left for it the redirect is the end of the visit. A spider's own waits
        until a budget pays for it.
        """
        errand = context_of(request).job
        if errand is not None:
            self.run_in_background(self._pay_anew(request, errand))
        else:
            self.spider_requests.book_request(request)

    async def _pay_anew(self, request: Request, errand: FetchJob) -> None:
        if not context_of(request).hops:
            await self.recording_loop.return_jobs([errand])
        elif await self.recording_loop.book_requests(1):
            self.enqueue(retried_request(request, utc_day(self.clock.now())))
        else:
            self.end_at_redirect(request, "the day's budget has nothing left to follow it")

    def end_at_redirect(self, request: Request, why: str) -> None:
        """Let a redirect be the end of its visit."""
        trip = context_of(request)
        if trip.hops:
            arrival = observation_without_answer(request, Outcome.REDIRECT, why, self.clock.now())
            page = trip.job.page if trip.job else 0
            self.recording_loop.add_result(
                FetchResult(arrival, page, trip.budget_day, was_sent=False)
            )


def pages_setting(settings: BaseSettings) -> str:
    """Return what becomes of a collection's due pages in someone's project.

    In Scrapy's shell and in its check of contracts nothing is fetched that was not asked for.
    """
    value = str(settings.get(PAGES_SETTING, "record"))
    if value not in PAGES_CHOICES:
        raise SettingsError(f'{PAGES_SETTING}: {value!r} must be "record", "parse" or "off"')
    is_tool = settings.getbool("KEEP_ALIVE") or "SCRAPY_CHECK" in os.environ
    return "off" if is_tool else value


def _unsent(requests: Iterable[Request]) -> list[FetchJob]:
    """Return the errands of requests that wait, but for those of which a redirect was asked."""
    trips = map(context_of, requests)
    return [trip.job for trip in trips if trip.job and not trip.hops]


def _unheard(result: object) -> None:
    """Pass over an answer or a failure that the recorder has taken in."""
