"""The objects of one crawl, created once for each Scrapy crawler."""

import asyncio
import logging
import os
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.internet.defer import Deferred

from freshet.core.clock import monotonic_seconds, to_epoch
from freshet.core.errors import SettingsError
from freshet.fetch.collection_thread import CollectionThread
from freshet.fetch.event_dispatcher import EventDispatcher, EventListener
from freshet.fetch.network.failures import CrawlEndedError
from freshet.fetch.politeness.host_schedule import HostSchedule
from freshet.fetch.politeness.proxy_schedules import ProxySchedules
from freshet.fetch.politeness.request_queue import RequestQueue
from freshet.fetch.recording_loop import NO_LIMITS, CrawlLimits, RecordingLoop
from freshet.fetch.request_context import context_of
from freshet.fetch.request_lifecycle import RequestLifecycle, unsent_jobs
from freshet.fetch.spider_requests import SpiderRequestFeed

COLLECTION_SETTING = "FRESHET_COLLECTION"
BUDGET_SETTING = "FRESHET_BUDGET"
PAGES_SETTING = "FRESHET_PAGES"
PAGES_CHOICES = ("record", "parse", "off")
# In a Scrapy project pages are drawn after the spider's start requests, or after this time.
MAX_SPIDER_START_SECONDS = 5.0

log = logging.getLogger(__name__)


def runtime_of(crawler: Crawler) -> "CrawlRuntime":
    """Return the runtime of a crawler; in a Scrapy project the first call creates it."""
    runtime: CrawlRuntime | None = getattr(crawler, "freshet", None)
    if runtime is not None:
        return runtime
    path = crawler.settings.get(COLLECTION_SETTING)
    if not path:
        raise NotConfigured(f"set {COLLECTION_SETTING} to the folder of a Freshet collection")
    budget = crawler.settings.get(BUDGET_SETTING) or ""
    collection_thread = CollectionThread(Path(path), budget=budget, catch_up=True, once=True)
    collection_thread.open()
    return CrawlRuntime(crawler, collection_thread, is_embedded=True)


