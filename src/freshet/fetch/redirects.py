"""Redirects: each is kept, paid for and followed, up to a limit and never in a circle."""

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from freshet.core.budget import day_of
from freshet.core.clock import to_epoch
from freshet.fetch.parts import Parts, parts_of
from freshet.fetch.record import http_of
from freshet.fetch.requests import onward, trip_of
from freshet.fetch.robots import ROBOTS
from freshet.fetch.targets import target_of
from freshet.view.url import place


class Redirects:
    """A downloader middleware that follows redirects in place of Scrapy's own."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Redirects":
        """Make it for a crawler."""
        return cls(parts_of(crawler))

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Follow a redirect; one that cannot be followed is the end of its visit."""
        target = target_of(response)
        if target is None or ROBOTS in request.meta or request.meta.get("dont_redirect"):
            return response
        trip = trip_of(request)
        limit = self._parts.settings.limits.redirects
        if len(trip.hops) >= limit or target in trip.passed or target == request.url:
            return response
        if self._is_closed(place(target).host):
            return response
        if trip.errand is not None and not await self._parts.desk.book(1):
            return response
        day = day_of(self._parts.clock.now())
        return onward(request, target, response, http_of(request, response), day)

    def _is_closed(self, host: str) -> bool:
        """Whether a host is to be left alone for longer than any delay."""
        now = to_epoch(self._parts.clock.now())
        wait = self._parts.hosts.open_from(host, now) - now
        return wait > self._parts.settings.politeness.longest_delay
