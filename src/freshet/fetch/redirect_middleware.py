"""Follows redirects: each is recorded and booked, up to a limit and never in a circle."""

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
from freshet.fetch.record_middleware import RecordMiddleware, http_exchange, is_cached, is_visit
from freshet.fetch.request_context import (
    CONTEXT_KEY,
    ROBOTS_KEY,
    context_of,
    continue_visit,
    redirected_request,
)
from freshet.fetch.runtime import runtime_of
from freshet.view.url import page_address


class FollowRedirectsMiddleware:
    """The downloader middleware that follows redirects in place of Scrapy's own.

    Redirects of someone's own spider are followed as Scrapy does, and their hops are recorded.
    """

    def __init__(self, crawler: Crawler) -> None:
        runtime = runtime_of(crawler)
        self._environment = runtime.environment
        self._writer = runtime.writer
        self._record_middleware = RecordMiddleware(runtime)
        self._scrapy_middleware: RedirectMiddleware | None = None
        if self._environment.is_embedded:
            with suppress(NotConfigured):
                self._scrapy_middleware = RedirectMiddleware.from_crawler(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "FollowRedirectsMiddleware":
        """Create the middleware of a crawler."""
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Follow a redirect; one that cannot be followed ends its visit."""
        if ROBOTS_KEY in request.meta:
            return response
        if context_of(request).job is None:
            return self._follow_as_scrapy(request, response)
        return await self._follow(request, response)

    def _follow_as_scrapy(self, request: Request, response: Response) -> Request | Response:
        """Follow a redirect of someone's own spider as part of the same visit.

        An answer to a form or from the project's cache is not a visit, so a new visit starts.
        """
        if self._scrapy_middleware is None:
            return response
        next_request = self._scrapy_middleware.process_response(request, response)
        if not isinstance(next_request, Request):
            return next_request
        if is_visit(request) and not is_cached(request, response):
            if not self._is_offsite(next_request):
                exchange = http_exchange(request, response)
                return continue_visit(request, next_request, response, exchange)
            self._record_middleware.process_response(request, response)
        next_request.meta.pop(CONTEXT_KEY, None)
        return next_request

    def _is_offsite(self, request: Request) -> bool:
        """Whether Scrapy will drop a request because it is outside the spider's domains."""
        offsite = self._environment.crawler.get_downloader_middleware(OffsiteMiddleware)
        if offsite is None or request.dont_filter or request.meta.get("allow_offsite"):
            return False
        return not offsite.should_follow(request, self._environment.spider)

    async def _follow(self, request: Request, response: Response) -> Request | Response:
        target = redirect_target(response)
        if target is None:
            return response
        context, environment = context_of(request), self._environment
        is_limit_reached = len(context.hops) >= environment.settings.limits.redirects
        if is_limit_reached or target in context.followed_urls or target == request.url:
            return response
        now = to_epoch(environment.clock.now())
        if environment.host_schedule.is_closed(page_address(target).host, now):
            return response
        if not await self._writer.book_requests(1):
            return response
        day = utc_day(environment.clock.now())
        return redirected_request(request, target, response, http_exchange(request, response), day)
