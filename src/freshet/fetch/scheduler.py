"""Scrapy's scheduler slot: due pages come from the plan, and every request waits for its host."""

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from freshet.fetch.request_context import begin_trip, trip_of
from freshet.fetch.runtime import Parts, parts_of


class Scheduler(BaseScheduler):
    """Hands Scrapy the requests whose time has come; nudges it so that none waits for its pulse.

    The requests of someone's own spider are kept by Scrapy's own scheduler until they may go.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Scheduler":
        """Make it for a crawler."""
        return cls(parts_of(crawler))

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Begin to draw from the plan."""
        opening = self._parts.open_spider(spider)
        self._parts.desk.begin()
        return opening

    def close(self, reason: str) -> Deferred[None]:
        """Record what is finished and give back what waits."""
        return deferred_from_coro(self._parts.close(reason))

    def has_pending_requests(self) -> bool:
        """Whether there is more to come: always in Freshet's own crawl."""
        parts = self._parts
        if not parts.is_guest or parts.ready or parts.spider_requests.has_pending():
            return True
        return bool(parts.pacing.waiting()) or parts.is_to_draw

    def enqueue_request(self, request: Request) -> bool:
        """Take a request: one that has waited is ready, any other waits for its host."""
        trip = trip_of(request)
        if trip.is_told:
            # A spider has handed the meta of a request that has ended on to the next one.
            trip = begin_trip(request)
        if trip.is_ready:
            self._parts.ready.append(request)
        elif trip.errand is not None or not self._parts.is_guest:
            self._parts.wait(request)
        elif trip.waits_again:
            trip.waits_again = False
            self._parts.spider_requests.wait_again(request)
        elif not self._parts.spider_requests.add(request):
            self._parts.leave_unfollowed(request, "the spider has asked for its end before")
            return False
        return True

    def next_request(self) -> Request | None:
        """Return a request whose time has come."""
        parts = self._parts
        if parts.is_guest and not parts.ready:
            parts.spider_requests.take()
        if not parts.ready:
            return None
        request = parts.ready.popleft()
        if parts.is_guest:
            parts.spider_requests.left(request)
        return request
