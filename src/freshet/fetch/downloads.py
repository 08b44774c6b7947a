"""Scrapy's downloader, which tells when a request has ended, whatever way that came about."""

from typing import Any

from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from freshet.fetch.parts import parts_of
from freshet.fetch.record import Record


class Downloads(Downloader):
    """Lets no request end unnoticed, not even by an error in someone's middleware.

    Scrapy tells middlewares of errors while fetching, but not of those that other middlewares raise
    when they see the answer; a host would then be taken for busy for good, and a visit be lost.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._parts = parts_of(crawler)
        self._record = Record(self._parts)

    def fetch(self, request: Request, *arguments: Any) -> Deferred[Any]:
        """Fetch, and see to it that the end is taken in."""
        return super().fetch(request, *arguments).addBoth(self._ended, request)

    def _ended(self, result: Any, request: Request) -> Any:
        try:
            if isinstance(result, Failure) and result.value is not None:
                self._record.process_exception(request, result.value)
        finally:
            self._parts.leave(request)
        return result
