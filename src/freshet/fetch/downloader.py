"""Scrapy's downloader: every request has its host's turn, and its end is noticed."""

import logging
from typing import Any

from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from freshet.fetch.record_middleware import RecordMiddleware
from freshet.fetch.request_context import context_of
from freshet.fetch.runtime import runtime_of

log = logging.getLogger(__name__)


class PoliteDownloader(Downloader):
    """Lets no request go out of turn, and none end unnoticed, whoever makes it.

    Requests that come from the scheduler have waited for their host; those that someone downloads
    at once (for robots.txt, in a pipeline) wait here. Scrapy tells middlewares of errors while
    fetching, but not of those that other middlewares raise when they see the answer; a host would
    then be taken for busy for good, and a visit be lost.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._parts = runtime_of(crawler)
        self._record = RecordMiddleware(self._parts)

    def fetch(self, request: Request, *arguments: Any) -> Deferred[Any]:
        """Fetch in turn, and see to it that the end is taken in."""
        if context_of(request).has_turn:
            return super().fetch(request, *arguments).addBoth(self._ended, request)
        return deferred_from_coro(self._fetch_in_turn(request, *arguments))

    def needs_backout(self) -> bool:
        """Whether there are requests enough; pages that wait for a robots.txt are none."""
        return 0 < self.total_concurrency <= len(self.active) - self._parts.pages_awaiting_robots

    async def _fetch_in_turn(self, request: Request, *arguments: Any) -> Any:
        await self._parts.take_turn(request)
        return await maybe_deferred_to_future(self.fetch(request, *arguments))

    def _ended(self, result: Any, request: Request) -> Any:
        try:
            if isinstance(result, Failure) and result.value is not None:
                self._record.process_exception(request, result.value)
        except Exception as error:
            log.exception("%s: recording how its request ended failed", request.url)
            self._parts.fail_request(request, error)
        finally:
            self._parts.end_turn(request)
        return result
