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

from freshet.core.budget import day_of
from freshet.core.clock import from_epoch, stopwatch, to_epoch
from freshet.core.errors import SettingsError
from freshet.core.types import Outcome
from freshet.crawl.fetch_job import Errand, Fetched, unfetched
from freshet.fetch.collection_thread import Worker
from freshet.fetch.event_dispatcher import Herald, Listener
from freshet.fetch.network.failures import CrawlEnded, DayOver, Disallowed
from freshet.fetch.politeness.host_schedule import HostClocks
from freshet.fetch.politeness.proxy_schedules import ProxiedHosts
from freshet.fetch.politeness.request_queue import Pacing
from freshet.fetch.politeness.robots import ROBOTS
from freshet.fetch.recording_loop import FOR_EVER, Desk, Limits, Outlook
from freshet.fetch.request_context import host_of, repeated, request_of, trip_of, unanswered
from freshet.fetch.spider_requests import SpiderRequests, nudge
from freshet.record.fault_isolation import fault_text
from freshet.view.url import web_page

COLLECTION = "FRESHET_COLLECTION"
BUDGET = "FRESHET_BUDGET"
# A robots.txt that redirects to a host which is not free within so many seconds cannot be had.
LONGEST_ROBOTS_WAIT = 60.0
ENDING_CHECK_SECONDS = 0.5
PAGES = "FRESHET_PAGES"
PAGES_CHOICES = ("record", "parse", "off")
# In a project pages are drawn when the spider's start requests are known, or after some seconds.
START_SECONDS = 5.0

log = logging.getLogger(__name__)


def parts_of(crawler: Crawler) -> "Parts":
    """Return a crawler's parts; in someone's own project they are made when first asked for."""
    found: Parts | None = getattr(crawler, "freshet", None)
    if found is not None:
        return found
    path = crawler.settings.get(COLLECTION)
    if not path:
        raise NotConfigured(f"set {COLLECTION} to the folder of a Freshet collection")
    budget = crawler.settings.get(BUDGET) or ""
    worker = Worker(Path(path), budget=budget, catch_up=True, once=True)
    worker.open()
    return Parts(crawler, worker, is_guest=True)


