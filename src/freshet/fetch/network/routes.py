"""The route of a request: its proxy, and whether certificates are verified.

A page's route applies to all of its redirects and to the robots.txt that it needs. The password of
a proxy is sent to the proxy only. Secrets of a page are sent over encrypted connections only.
"""

from dataclasses import dataclass
from typing import Any

from scrapy import Request
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from freshet.core.redaction import is_secret_header
from freshet.core.settings import PageSettings
from freshet.view.url import basic_authorization, canonical_url

# The key of ``request.meta`` that says whether the server's certificate must be valid.
VERIFY_KEY = "freshet_verify_tls"
# The key that says whether the page's secrets may be sent over insecure connections.
INSECURE_KEY = "freshet_insecure_secrets"
PROXY_KEY = "proxy"
PROXY_AUTHORIZATION = "Proxy-Authorization"


@dataclass(frozen=True, slots=True)
class RequestRoute:
    """The proxy of a request with its credentials, and whether certificates are verified.

    Without ``meta`` for the proxy, the crawl's settings apply.
    """

    meta: tuple[tuple[str, Any], ...] = ()
    proxy_authorization: bytes | None = None

    @classmethod
    def of(cls, request: Request, *, verifies: bool = True) -> "RequestRoute":
        """Return the route of a request; ``verifies`` is the crawl's default."""
        proxy = ((PROXY_KEY, request.meta[PROXY_KEY]),) if PROXY_KEY in request.meta else ()
        verify = (VERIFY_KEY, bool(request.meta.get(VERIFY_KEY, verifies)))
        return cls((*proxy, verify), request.headers.get(PROXY_AUTHORIZATION))

    @property
    def is_unverified(self) -> bool:
        """Whether certificates are not verified."""
        return dict(self.meta).get(VERIFY_KEY) is False

    @property
    def headers(self) -> dict[str, bytes]:
        """Return the headers that the proxy needs."""
        authorization = self.proxy_authorization
        return {} if authorization is None else {PROXY_AUTHORIZATION: authorization}


def plain_proxy(request: Request) -> str:
    """Return the proxy that can read and change the answer to a request, empty if there is none.

    >>> plain_proxy(Request("http://a.example/", meta={"proxy": "http://gate.example:3128"}))
    'http://gate.example:3128'
    >>> plain_proxy(Request("https://a.example/", meta={"proxy": "http://gate.example:3128"}))
    ''
    """
    return "" if request.url.startswith("https:") else request.meta.get(PROXY_KEY) or ""


def route_for(settings: PageSettings) -> RequestRoute:
    """Return the route of a page by its settings; without a setting there is no proxy.

    >>> route = route_for(PageSettings(proxy="http://me:pw@gate.example:3128"))
    >>> dict(route.meta)["proxy"], route.proxy_authorization
    ('http://gate.example:3128/', b'Basic bWU6cHc=')
    """
    proxy = canonical_url(settings.proxy) or settings.proxy or None
    authorization = basic_authorization(settings.proxy) if proxy else None
    meta = ((PROXY_KEY, proxy), (VERIFY_KEY, settings.verify_tls is not False))
    return RequestRoute(meta, None if authorization is None else authorization.encode())


def verifies_by_default(settings: BaseSettings) -> bool:
    """Whether certificates are verified by default; Scrapy's own default is no."""
    name = "DOWNLOAD_VERIFY_CERTIFICATES"
    is_default = settings.getpriority(name) == SETTINGS_PRIORITIES["default"]
    return is_default or settings.getbool(name)


def why_secrets_withheld(request: Request, *, is_verified: bool) -> str:
    """Describe the secrets that may not be sent over a request's connection; else empty.

    The request is not sent without its secrets: a login page would look like a change.
    """
    if request.meta.get(INSECURE_KEY, True) or (request.url.startswith("https:") and is_verified):
        return ""
    names = [name.decode("latin-1") for name in request.headers if name]
    secrets = [name for name in names if is_secret_header(name) and name != PROXY_AUTHORIZATION]
    if not secrets:
        return ""
    connection = "an unverified" if request.url.startswith("https:") else "a plain http"
    return (
        f"{', '.join(secrets)} would go out over {connection} connection, where others can read it;"
        " insecure_secrets = true for the page allows that"
    )
