"""Crawls a collection until it is stopped or reaches a limit."""

import gc
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess

from freshet.core.clock import Clock
from freshet.core.errors import StopRequestedError
from freshet.core.settings import Settings
from freshet.crawl.fetch_job import CrawlDaySpending
from freshet.fetch.addon import process_settings
from freshet.fetch.collection_thread import CollectionThread
from freshet.fetch.event_dispatcher import EventListener
from freshet.fetch.recording_loop import NO_LIMITS, CrawlLimits
from freshet.fetch.runtime import CrawlRuntime
from freshet.fetch.spider import CollectionSpider

# The interpreter switches threads at this interval, so that sockets do not wait for computing.
SWITCH_SECONDS = 0.0002
# The middlewares of Scrapy that a crawl needs.
SCRAPY_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
    "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
    "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
}
# Garbage collection is rare, because most objects are freed without it.
GC_THRESHOLDS = (20_000, 50, 100)


def run_crawl(
    path: Path,
    *,
    budget: str = "",
    clock: Clock | None = None,
    limits: CrawlLimits = NO_LIMITS,
    pages: Sequence[int] = (),
    listeners: Sequence[EventListener] = (),
) -> CrawlDaySpending:
    """Crawl a collection; return the day's spending when the crawl ends.

    With ``pages`` only these are visited, once each, if they were requested. The first SIGINT or
    SIGTERM ends the crawl after recording the requests under way, a second one at once.
    """
    collection_thread = CollectionThread(path, clock=clock, budget=budget, only=pages)
    collection_thread.open()
    _tune()
    try:
        process = AsyncCrawlerProcess(_settings(collection_thread.settings))
        crawler = process.create_crawler(CollectionSpider)
        crawl_limits = replace(limits, visits=len(pages)) if pages else limits
        runtime = CrawlRuntime(crawler, collection_thread, limits=crawl_limits, listeners=listeners)
        process.crawl(crawler)
        process.start()
        if runtime.failure is not None:
            raise runtime.failure
        if not runtime.recording_loop.is_closed:
            raise StopRequestedError("stopped at once; acknowledged visits are kept")
        return collection_thread.spending()
    finally:
        collection_thread.close()


def _tune() -> None:
    """Set short thread turns, and exclude loaded modules from garbage collection."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def _settings(settings: Settings) -> dict[str, Any]:
    return {
        "ADDONS": {"freshet.fetch.addon.Freshet": 500},
        **process_settings(settings.network),
        "COMPRESSION_ENABLED": False,
        "CONCURRENT_ITEMS": 1,
        "DEFAULT_REQUEST_HEADERS": {
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "Accept-Encoding": "gzip, deflate, br, zstd",
        },
        "LOG_ENABLED": False,
        "LOG_INSTALL_ROOT_HANDLER": False,
        "EXTENSIONS": {},
        "EXTENSIONS_BASE": {},
        "SPIDER_MIDDLEWARES_BASE": {},
        "DOWNLOADER_MIDDLEWARES_BASE": SCRAPY_MIDDLEWARES,
        "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
    }