class Parts:
    """Worker, host clocks, pacing and desk of a crawl, and how they meet Scrapy's engine.

    ``is_guest`` says that the crawl is someone else's: it ends when their spider and what is due
    are done. Their spider's requests are kept by ``spider_requests``.
    """

    spider_requests: SpiderRequests

    def __init__(
        self,
        crawler: Crawler,
        worker: Worker,
        *,
        is_guest: bool = False,
        limits: Limits = FOR_EVER,
        listeners: Sequence[Listener] = (),
    ) -> None:
        crawler.freshet = self  # type: ignore[attr-defined]
        self._crawler = crawler
        self.is_guest = is_guest
        self._is_stopped = False
        self.set_aside = 0
        self._pages = pages_setting(crawler.settings) if is_guest else "parse"
        self._opened = stopwatch()
        self._left: list[Request] = []
        self.refused: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.worker = worker
        self.clock = worker.clock
        self.settings = worker.settings
        self.hosts = HostClocks(worker.settings.politeness)
        self.hosts.load(worker.begun.hosts, worker.begun.without_pages)
        self.proxied = ProxiedHosts(worker.settings.politeness)
        if worker.begun.died is not None:
            self.hosts.start_all(to_epoch(worker.begun.died))
        self.ready: deque[Request] = deque()
        self.pacing = Pacing(
            self.hosts, self.clock, worker.settings.politeness.per_host, self._release
        )
        self.herald = Herald(listeners, self.stop) if listeners else None
        told = (self.herald,) if self.herald else ()
        outlook = Outlook(
            self.pacing.waiting, self.pacing.queue, self.run, self.stop, self._is_ending,
            self._claims, self._may_draw, self._has_drawn, told,
        )  # fmt: skip
        self.desk = Desk(worker, self.hosts, outlook, limits)

    @property
    def failure(self) -> BaseException | None:
        """Return what ended the crawl against its will."""
        return self.desk.failure or (self.herald.failure if self.herald else None)

    @property
    def spider(self) -> Spider:
        """Return the spider that the crawler runs."""
        spider = self._crawler.spider
        if spider is None:
            raise RuntimeError("the crawler has no spider yet")
        return spider

    @property
    def is_to_draw(self) -> bool:
        """Whether the pages that are due now are still to be drawn."""
        return self._pages != "off" and not self.desk.has_drawn

    def open_spider(self, spider: Spider) -> Deferred[None] | None:
        """Open the queue of someone's own spider."""
        if not self.is_guest:
            return None
        self._opened = stopwatch()
        self.spider_requests = SpiderRequests(
            self._crawler, self.desk, self.clock, self.wait, is_claiming=self._pages != "off"
        )
        return self.spider_requests.open(spider)

    def run(self, errand: Errand) -> None:
        """Send an errand on its way; where that is impossible, its page gets an outcome."""
        self.hosts.add_page(errand.host)
        callback = None if self._pages == "parse" else _unheard
        try:
            web_page(errand.url)
        except ValueError as error:
            self._fail(errand, errand.day, f"its URL {error}")
            return
        try:
            request = request_of(errand, _unheard, callback)
        except Exception as error:
            log.exception("%s: building its request failed", errand.url)
            self._fail(errand, errand.day, fault_text(error, "while its request was built"))
            return
        self.pacing.wait(request, errand.host, errand.start)

    def fail(self, request: Request, error: Exception) -> None:
        """Let a visit fail whose end could not be recorded."""
        trip = trip_of(request)
        if trip.errand is not None and not trip.is_told:
            trip.is_told = True
            self._fail(trip.errand, trip.day, fault_text(error, "with its request"))

    def _fail(self, errand: Errand, day: str, why: str) -> None:
        """Let a visit fail that could not be begun."""
        self.desk.finished(unfetched(errand, day, why, self.clock.now()))

    def wait(self, request: Request) -> bool:
        """Let a request wait for its host; return whether the host can be asked before long."""
        host = host_of(request)
        if not trip_of(request).hops:
            self.hosts.add_page(host)
        self.pacing.wait(request, host)
        return not self.hosts.is_resting(host, to_epoch(self.clock.now()))

    def leave(self, request: Request, *, was_sent: bool = True) -> None:
        """Note that a request has ended, whatever came of it.

        Its host's delay runs from here on: it may have gone out later than it was let go.
        """
        trip, host = trip_of(request), host_of(request)
        if trip.is_ready:
            trip.is_ready = False
            if was_sent:
                self.hosts.start(host, to_epoch(self.clock.now()))
            self.pacing.finish(host)

    async def take_turn(self, request: Request) -> None:
        """Wait for the turn of a request's host, unless the request has waited for it already.

        This stands before every download, so that no request goes around its host's delay.
        """
        trip = trip_of(request)
        if trip.is_ready:
            return
        host = host_of(request)
        turn = asyncio.ensure_future(self.pacing.turn(host))
        began = stopwatch()
        try:
            while not turn.done():
                self._require_turn(request, host, stopwatch() - began)
                await asyncio.wait({turn}, timeout=ENDING_CHECK_SECONDS)
        except BaseException:
            if not turn.cancel():
                self.pacing.finish(host)
            raise
        trip.is_ready = True

    def _require_turn(self, request: Request, host: str, waited: float) -> None:
        """Raise an error where a request has no turn to wait for."""
        if self._is_ending():
            raise CrawlEnded("the crawl ended before it was asked for")
        opening = self.hosts.open_from(host, to_epoch(self.clock.now()))
        wait = self.clock.seconds_until(from_epoch(opening))
        is_robots = ROBOTS in request.meta
        longest = LONGEST_ROBOTS_WAIT if is_robots else self.settings.politeness.longest_delay
        if wait > longest or (is_robots and waited > longest):
            raise Disallowed(f"{host} is to be left alone for now")

    def hand_over(self, page: Request, robots: Request) -> None:
        """Let a request for a host's robots.txt go in place of the page that has the turn."""
        trip = trip_of(page)
        if host_of(page) == host_of(robots):
            trip_of(robots).is_ready, trip.is_ready = trip.is_ready, False

    @contextmanager
    def asking(self, host: str) -> Iterator[None]:
        """Hold back a host's pages while its robots.txt is asked for.

        A page that waits for the answer takes no place among the concurrent requests meanwhile.
        """
        self.set_aside += 1
        try:
            with self.pacing.held(host):
                yield
        finally:
            self.set_aside -= 1

    def give_up(self, request: Request) -> None:
        """Take back a visit that the end of the crawl overtook."""
        trip = trip_of(request)
        if trip.errand and not trip.hops:
            self.later(self.desk.give_back([trip.errand]))
        else:
            self.leave_unfollowed(request, "the crawl ended before it was followed")

    def send_back(self, host: str) -> None:
        """Give back the errands that wait for a host which has closed; other requests wait on."""
        left = self.pacing.withdraw(host)
        errands = _unsent(left)
        for request in left:
            trip = trip_of(request)
            if trip.errand is None or trip.hops:
                self.pacing.wait(request, host)
            if trip.errand is None and self.is_guest:
                self.spider_requests.put_aside(request)
        self.later(self.desk.give_back(errands))

    def stop(self, why: str) -> None:
        """End the crawl; what is under way is still recorded."""
        self._is_stopped = True
        engine = self._crawler.engine
        if engine is not None and engine.spider is not None:
            self.later(engine.close_spider_async(reason=why))

    async def close(self, reason: str) -> None:
        """Record what is finished, give back what waits, and let go of the collection."""
        if self.is_guest:
            await self.spider_requests.close(reason, self._halt)
        waiting = [*self._left, *self.pacing.stop(), *self.ready]
        for request in waiting:
            self.leave_unfollowed(request, "the crawl ended before it was followed")
        await self.desk.close(_unsent(waiting))
        if self.is_guest and self.failure is not None:
            log.error("The crawl was stopped: %s", self.failure)
        if self.herald is not None:
            self.herald.close()
        if self.is_guest:
            self.worker.close()

    def _halt(self) -> list[Request]:
        """Let nothing go any more; return what waits of someone's own spider."""
        waiting = [*self.pacing.stop(), *self.ready]
        self.ready.clear()
        self._left = [request for request in waiting if trip_of(request).errand]
        return [request for request in waiting if not trip_of(request).errand]

    def _claims(self) -> list[str]:
        return self.spider_requests.claims() if self.is_guest else []

    def _has_drawn(self) -> None:
        if self.is_guest:
            nudge(self._crawler)

    def _may_draw(self) -> bool:
        """Whether pages may be drawn: a spider's start requests come first, to serve both."""
        engine = self._crawler.engine
        if not self.is_guest or self._pages == "off" or engine is None:
            return not self.is_guest
        return engine._start is None or stopwatch() - self._opened > START_SECONDS

    def _is_ending(self) -> bool:
        """Whether the crawl was asked to end, or has come to its end."""
        return self._is_stopped or not self._crawler.crawling

    def later(self, work: Coroutine[Any, Any, Any]) -> None:
        """Let work go on beside everything else."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _release(self, request: Request) -> bool:
        """Let a request that has waited go, unless yesterday's budget was to pay for it."""
        trip = trip_of(request)
        trip.is_ready = True
        if self._is_of_another_day(request):
            self.leave(request, was_sent=False)
            self.pay_anew(request)
            return False
        if not trip.hops:
            trip.sent = self.clock.now()
        engine = self._crawler.engine
        if trip.errand is None:
            self.ready.append(request)
            nudge(self._crawler)
        elif engine is not None:
            engine.crawl(request)
        return True

    def require_day(self, request: Request) -> None:
        """Raise DayOver where the day that was to pay for a request has ended.

        This stands where a request goes out, when its connection is there: it may have waited since
        it was let go, for a place among the concurrent requests, a robots.txt or the connection.
        """
        if self._is_of_another_day(request):
            raise DayOver("the day that was to pay for it has ended")

    def _is_of_another_day(self, request: Request) -> bool:
        day = trip_of(request).day
        return bool(day) and day != day_of(self.clock.now())

    def pay_anew(self, request: Request) -> None:
        """See to a request that yesterday's budget was to pay for, and that did not go out.

        One that is its errand's first is given back; one that follows a redirect is paid for today,
        and where nothing is left for it the redirect is the end of the visit. A spider's own waits
        until a budget pays for it.
        """
        errand = trip_of(request).errand
        if errand is not None:
            self.later(self._pay_anew(request, errand))
        else:
            self.spider_requests.pay(request)

    async def _pay_anew(self, request: Request, errand: Errand) -> None:
        if not trip_of(request).hops:
            await self.desk.give_back([errand])
        elif await self.desk.book(1):
            self.wait(repeated(request, day_of(self.clock.now())))
        else:
            self.leave_unfollowed(request, "the day's budget has nothing left to follow it")

    def leave_unfollowed(self, request: Request, why: str) -> None:
        """Let a redirect be the end of its visit."""
        trip = trip_of(request)
        if trip.hops:
            arrival = unanswered(request, Outcome.REDIRECT, why, self.clock.now())
            page = trip.errand.page if trip.errand else 0
            self.desk.finished(Fetched(arrival, page, trip.day, asked=False))


def pages_setting(settings: BaseSettings) -> str:
    """Return what becomes of a collection's due pages in someone's project.

    In Scrapy's shell and in its check of contracts nothing is fetched that was not asked for.
    """
    value = str(settings.get(PAGES, "record"))
    if value not in PAGES_CHOICES:
        raise SettingsError(f'{PAGES}: {value!r} must be "record", "parse" or "off"')
    is_tool = settings.getbool("KEEP_ALIVE") or "SCRAPY_CHECK" in os.environ
    return "off" if is_tool else value


def _unsent(requests: Iterable[Request]) -> list[Errand]:
    """Return the errands of requests that wait, but for those of which a redirect was asked."""
    trips = map(trip_of, requests)
    return [trip.errand for trip in trips if trip.errand and not trip.hops]


def _unheard(result: object) -> None:
    """Pass over an answer or a failure that the recorder has taken in."""
