"""Redirects: each is kept, paid for and followed, up to a limit and never in a circle."""

from contextlib import suppress

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from freshet.core.budget import utc_day
from freshet.core.clock import to_epoch
from freshet.fetch.network.redirect_target import redirect_target
from freshet.fetch.politeness.robots import ROBOTS_KEY
from freshet.fetch.record_middleware import RecordMiddleware, http_exchange, is_cached, is_visit
from freshet.fetch.request_context import (
    CONTEXT_KEY,
    context_of,
    continue_visit,
    redirected_request,
)
from freshet.fetch.runtime import CrawlRuntime, runtime_of
from freshet.view.url import page_address


class FollowRedirectsMiddleware:
    """A downloader middleware that follows redirects in place of Scrapy's own.

    Those that someone's own spider meets are followed as Scrapy does; the hops are kept.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._parts: CrawlRuntime = runtime_of(crawler)
        self._record = RecordMiddleware(self._parts)
        self._scrapy: RedirectMiddleware | None = None
        if self._parts.is_embedded:
            with suppress(NotConfigured):
                self._scrapy = RedirectMiddleware.from_crawler(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "FollowRedirectsMiddleware":
        """Make it for a crawler."""
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Follow a redirect; one that cannot be followed is the end of its visit."""
        if ROBOTS_KEY in request.meta:
            return response
        if context_of(request).job is None:
            return self._as_scrapy(request, response)
        return await self._follow(request, response)

    def _as_scrapy(self, request: Request, response: Response) -> Request | Response:
        """Follow a redirect of someone's own spider; the visit goes on where it leads.

        An answer to a form, or from the project's cache, is no visit, so one begins there.
        """
        if self._scrapy is None:
            return response
        following = self._scrapy.process_response(request, response)
        if not isinstance(following, Request):
            return following
        if is_visit(request) and not is_cached(request, response):
            if not self._is_offsite(following):
                return continue_visit(
                    request, following, response, http_exchange(request, response)
                )
            self._record.process_response(request, response)
        following.meta.pop(CONTEXT_KEY, None)
        return following

    def _is_offsite(self, request: Request) -> bool:
        """Whether Scrapy is about to drop a request, as the spider's domains leave it out."""
        offsite = self._crawler.get_downloader_middleware(OffsiteMiddleware)
        if offsite is None or request.dont_filter or request.meta.get("allow_offsite"):
            return False
        return not offsite.should_follow(request, self._parts.spider)

    async def _follow(self, request: Request, response: Response) -> Request | Response:
        target = redirect_target(response)
        if target is None:
            return response
        trip = context_of(request)
        limit = self._parts.settings.limits.redirects
        if len(trip.hops) >= limit or target in trip.followed_urls or target == request.url:
            return response
        if self._parts.host_schedule.is_closed(
            page_address(target).host, to_epoch(self._parts.clock.now())
        ):
            return response
        if trip.job is not None and not await self._parts.recording_loop.book_requests(1):
            return response
        day = utc_day(self._parts.clock.now())
        return redirected_request(request, target, response, http_exchange(request, response), day)
