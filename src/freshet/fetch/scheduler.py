"""Scrapy's scheduler slot: due pages come from the plan, and every request waits for its host."""

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from freshet.fetch.request_context import context_of, new_context
from freshet.fetch.runtime import CrawlRuntime, runtime_of


class PlanScheduler(BaseScheduler):
    """Hands Scrapy the requests that have their host's turn.

    Scrapy's own scheduler keeps the requests of someone's own spider until they may be sent.
    """

    def __init__(self, runtime: CrawlRuntime) -> None:
        self._runtime = runtime
        self._environment = runtime.environment

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "PlanScheduler":
        """Create the scheduler of a crawler."""
        return cls(runtime_of(crawler))

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Start to draw from the plan."""
        opening = self._runtime.open_spider(spider)
        self._runtime.recording_loop.start()
        return opening

    def close(self, reason: str) -> Deferred[None]:
        """Record the finished visits and return the waiting jobs."""
        return deferred_from_coro(self._runtime.close(reason))

    def has_pending_requests(self) -> bool:
        """Whether there is more to come; Freshet's own crawl always has more."""
        runtime = self._runtime
        if not self._environment.is_embedded or runtime.requests.ready_requests:
            return True
        if runtime.spider_requests.has_pending():
            return True
        return bool(runtime.request_queue.load_by_host()) or runtime.is_draw_pending

    def enqueue_request(self, request: Request) -> bool:
        """Take a request: one with its host's turn is ready, any other is queued for its host."""
        context, requests = context_of(request), self._runtime.requests
        if context.is_recorded:
            # A spider has copied the meta of a finished request to this one.
            context = new_context(request)
        if context.has_turn:
            requests.ready_requests.append(request)
        elif context.job is not None or not self._environment.is_embedded:
            self._runtime.request_queue.enqueue(request)
        elif context.waited_for_robots:
            context.waited_for_robots = False
            self._runtime.spider_requests.enqueue_again(request)
        elif not self._runtime.spider_requests.add(request):
            requests.end_at_redirect(
                request, "the spider has already requested the redirect target"
            )
            return False
        return True

    def next_request(self) -> Request | None:
        """Return a request that is ready to be sent."""
        runtime, ready_requests = self._runtime, self._runtime.requests.ready_requests
        if self._environment.is_embedded and not ready_requests:
            runtime.spider_requests.take_requests()
        if not ready_requests:
            return None
        request = ready_requests.popleft()
        if self._environment.is_embedded:
            runtime.spider_requests.forget(request)
        return request
