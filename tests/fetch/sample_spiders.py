"""Ordinary Scrapy spiders without any use of Freshet, each for a part of Scrapy."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar, Self

import scrapy
from scrapy.crawler import Crawler
from scrapy.http import FormRequest, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, CSVFeedSpider, Rule, SitemapSpider, XMLFeedSpider

Item = dict[str, Any]


class MarkingPipeline:
    """An item pipeline that marks items and drops some."""

    def process_item(self, item: Item) -> Item:
        if item.get("drop"):
            raise scrapy.exceptions.DropItem("not wanted")
        return item | {"passed": True}


class StopOnWarning:
    """An extension that closes the spider when a logger warns."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        handler = logging.Handler(logging.WARNING)
        handler.emit = self._stop  # type: ignore[method-assign]
        logging.getLogger(crawler.settings["STOPPING_LOGGER"]).addHandler(handler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _stop(self, _: logging.LogRecord) -> None:
        closing = self._crawler.engine.close_spider_async(reason="warned")
        self._task = asyncio.get_running_loop().create_task(closing)


class SiteSpider:
    """A spider of the site at ``base``, which stays on it."""

    base: str
    allowed_domains: ClassVar[list[str]] = ["127.0.0.1"]


class LinkFollowingSpider(SiteSpider, scrapy.Spider):
    """Follows every link, down to a depth; the filter of duplicates keeps it from circles."""

    name = "follow"
    custom_settings: ClassVar[Item] = {"DEPTH_LIMIT": 2}

    async def start(self) -> AsyncIterator[Any]:
        yield {"title": "an item before any request"}
        yield scrapy.Request(f"{self.base}/")

    def parse(self, response: Response) -> Iterator[Any]:
        title = response.css("title::text").get()
        yield {"title": title, "drop": title == "/about"}
        yield from response.follow_all(css="a", cb_kwargs={"since": title}, callback=self.later)

    def later(self, response: Response, since: str) -> Iterator[Any]:
        yield {"url": response.url.replace(self.base, ""), "depth": response.meta["depth"]}
        yield from response.follow_all(css="a", cb_kwargs={"since": since}, callback=self.later)


class RuleSpider(SiteSpider, CrawlSpider):
    """Follows links by rules."""

    name = "rules"
    rules = (
        Rule(LinkExtractor(allow=r"/list/"), follow=True),
        Rule(LinkExtractor(allow=r"/item/", deny=r"4$"), callback="parse_item"),
    )

    @property
    def start_urls(self) -> list[str]:
        return [f"{self.base}/"]

    def parse_item(self, response: Response) -> Item:
        return {"title": response.css("title::text").get()}


class SitemapItemSpider(SiteSpider, SitemapSpider):
    """Visits the URLs of a sitemap."""

    name = "mapped"
    sitemap_rules: ClassVar[Any] = [("/item/", "parse_item"), ("/list/", "parse_list")]

    @property
    def sitemap_urls(self) -> list[str]:
        return [f"{self.base}/sitemap.xml"]

    def parse_item(self, response: Response) -> Item:
        return {"item": response.css("title::text").get()}

    def parse_list(self, response: Response) -> Item:
        return {"list": response.css("title::text").get()}


class XmlFeedSpider(SiteSpider, XMLFeedSpider):
    """Reads the nodes of an XML file."""

    name = "feed"
    itertag = "item"

    @property
    def start_urls(self) -> list[str]:
        return [f"{self.base}/feed.xml"]

    def parse_node(self, response: Response, selector: Any) -> Item:
        return {
            "id": selector.xpath("id/text()").get(),
            "name": selector.xpath("name/text()").get(),
        }


class CsvTableSpider(SiteSpider, CSVFeedSpider):
    """Reads the rows of a CSV file."""

    name = "table"

    @property
    def start_urls(self) -> list[str]:
        return [f"{self.base}/table.csv"]

    def parse_row(self, response: Response, row: dict[str, str]) -> Item:
        return dict(row)


class FormSpider(SiteSpider, scrapy.Spider):
    """Logs in by a form; sends a form and a HEAD; keeps two sessions apart."""

    name = "forms"

    async def start(self) -> AsyncIterator[Any]:
        for jar in ("a", "b"):
            meta = {"cookiejar": jar}
            url = f"{self.base}/form"
            yield scrapy.Request(url, meta=meta, dont_filter=True, cb_kwargs={"user": jar})
        yield FormRequest(f"{self.base}/echo", formdata={"x": "1"}, callback=self.echoed)
        yield FormRequest(f"{self.base}/keeps-method", formdata={"y": "2"}, callback=self.echoed)
        yield scrapy.Request(f"{self.base}/echo", method="HEAD", callback=self.echoed)

    def parse(self, response: Response, user: str) -> Any:
        jar = {"cookiejar": response.meta["cookiejar"]}
        yield FormRequest.from_response(
            response,
            formdata={"user": user},
            meta=jar,
            callback=self.welcomed,
            # Both sessions are led to one URL, and neither is a duplicate of the other.
            dont_filter=True,
        )

    def welcomed(self, response: Response) -> Item:
        return {"cookie": response.css("p::text").get(), "url": response.url.replace(self.base, "")}

    def echoed(self, response: Response) -> Item:
        return {"echo": response.text, "method": response.request.method}


class FailingRequestSpider(SiteSpider, scrapy.Spider):
    """Requests that fail, are retried by the settings, and call errbacks."""

    name = "failing"
    custom_settings: ClassVar[Item] = {"RETRY_TIMES": 2}

    async def start(self) -> AsyncIterator[Any]:
        for path in ("/flaky", "/broken", "/none"):
            yield scrapy.Request(self.base + path, errback=self.failed)
        no_retry = {"dont_retry": True}
        yield scrapy.Request(f"{self.base}/broken?once", meta=no_retry, errback=self.failed)

    def parse(self, response: Response) -> Item:
        retried = response.meta.get("retry_times", 0)
        return {"url": response.url.replace(self.base, ""), "retried": retried}

    def failed(self, failure: Any) -> Item:
        retried = failure.request.meta.get("retry_times", 0)
        path = failure.request.url.replace(self.base, "")
        return {"failed": path, "as": type(failure.value).__name__, "retried": retried}


class RedirectSpider(SiteSpider, scrapy.Spider):
    """Requests with redirects: chains, circles, off the site, by meta element, not followed."""

    name = "redirected"
    custom_settings: ClassVar[Item] = {"REDIRECT_MAX_TIMES": 3}

    async def start(self) -> AsyncIterator[Any]:
        for path in ("/moved", "/circle", "/offsite", "/refresh"):
            yield scrapy.Request(self.base + path, errback=self.failed)
        meta = {"handle_httpstatus_list": [302]}
        yield scrapy.Request(f"{self.base}/kept-by-spider", meta=meta)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {
            "url": response.url.replace(self.base, ""),
            "status": response.status,
            "by": [url.replace(self.base, "") for url in response.meta.get("redirect_urls", ())],
            "for": response.meta.get("redirect_reasons"),
        }
        if response.url.endswith("/item/3"):
            yield response.follow("/to-seen", errback=self.failed)

    def failed(self, failure: Any) -> Item:
        return {"failed": failure.request.url.replace(self.base, "")}


class PrioritySpider(SiteSpider, scrapy.Spider):
    """Requests with priorities."""

    name = "ordered"
    custom_settings: ClassVar[Item] = {"CONCURRENT_REQUESTS": 1}

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.base}/")

    def parse(self, response: Response) -> Iterator[Any]:
        for number in range(6):
            url = f"{self.base}/slow?{number}"
            yield scrapy.Request(url, priority=number % 3, callback=self.seen)

    def seen(self, response: Response) -> Item:
        return {"number": response.url[-1], "priority": response.request.priority}


