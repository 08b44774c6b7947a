"""Crawler, collection thread, clock, settings and host schedules used by all parts of a crawl."""

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings

from freshet.core.clock import monotonic_seconds, to_epoch
from freshet.core.errors import SettingsError
from freshet.fetch.collection_thread import CollectionThread
from freshet.fetch.network.failures import CrawlEndedError
from freshet.fetch.politeness.host_schedule import HostSchedule
from freshet.fetch.politeness.proxy_schedules import ProxySchedules

PAGES_SETTING = "FRESHET_PAGES"
PAGES_CHOICES = ("record", "parse", "off")
# In a Scrapy project pages are drawn after the spider's start requests, or after this time.
MAX_SPIDER_START_SECONDS = 5.0


class CrawlEnvironment:
    """Scrapy's crawler, the collection's thread, the clock, the settings and the host schedules.

    ``collection_thread`` owns the collection and its crawl session, ``host_schedule`` says when a
    host may be asked.

    ``is_embedded`` is True in someone's own Scrapy project: the crawl ends when their spider and
    the due pages are done. ``pages_mode`` is the project's setting FRESHET_PAGES.
    """

    def __init__(
        self, crawler: Crawler, collection_thread: CollectionThread, *, is_embedded: bool
    ) -> None:
        self.crawler = crawler
        self.is_embedded = is_embedded
        self.pages_mode = pages_setting(crawler.settings) if is_embedded else "parse"
        self.collection_thread = collection_thread
        self.clock = collection_thread.clock
        self.settings = collection_thread.settings
        start_state = collection_thread.start_state
        self.host_schedule = HostSchedule(self.settings.politeness)
        self.host_schedule.load(start_state.host_states, start_state.hosts_without_pages)
        if start_state.last_kill_time is not None:
            self.host_schedule.delay_all(to_epoch(start_state.last_kill_time))
        self.proxy_schedules = ProxySchedules(self.settings.politeness)
        self.refused_hosts: set[str] = set()
        self.opened_at = monotonic_seconds()
        self._is_stopped = False
        self._background_tasks: set[asyncio.Task[Any]] = set()

    @property
    def spider(self) -> Spider:
        """Return the spider that the crawler runs."""
        spider = self.crawler.spider
        if spider is None:
            raise RuntimeError("the crawler has no spider yet")
        return spider

    @property
    def is_ending(self) -> bool:
        """Whether the crawl was asked to end, or has ended."""
        return self._is_stopped or not self.crawler.crawling

    @property
    def may_draw(self) -> bool:
        """Whether pages may be drawn now.

        In a Scrapy project the spider's start requests come first, so that one request serves both.
        """
        engine = self.crawler.engine
        if not self.is_embedded or self.pages_mode == "off" or engine is None:
            return not self.is_embedded
        elapsed_seconds = monotonic_seconds() - self.opened_at
        return engine._start is None or elapsed_seconds > MAX_SPIDER_START_SECONDS

    async def download(self, request: Request) -> Response:
        """Download a request at once, as for a robots.txt."""
        if self.crawler.engine is None:
            raise CrawlEndedError("the crawl has ended")
        return await self.crawler.engine.download_async(request)

    def wake_engine(self) -> None:
        """Make Scrapy's engine ask for requests now instead of at its next heartbeat."""
        engine = self.crawler.engine
        if engine is not None and engine._slot is not None:
            engine._slot.nextcall.schedule()

    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine as a task."""
        task = asyncio.get_running_loop().create_task(work)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)

    def stop(self, reason: str) -> None:
        """End the crawl; requests under way are still recorded."""
        self._is_stopped = True
        engine = self.crawler.engine
        if engine is not None and engine.spider is not None:
            self.run_in_background(engine.close_spider_async(reason=reason))


def pages_setting(settings: BaseSettings) -> str:
    """Return how a Scrapy project treats the due pages of the collection.

    Scrapy's shell and its contract checks fetch only the requested URLs.
    """
    value = str(settings.get(PAGES_SETTING, "record"))
    if value not in PAGES_CHOICES:
        raise SettingsError(f'{PAGES_SETTING}: {value!r} must be "record", "parse" or "off"')
    is_tool = settings.getbool("KEEP_ALIVE") or "SCRAPY_CHECK" in os.environ
    return "off" if is_tool else value