class CrawlRuntime:
    """Owns the parts of a crawl; each part reaches the others through it.

    ``collection_thread`` owns the collection and its crawl session, ``host_schedule`` says when a
    host may be asked, ``request_queue`` holds waiting requests, ``requests`` moves each request
    from its job to its end, ``recording_loop`` records observations and draws jobs.

    ``is_embedded`` is True in someone's own Scrapy project: the crawl ends when their spider and
    the due pages are done, and ``spider_requests`` holds their spider's requests. ``pages_mode``
    is the project's setting FRESHET_PAGES.
    """

    spider_requests: SpiderRequestFeed

    def __init__(
        self,
        crawler: Crawler,
        collection_thread: CollectionThread,
        *,
        is_embedded: bool = False,
        limits: CrawlLimits = NO_LIMITS,
        listeners: Sequence[EventListener] = (),
    ) -> None:
        crawler.freshet = self  # type: ignore[attr-defined]
        self.crawler = crawler
        self.is_embedded = is_embedded
        self.pages_mode = pages_setting(crawler.settings) if is_embedded else "parse"
        self.collection_thread = collection_thread
        self.clock = collection_thread.clock
        self.settings = collection_thread.settings
        politeness, start_state = self.settings.politeness, collection_thread.start_state
        self.host_schedule = HostSchedule(politeness)
        self.host_schedule.load(start_state.host_states, start_state.hosts_without_pages)
        if start_state.last_death is not None:
            self.host_schedule.delay_all(to_epoch(start_state.last_death))
        self.proxy_schedules = ProxySchedules(politeness)
        self.requests = RequestLifecycle(self)
        self.request_queue = RequestQueue(
            self.host_schedule, self.clock, politeness.per_host, self.requests.release
        )
        self.dispatcher = EventDispatcher(listeners, self.stop) if listeners else None
        self.recording_loop = RecordingLoop(self, limits)
        self.refused_hosts: set[str] = set()
        self._is_stopped = False
        self._opened_at = monotonic_seconds()
        self._background_tasks: set[asyncio.Task[Any]] = set()

    @property
    def failure(self) -> BaseException | None:
        """Return the error that ended the crawl."""
        return self.recording_loop.failure or (self.dispatcher.failure if self.dispatcher else None)

    @property
    def spider(self) -> Spider:
        """Return the spider that the crawler runs."""
        spider = self.crawler.spider
        if spider is None:
            raise RuntimeError("the crawler has no spider yet")
        return spider

    @property
    def is_ending(self) -> bool:
        """Whether the crawl was asked to end, or has ended."""
        return self._is_stopped or not self.crawler.crawling

    @property
    def may_draw(self) -> bool:
        """Whether pages may be drawn now.

        In a Scrapy project the spider's start requests come first, so that one request serves both.
        """
        engine = self.crawler.engine
        if not self.is_embedded or self.pages_mode == "off" or engine is None:
            return not self.is_embedded
        elapsed_seconds = monotonic_seconds() - self._opened_at
        return engine._start is None or elapsed_seconds > MAX_SPIDER_START_SECONDS

    @property
    def is_draw_pending(self) -> bool:
        """Whether the pages that are due now are not drawn yet."""
        return self.pages_mode != "off" and not self.recording_loop.has_drawn

    def open_spider(self, spider: Spider) -> Deferred[None] | None:
        """Open the request queue of someone's own spider."""
        if not self.is_embedded:
            return None
        self._opened_at = monotonic_seconds()
        self.spider_requests = SpiderRequestFeed(self)
        return self.spider_requests.open(spider)

    async def download(self, request: Request) -> Response:
        """Download a request at once, as for a robots.txt."""
        if self.crawler.engine is None:
            raise CrawlEndedError("the crawl has ended")
        return await self.crawler.engine.download_async(request)

    def wake_engine(self) -> None:
        """Make Scrapy's engine ask for requests now instead of at its next heartbeat."""
        engine = self.crawler.engine
        if engine is not None and engine._slot is not None:
            engine._slot.nextcall.schedule()

    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine as a task."""
        task = asyncio.get_running_loop().create_task(work)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)

    def stop(self, reason: str) -> None:
        """End the crawl; requests under way are still recorded."""
        self._is_stopped = True
        engine = self.crawler.engine
        if engine is not None and engine.spider is not None:
            self.run_in_background(engine.close_spider_async(reason=reason))

    async def close(self, reason: str) -> None:
        """Record the finished visits, return the waiting jobs, and release the collection."""
        if self.is_embedded:
            waiting_requests = await self._close_spider_requests(reason)
        else:
            waiting_requests = self.requests.stop()
        for request in waiting_requests:
            self.requests.end_at_redirect(request, "the crawl ended before it was followed")
        await self.recording_loop.close(unsent_jobs(waiting_requests))
        if self.is_embedded and self.failure is not None:
            log.error("The crawl was stopped: %s", self.failure)
        if self.dispatcher is not None:
            self.dispatcher.close()
        if self.is_embedded:
            self.collection_thread.close()

    async def _close_spider_requests(self, reason: str) -> list[Request]:
        """Put the spider's waiting requests back into its queue; return those of jobs."""
        await self.spider_requests.stop_booking()
        waiting_requests = self.requests.stop()
        booked = [request for request in waiting_requests if not context_of(request).job]
        await self.spider_requests.close(reason, booked)
        late_requests = self.requests.stop()
        return [
            *(request for request in waiting_requests if context_of(request).job),
            *late_requests,
        ]


def pages_setting(settings: BaseSettings) -> str:
    """Return how a Scrapy project treats the due pages of the collection.

    Scrapy's shell and its contract checks fetch only the requested URLs.
    """
    value = str(settings.get(PAGES_SETTING, "record"))
    if value not in PAGES_CHOICES:
        raise SettingsError(f'{PAGES_SETTING}: {value!r} must be "record", "parse" or "off"')
    is_tool = settings.getbool("KEEP_ALIVE") or "SCRAPY_CHECK" in os.environ
    return "off" if is_tool else value
