"""The download handler: guarded, bounded, and exact about what went over the wire."""

from functools import partial
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _ResultT,
    _ScrapyAgent,
    _TunnelingAgent,
)
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, ResponseDataLossError
from scrapy.http import Response
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.misc import load_object
from scrapy.utils.url import add_http_if_no_scheme
from twisted.web.client import Agent, HTTPConnectionPool

from freshet.core.errors import SettingsError
from freshet.fetch.addresses import PORTS, refusal
from freshet.fetch.certificates import CertificatePolicy
from freshet.fetch.failures import Refused
from freshet.fetch.guard import guard_of
from freshet.fetch.routes import VERIFY
from freshet.fetch.wire import HEAD, LARGEST_HEAD, SENT, Connections, TunnelingAgent

HEADER_BYTES = "FRESHET_HEADER_BYTES"
HANDLER = "freshet.fetch.handler.Handler"
HANDLERS = {
    "http": HANDLER,
    "https": HANDLER,
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}
# The quickest of common servers hang up after 2 s without a request; ours must not cross that.
IDLE_SECONDS = 1.8


class Handler(HTTP11DownloadHandler):
    """Fetches what the guard lets pass, and notes on each request what was sent and answered.

    ``request.meta`` then has the head of the answer, byte for byte, and that of the request. No
    request is ever sent twice by itself: the budget counts what a server sees.
    """

    _pool: Any

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._verifies = _verifies(crawler.settings)
        self._policies = {
            verify: CertificatePolicy(crawler, verify=verify) for verify in (True, False)
        }
        # A connection whose certificate was not verified serves no page that wants that.
        self._unverified_pool: Any = HTTPConnectionPool(self._pool._reactor)  # type: ignore[no-untyped-call]
        self._unverified_pool.maxPersistentPerHost = self._pool.maxPersistentPerHost
        self._pools = {True: self._pool, False: self._unverified_pool}
        limit = crawler.settings.getint(HEADER_BYTES, LARGEST_HEAD)
        for pool in self._pools.values():
            pool._factory = partial(Connections, limit)
            pool.cachedConnectionTimeout = IDLE_SECONDS
            pool.retryAutomatically = False

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await super().close()
        self._pool = self._unverified_pool
        await super().close()

    async def download_request(self, request: Request) -> Response:
        """Return the answer to a request; an error says what happened instead."""
        guard = guard_of(self._pool._reactor)
        proxy = _proxy(request)
        for url in filter(None, (proxy, request.url)):
            why = refusal(url, guard.allowed)
            if why is not None:
                raise Refused(why)
        try:
            with wrap_twisted_exceptions():
                return await maybe_deferred_to_future(
                    self._agent(request).download_request(request)
                )
        except CannotResolveHostError as error:
            why = guard.why_refused(*_place(proxy or request.url))
            raise (error if why is None else Refused(why)) from error.__cause__

    def _agent(self, request: Request) -> "_Agent":
        verify = request.meta.get(VERIFY, self._verifies)
        return _Agent(
            contextFactory=self._policies[verify],
            bindAddress=self._bind_address,
            pool=self._pools[verify],
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            crawler=self._crawler,
        )


class _Agent(_ScrapyAgent):
    """Runs one request."""

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        agent = super()._get_agent(request, timeout)
        if isinstance(agent, _TunnelingAgent):
            agent.__class__ = TunnelingAgent
        return agent

    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        request.meta[HEAD], request.meta[SENT] = txresponse.head, txresponse.sent
        return super()._cb_bodyready(txresponse, request)

    def _cb_bodydone(self, result: _ResultT, url: str) -> Response:
        if getattr(result["txresponse"], "is_cut", False):
            raise ResponseDataLossError
        return super()._cb_bodydone(result, url)


def _verifies(settings: BaseSettings) -> bool:
    """Whether certificates are verified where a request does not say; Scrapy's default is no."""
    name = "DOWNLOAD_VERIFY_CERTIFICATES"
    is_default = settings.getpriority(name) == SETTINGS_PRIORITIES["default"]
    return is_default or settings.getbool(name)


def require_guard(crawler: Crawler) -> None:
    """Raise an error where a project's settings let requests go around the guard."""
    for scheme, path in crawler.settings.getwithbase("DOWNLOAD_HANDLERS").items():
        is_ours = path and scheme in ("http", "https") and issubclass(load_object(path), Handler)
        if path and not is_ours:
            raise SettingsError(
                f"DOWNLOAD_HANDLERS: {path} would fetch {scheme}: addresses unguarded;"
                f" leave the setting to Freshet"
            )


def _proxy(request: Request) -> str | None:
    proxy = request.meta.get("proxy")
    return add_http_if_no_scheme(proxy) if proxy else None


def _place(url: str) -> tuple[str, int]:
    """Return the host and port that a request connects to."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or PORTS[f"{parts.scheme}:"]
