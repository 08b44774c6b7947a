"""The Scrapy add-on: one ADDONS line gives any project Freshet's scheduler, guard and recorder.

In a project's settings:

    ADDONS = {"freshet.fetch.addon.Freshet": 500}
    FRESHET_COLLECTION = "news"

The project's own settings for delays, cookies, retries or domains apply to the requests of its
spiders. robots.txt is always obeyed, and special addresses are refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from freshet.core import __version__
from freshet.core.errors import FreshetError, LockedError, SettingsError
from freshet.core.settings import NetworkSettings, Settings
from freshet.fetch.network.download_handler import HANDLERS, HEADER_BYTES, require_guard
from freshet.fetch.network.guard import ALLOW, RESOLVER, RESOLVER_SETTING, require_resolver
from freshet.fetch.runtime import COLLECTION_SETTING, runtime_of
from freshet.fetch.spider_requests import over_budget_setting
from freshet.record.collection_store import read_settings

PRIORITY = "addon"
BUILT_IN = "scrapy.downloadermiddlewares"
MIDDLEWARES: dict[str, int | None] = {
    "freshet.fetch.robots_middleware.RobotsMiddleware": 100,
    "freshet.fetch.record_middleware.RecordMiddleware": 595,
    "freshet.fetch.redirect_middleware.FollowRedirectsMiddleware": 600,
    f"{BUILT_IN}.robotstxt.RobotsTxtMiddleware": None,
    f"{BUILT_IN}.redirect.RedirectMiddleware": None,
}
REQUIRED_CLASSES = {
    "SCHEDULER": "freshet.fetch.scheduler.PlanScheduler",
    "DOWNLOADER": "freshet.fetch.downloader.PoliteDownloader",
}


class Freshet:
    """Sets up a Scrapy project to crawl the pages of a collection."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Freshet":
        """Create the add-on of a crawler."""
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Install the address guard as the name resolver."""
        settings.set(RESOLVER_SETTING, RESOLVER, PRIORITY)
        folder = settings.get(COLLECTION_SETTING)
        if folder:
            with _exit_with_one_line():
                network = read_settings(Path(folder)).network
            for name, value in process_settings(network).items():
                settings.set(name, value, PRIORITY)

    def update_settings(self, settings: BaseSettings) -> None:
        """Install Freshet's scheduler, downloader, middlewares and handlers."""
        with _exit_with_one_line():
            self._update(settings)

    def _update(self, settings: BaseSettings) -> None:
        over_budget_setting(settings)
        if settings.get(COLLECTION_SETTING):
            require_resolver(settings)
        runtime = runtime_of(self._crawler)
        collection_settings = runtime.environment.settings
        # A spider's custom_settings may name another collection than the project's settings.
        settings.set(ALLOW, collection_settings.network.allow, PRIORITY)
        for name, value in scrapy_settings(collection_settings).items():
            settings.set(name, value, PRIORITY)
        for path, order in MIDDLEWARES.items():
            settings["DOWNLOADER_MIDDLEWARES"].set(path, order, PRIORITY)
        for scheme, handler in HANDLERS.items():
            settings["DOWNLOAD_HANDLERS"].set(scheme, handler, PRIORITY)
        require_guard(self._crawler)
        for name, path in REQUIRED_CLASSES.items():
            if settings[name] != path:
                raise SettingsError(
                    f"{name}: {settings[name]} bypasses Freshet; remove the setting"
                )


@contextmanager
def _exit_with_one_line() -> Iterator[None]:
    """End Scrapy with a one-line message if a collection or a setting is invalid."""
    try:
        yield
    except LockedError as error:
        without = f"with '-s {COLLECTION_SETTING}=' Scrapy runs without it"
        raise SystemExit(f"freshet: {error}; {without}") from None
    except FreshetError as error:
        raise SystemExit(f"freshet: {error}") from None


def process_settings(network: NetworkSettings) -> dict[str, Any]:
    """Return the settings that are needed before there is a crawler: for the resolver."""
    return {ALLOW: network.allow, "REACTOR_THREADPOOL_MAXSIZE": network.concurrency}


def scrapy_settings(settings: Settings) -> dict[str, Any]:
    """Return Scrapy's settings for those of a collection; our scheduler handles politeness."""
    return {
        HEADER_BYTES: settings.limits.header_bytes,
        **REQUIRED_CLASSES,
        "USER_AGENT": user_agent(settings.contact),
        "CONCURRENT_REQUESTS": settings.network.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": settings.network.concurrency,
        "DOWNLOAD_DELAY": 0,
        "DOWNLOAD_TIMEOUT": settings.limits.seconds,
        "DOWNLOAD_MAXSIZE": settings.limits.response_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_FAIL_ON_DATALOSS": True,
        "DOWNLOAD_VERIFY_CERTIFICATES": settings.network.verify_tls,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
    }


def user_agent(contact: str) -> str:
    """Return the User-Agent of Freshet.

    >>> user_agent("me@example.org")  # doctest: +ELLIPSIS
    'Freshet/... (me@example.org)'
    """
    return f"Freshet/{__version__}" + (f" ({contact})" if contact else "")