class AwaitingSpider(SiteSpider, scrapy.Spider):
    """Awaits an answer in a callback, and has a delay of its own."""

    name = "waiting"
    custom_settings: ClassVar[Item] = {"DOWNLOAD_DELAY": 0.05}

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.base}/item/1")

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        request = scrapy.Request(f"{self.base}/item/2")
        other = await self.crawler.engine.download_async(request)
        yield {"titles": [page.css("title::text").get() for page in (response, other)]}


class FileSpider(SiteSpider, scrapy.Spider):
    """Downloads files by Scrapy's own pipeline."""

    name = "files"

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.base}/item/1")

    def parse(self, response: Response) -> Item:
        return {"file_urls": [f"{self.base}/file.txt"]}


class RefusedAddressSpider(SiteSpider, scrapy.Spider):
    """Requests an address that is not allowed."""

    name = "refused"

    async def start(self) -> AsyncIterator[Any]:
        for path in ("/one", "/two"):
            yield scrapy.Request(f"http://127.0.0.1:9{path}", errback=self.failed)

    def failed(self, failure: Any) -> Item:
        return {"failed": type(failure.value).__name__}


class ThrottledHostSpider(scrapy.Spider):
    """Makes many requests to a throttling host, and then some to another."""

    name = "busy"
    base: str
    custom_settings: ClassVar[Item] = {"CONCURRENT_REQUESTS": 2, "CLOSESPIDER_ITEMCOUNT": 4}

    async def start(self) -> AsyncIterator[Any]:
        for number in range(6):
            yield scrapy.Request(f"{self.settings['BUSY_URL']}/busy?{number}", priority=1)
        for number in range(1, 5):
            yield scrapy.Request(f"{self.base}/item/{number}")

    def parse(self, response: Response) -> Item:
        return {"title": response.css("title::text").get()}


SPIDERS: tuple[type[scrapy.Spider], ...] = (
    LinkFollowingSpider,
    RuleSpider,
    SitemapItemSpider,
    XmlFeedSpider,
    CsvTableSpider,
    FormSpider,
    FailingRequestSpider,
    RedirectSpider,
    PrioritySpider,
    AwaitingSpider,
    FileSpider,
    RefusedAddressSpider,
    ThrottledHostSpider,
)
