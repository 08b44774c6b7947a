"""Scrapy's scheduler slot: due pages come from the plan, and every request waits for its host."""

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import build_from_crawler, load_object
from twisted.internet.defer import Deferred

from freshet.fetch.parts import Parts, parts_of
from freshet.fetch.requests import begin_trip, trip_of


class Scheduler(BaseScheduler):
    """Hands Scrapy the requests whose time has come; nudges it so that none waits for its pulse."""

    def __init__(self, parts: Parts, filter_: BaseDupeFilter) -> None:
        self._parts = parts
        self._filter = filter_

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Scheduler":
        """Make it for a crawler, with the filter of doubles that the project uses."""
        kind = load_object(crawler.settings["DUPEFILTER_CLASS"])
        return cls(parts_of(crawler), build_from_crawler(kind, crawler))

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Begin to draw from the plan."""
        self._parts.desk.begin()
        return self._filter.open()

    def close(self, reason: str) -> Deferred[None]:
        """Record what is finished and give back what waits."""
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        self._filter.close(reason)
        await self._parts.close()

    def has_pending_requests(self) -> bool:
        """Whether there is more to come: always in Freshet's own crawl."""
        parts = self._parts
        if not parts.is_guest or parts.ready:
            return True
        return bool(parts.pacing.waiting()) or not parts.desk.has_drawn

    def enqueue_request(self, request: Request) -> bool:
        """Take a request: one that has waited is ready, any other waits for its host."""
        trip = trip_of(request)
        if trip.is_told:
            # A spider has handed the meta of a request that has ended on to the next one.
            trip = begin_trip(request)
        if trip.is_ready:
            self._parts.ready.append(request)
            return True
        if not request.dont_filter and self._filter.request_seen(request):
            self._filter.log(request, self._parts.spider)
            return False
        self._parts.wait(request)
        return True

    def next_request(self) -> Request | None:
        """Return a request whose time has come."""
        return self._parts.ready.popleft() if self._parts.ready else None
