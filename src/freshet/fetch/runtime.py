"""The objects of one crawl, created once for each Scrapy crawler."""

import logging
from collections.abc import Sequence
from pathlib import Path

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from twisted.internet.defer import Deferred

from freshet.core.clock import monotonic_seconds
from freshet.fetch.collection_thread import CollectionThread
from freshet.fetch.collection_writer import CollectionWriter
from freshet.fetch.environment import CrawlEnvironment
from freshet.fetch.event_dispatcher import EventDispatcher, EventListener
from freshet.fetch.politeness.request_queue import RequestQueue
from freshet.fetch.recording_loop import NO_LIMITS, CrawlLimits, RecordingLoop
from freshet.fetch.request_context import context_of
from freshet.fetch.request_lifecycle import RequestLifecycle, unsent_jobs
from freshet.fetch.spider_requests import SpiderRequestFeed

COLLECTION_SETTING = "FRESHET_COLLECTION"
BUDGET_SETTING = "FRESHET_BUDGET"

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
    """Owns the parts of a crawl.

    All parts use ``environment``. ``writer`` writes bookings and queued observations to the
    collection, ``requests`` moves each request from its job to its end, and ``recording_loop``
    records observations and draws jobs. Each part is given the parts that it uses; none knows the
    runtime.
    """

    def __init__(
        self,
        crawler: Crawler,
        collection_thread: CollectionThread,
        *,
        is_embedded: bool = False,
        limits: CrawlLimits = NO_LIMITS,
        listeners: Sequence[EventListener] = (),
    ) -> None:
        self.environment = CrawlEnvironment(crawler, collection_thread, is_embedded=is_embedded)
        crawler.freshet = self  # type: ignore[attr-defined]
        self.writer = CollectionWriter(self.environment)
        self.requests = RequestLifecycle(self.environment, self.writer)
        self.dispatcher = EventDispatcher(listeners, self.environment.stop) if listeners else None
        self.recording_loop = RecordingLoop(
            self.environment, self.writer, self.requests, self.dispatcher, limits
        )

    @property
    def request_queue(self) -> RequestQueue:
        """Return the queue of the requests that wait for their hosts."""
        return self.requests.request_queue

    @property
    def spider_requests(self) -> SpiderRequestFeed:
        """Return the requests of someone's own spider."""
        return self.requests.spider_requests

    @property
    def failure(self) -> BaseException | None:
        """Return the error that ended the crawl."""
        return self.writer.failure or (self.dispatcher.failure if self.dispatcher else None)

    @property
    def is_draw_pending(self) -> bool:
        """Whether the pages that are due now are not drawn yet."""
        return self.environment.pages_mode != "off" and not self.recording_loop.has_drawn

    def open_spider(self, spider: Spider) -> Deferred[None] | None:
        """Open the request queue of someone's own spider."""
        if not self.environment.is_embedded:
            return None
        self.environment.opened_at = monotonic_seconds()
        return self.spider_requests.open(spider)

    async def close(self, reason: str) -> None:
        """Record the finished visits, return the waiting jobs, and release the collection."""
        if self.environment.is_embedded:
            waiting_requests = await self._close_spider_requests(reason)
        else:
            waiting_requests = self.requests.stop()
        for request in waiting_requests:
            self.requests.end_at_redirect(request, "the crawl ended before it was followed")
        await self.recording_loop.close(unsent_jobs(waiting_requests))
        if self.environment.is_embedded and self.failure is not None:
            log.error("The crawl was stopped: %s", self.failure)
        if self.dispatcher is not None:
            self.dispatcher.close()
        if self.environment.is_embedded:
            self.environment.collection_thread.close()

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
