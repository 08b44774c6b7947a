"""The download handler: checks addresses, bounds answers and records the exact heads."""

import re
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    TunnelError,
    _ResultT,
    _ScrapyAgent,
    _ScrapyProxyAgent,
    _TunnelingAgent,
)
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest, ResponseDataLossError
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.misc import load_object
from scrapy.utils.url import add_http_if_no_scheme
from twisted.web.client import Agent, HTTPConnectionPool

from freshet.core.errors import SettingsError
from freshet.core.types import Outcome
from freshet.fetch.network.addresses import DEFAULT_PORTS, why_url_refused
from freshet.fetch.network.certificates import CertificatePolicy
from freshet.fetch.network.connections import (
    MAX_HEAD_BYTES,
    REQUEST_HEAD_KEY,
    RESPONSE_HEAD_KEY,
    CheckedPool,
    HttpConnectionFactory,
    ProxyAgent,
    ProxyReachability,
    TunnelingAgent,
)
from freshet.fetch.network.failures import AddressRefusedError, ProxyFailedError, classify_error
from freshet.fetch.network.guard import (
    AddressGuard,
    allowed_ranges,
    installed_guard,
    use_allowed_ranges,
)
from freshet.fetch.network.routes import (
    PROXY_AUTHORIZATION,
    VERIFY_KEY,
    verifies_by_default,
    why_secrets_withheld,
)

HEADER_BYTES = "FRESHET_HEADER_BYTES"
HANDLER = "freshet.fetch.network.download_handler.GuardedDownloadHandler"
HANDLERS = {
    "http": HANDLER,
    "https": HANDLER,
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}
PROXY_AUTH_REQUIRED = 407
WANTS_PASSWORD = "it wants a user name and password, or others than page.proxy gives"
# Some servers close a connection after 2 s without a request; ours are closed before that.
IDLE_SECONDS = 1.8


class GuardedDownloadHandler(HTTP11DownloadHandler):
    """Fetches requests that the guard allows, and records the heads of request and answer.

    ``request.meta`` then holds both heads, byte for byte. No request is retried automatically: the
    budget counts what a server receives.
    """

    _pool: Any

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._allowed = allowed_ranges(crawler.settings)
        self._verifies = verifies_by_default(crawler.settings)
        self._policies = {
            verify: CertificatePolicy(crawler, verify=verify) for verify in (True, False)
        }
        # A connection with an unverified certificate is not used for pages that want verification.
        self._unverified_pool: Any = HTTPConnectionPool(self._pool._reactor)  # type: ignore[no-untyped-call]
        self._unverified_pool.maxPersistentPerHost = self._pool.maxPersistentPerHost
        self._pools = {True: self._pool, False: self._unverified_pool}
        limit = crawler.settings.getint(HEADER_BYTES, MAX_HEAD_BYTES)
        for pool in self._pools.values():
            pool._factory = partial(HttpConnectionFactory, limit)
            pool.cachedConnectionTimeout = IDLE_SECONDS
            pool.retryAutomatically = False

    async def close(self) -> None:
        """Close the open connections."""
        await super().close()
        self._pool = self._unverified_pool
        await super().close()

    async def download_request(self, request: Request) -> Response:
        """Return the answer to a request, or raise an error with the reason."""
        guard, proxy = installed_guard(self._pool._reactor), _proxy(request)
        use_allowed_ranges(self._allowed)
        verify = bool(request.meta.get(VERIFY_KEY, self._verifies))
        why: str | None
        why = await _refusal(request, proxy, guard) or why_secrets_withheld(
            request, is_verified=verify
        )
        if why:
            raise AddressRefusedError(why)
        if proxy is None:
            request.headers.pop(PROXY_AUTHORIZATION, None)
        agent = self._agent(request, verify)
        try:
            with wrap_twisted_exceptions():
                response = await maybe_deferred_to_future(agent.download_request(request))
        except Exception as error:
            if isinstance(error, CannotResolveHostError):
                named = _describe_proxy(proxy) if proxy else ""
                why = guard.why_refused(*_host_and_port(proxy or request.url), display_name=named)
            if why:
                raise AddressRefusedError(why) from error
            failed = _proxy_failure(error, request, proxy, agent.reach)
            if failed is None:
                raise
            raise failed from error
        if proxy is not None and response.status == PROXY_AUTH_REQUIRED:
            raise ProxyFailedError(
                f"{_describe_proxy(proxy)} answered {PROXY_AUTH_REQUIRED}: {WANTS_PASSWORD}"
            )
        return response

    def _checked_pool(self, pool: Any, request: Request) -> Any:
        """Return a pool that checks the request's budget day when its connection is ready."""
        runtime = getattr(self._crawler, "freshet", None)
        return (
            pool
            if runtime is None
            else CheckedPool(pool, partial(runtime.requests.require_budget_day, request))
        )

    def _agent(self, request: Request, verify: bool) -> "_RequestAgent":
        return _RequestAgent(
            contextFactory=self._policies[verify],
            bindAddress=self._bind_address,
            pool=self._checked_pool(self._pools[verify], request),
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            crawler=self._crawler,
        )


