"""Scrapy's scheduler slot: due pages come from the plan, and every request waits for its host."""

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from freshet.fetch.request_context import context_of, new_context
from freshet.fetch.runtime import CrawlRuntime, runtime_of


class PlanScheduler(BaseScheduler):
    """Hands Scrapy the requests whose time has come; nudges it so that none waits for its pulse.

    The requests of someone's own spider are kept by Scrapy's own scheduler until they may go.
    """

    def __init__(self, parts: CrawlRuntime) -> None:
        self._parts = parts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "PlanScheduler":
        """Make it for a crawler."""
        return cls(runtime_of(crawler))

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Begin to draw from the plan."""
        opening = self._parts.open_spider(spider)
        self._parts.recording_loop.start()
        return opening

    def close(self, reason: str) -> Deferred[None]:
        """Record what is finished and give back what waits."""
        return deferred_from_coro(self._parts.close(reason))

    def has_pending_requests(self) -> bool:
        """Whether there is more to come: always in Freshet's own crawl."""
        parts = self._parts
        if not parts.is_embedded or parts.ready_requests or parts.spider_requests.has_pending():
            return True
        return bool(parts.request_queue.load_by_host()) or parts.is_draw_pending

    def enqueue_request(self, request: Request) -> bool:
        """Take a request: one that has waited is ready, any other waits for its host."""
        trip = context_of(request)
        if trip.is_recorded:
            # A spider has handed the meta of a request that has ended on to the next one.
            trip = new_context(request)
        if trip.has_turn:
            self._parts.ready_requests.append(request)
        elif trip.job is not None or not self._parts.is_embedded:
            self._parts.enqueue(request)
        elif trip.waited_for_robots:
            trip.waited_for_robots = False
            self._parts.spider_requests.enqueue_again(request)
        elif not self._parts.spider_requests.add(request):
            self._parts.end_at_redirect(request, "the spider has asked for its end before")
            return False
        return True

    def next_request(self) -> Request | None:
        """Return a request whose time has come."""
        parts = self._parts
        if parts.is_embedded and not parts.ready_requests:
            parts.spider_requests.take_requests()
        if not parts.ready_requests:
            return None
        request = parts.ready_requests.popleft()
        if parts.is_embedded:
            parts.spider_requests.forget(request)
        return request
