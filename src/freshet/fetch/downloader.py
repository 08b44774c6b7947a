"""Scrapy's downloader: every request waits for its host's turn, and every end is recorded."""

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
    """Sends no request out of turn and records the end of each.

    Requests from the scheduler have their host's turn. Requests that code downloads directly (for
    robots.txt, in a pipeline) wait for it here. Scrapy tells middlewares of errors while fetching,
    but not of errors that other middlewares raise for the answer; without this class such a host
    would stay busy for good and the visit would be lost.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._requests = runtime_of(crawler).requests
        self._record_middleware = RecordMiddleware(runtime_of(crawler))

    def fetch(self, request: Request, *arguments: Any) -> Deferred[Any]:
        """Fetch a request in its host's turn and record its end."""
        if context_of(request).has_turn:
            return super().fetch(request, *arguments).addBoth(self._end, request)
        return deferred_from_coro(self._fetch_in_turn(request, *arguments))

    def needs_backout(self) -> bool:
        """Whether enough requests are active; pages that wait for a robots.txt do not count."""
        active_count = len(self.active) - self._requests.pages_awaiting_robots
        return 0 < self.total_concurrency <= active_count

    async def _fetch_in_turn(self, request: Request, *arguments: Any) -> Any:
        await self._requests.take_turn(request)
        return await maybe_deferred_to_future(self.fetch(request, *arguments))

    def _end(self, result: Any, request: Request) -> Any:
        try:
            if isinstance(result, Failure) and result.value is not None:
                self._record_middleware.process_exception(request, result.value)
        except Exception as error:
            log.exception("%s: recording how its request ended failed", request.url)
            self._requests.fail(request, error)
        finally:
            self._requests.end_turn(request)
        return result