class _RequestAgent(_ScrapyAgent):
    """Runs one request."""

    reach: ProxyReachability

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        agent: Any = super()._get_agent(request, timeout)
        self.reach = agent.reach = ProxyReachability()
        kinds = {_TunnelingAgent: TunnelingAgent, _ScrapyProxyAgent: ProxyAgent}
        agent.__class__ = kinds.get(type(agent), type(agent))
        return cast("Agent", agent)

    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        request.meta[RESPONSE_HEAD_KEY], request.meta[REQUEST_HEAD_KEY] = (
            txresponse.head,
            txresponse.sent,
        )
        return super()._cb_bodyready(txresponse, request)

    def _cb_bodydone(self, result: _ResultT, url: str) -> Response:
        if getattr(result["txresponse"], "is_cut", False):
            raise ResponseDataLossError
        return super()._cb_bodydone(result, url)


async def _refusal(request: Request, proxy: str | None, guard: AddressGuard) -> str | None:
    """Describe why a request is refused; for a proxied one its host is resolved here."""
    if proxy is None:
        return why_url_refused(request.url, guard.allowed)
    why = why_url_refused(proxy, guard.allowed, display_name=_describe_proxy(proxy))
    why = why or why_url_refused(request.url, guard.allowed)
    if why is not None:
        return why
    if proxy.startswith("https:") and request.url.startswith("https:"):
        return "https pages cannot be fetched through an https:// proxy; give an http:// one"
    return await guard.why_proxied_refused(*_host_and_port(request.url))


def _proxy_failure(
    error: Exception, request: Request, proxy: str | None, reach: ProxyReachability
) -> ProxyFailedError | None:
    """Return the failure of a proxy; None if the failure belongs to the host.

    A plain request connects to the proxy only; an open tunnel leads to the host.
    """
    if proxy is None or isinstance(error, IgnoreRequest):
        return None
    outcome, why = classify_error(error)
    is_connection = outcome in (Outcome.UNREACHABLE, Outcome.UNTRUSTED)
    if reach.is_open and (request.url.startswith("https:") or not is_connection):
        return None
    status = re.search(r"'status': (\d+)", str(error)) if isinstance(error, TunnelError) else None
    if status is not None:
        why = f"it answered {status[1]} to CONNECT"
        why += f": {WANTS_PASSWORD}" if int(status[1]) == PROXY_AUTH_REQUIRED else ""
    return ProxyFailedError(f"{_describe_proxy(proxy)} failed: {why}")


def _describe_proxy(proxy: str) -> str:
    """Return a description of a proxy without its password.

    >>> _describe_proxy("http://me:pw@gate.example:3128/")
    'the proxy gate.example:3128'
    """
    try:
        host, port = _host_and_port(proxy)
    except (KeyError, ValueError):
        return "the proxy"
    return f"the proxy {host}:{port}"


def require_guard(crawler: Crawler) -> None:
    """Raise an error if a project's settings bypass the guard."""
    for scheme, path in crawler.settings.getwithbase("DOWNLOAD_HANDLERS").items():
        is_ours = (
            path
            and scheme in ("http", "https")
            and issubclass(load_object(path), GuardedDownloadHandler)
        )
        if path and not is_ours:
            raise SettingsError(
                f"DOWNLOAD_HANDLERS: {path} would fetch {scheme}: addresses unguarded;"
                f" leave the setting to Freshet"
            )


def _proxy(request: Request) -> str | None:
    proxy = request.meta.get("proxy")
    return add_http_if_no_scheme(proxy) if proxy else None


def _host_and_port(url: str) -> tuple[str, int]:
    """Return the host and port that a request connects to."""
    split = urlsplit(url)
    return split.hostname or "", split.port or DEFAULT_PORTS[f"{split.scheme}:"]
