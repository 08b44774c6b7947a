"""Freshet's own spider: it makes no requests itself; all come from the plan."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Spider
from scrapy.http import Response


class CollectionSpider(Spider):
    """Crawls the pages of a collection."""

    name = "freshet"

    async def start(self) -> AsyncIterator[Any]:
        """Yield nothing: the scheduler draws the due pages."""
        nothing: tuple[Any, ...] = ()
        for item in nothing:
            yield item

    def parse(self, response: Response, **options: Any) -> None:
        """Ignore an answer: it was recorded by the middleware."""
