"""How a request reaches its host: through which proxy, and whether certificates are verified.

A page's route holds for all of its redirects and for the robots.txt that it asks for. The password
of a proxy is for the proxy alone. Secrets of a page go over connections that nobody else can read.
"""

from dataclasses import dataclass
from typing import Any

from scrapy import Request
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from freshet.core.redaction import is_secret_header
from freshet.core.settings import PageSettings
from freshet.view.url import basic_authorization, canonical_url

# Where ``request.meta`` says whether the server's certificate must be valid.
VERIFY_KEY = "freshet_verify_tls"
# Where it says whether the page's secrets may go over other connections too.
INSECURE_KEY = "freshet_insecure_secrets"
PROXY_KEY = "proxy"
PROXY_AUTHORIZATION = "Proxy-Authorization"


@dataclass(frozen=True, slots=True)
class RequestRoute:
    """The proxy of a request with its credentials, and whether certificates are verified.

    Without ``meta`` for the proxy, the crawl's settings hold.
    """

    meta: tuple[tuple[str, Any], ...] = ()
    proxy_authorization: bytes | None = None

    @classmethod
    def of(cls, request: Request, *, verifies: bool = True) -> "RequestRoute":
        """Return the route of a request in a crawl that verifies certificates, or does not."""
        proxy = ((PROXY_KEY, request.meta[PROXY_KEY]),) if PROXY_KEY in request.meta else ()
        verify = (VERIFY_KEY, bool(request.meta.get(VERIFY_KEY, verifies)))
        return cls((*proxy, verify), request.headers.get(PROXY_AUTHORIZATION))

    @property
    def is_unverified(self) -> bool:
        """Whether certificates are not checked."""
        return dict(self.meta).get(VERIFY_KEY) is False

    @property
    def headers(self) -> dict[str, bytes]:
        """Return the headers that the proxy needs."""
        authorization = self.proxy_authorization
        return {} if authorization is None else {PROXY_AUTHORIZATION: authorization}


def plain_proxy(request: Request) -> str:
    """Return the proxy that can read and write the answer to a request; empty where none can.

    >>> plain_proxy(Request("http://a.example/", meta={"proxy": "http://gate.example:3128"}))
    'http://gate.example:3128'
    >>> plain_proxy(Request("https://a.example/", meta={"proxy": "http://gate.example:3128"}))
    ''
    """
    return "" if request.url.startswith("https:") else request.meta.get(PROXY_KEY) or ""


def route_for(settings: PageSettings) -> RequestRoute:
    """Return the route of a page by its settings; without a proxy there is none at all.

    >>> route = route_for(PageSettings(proxy="http://me:pw@gate.example:3128"))
    >>> dict(route.meta)["proxy"], route.proxy_authorization
    ('http://gate.example:3128/', b'Basic bWU6cHc=')
    """
    proxy = canonical_url(settings.proxy) or settings.proxy or None
    authorization = basic_authorization(settings.proxy) if proxy else None
    meta = ((PROXY_KEY, proxy), (VERIFY_KEY, settings.verify_tls is not False))
    return RequestRoute(meta, None if authorization is None else authorization.encode())


def verifies_by_default(settings: BaseSettings) -> bool:
    """Whether certificates are verified where a request does not say; Scrapy's default is no."""
    name = "DOWNLOAD_VERIFY_CERTIFICATES"
    is_default = settings.getpriority(name) == SETTINGS_PRIORITIES["default"]
    return is_default or settings.getbool(name)


def why_secrets_withheld(request: Request, *, is_verified: bool) -> str:
    """Say which secrets of a page keep its request from being sent over its connection; else "".

    A request without its secrets is not sent instead: a login page would look like a change.
    """
    if request.meta.get(INSECURE_KEY, True) or (request.url.startswith("https:") and is_verified):
        return ""
    names = [name.decode("latin-1") for name in request.headers if name]
    secrets = [name for name in names if is_secret_header(name) and name != PROXY_AUTHORIZATION]
    if not secrets:
        return ""
    way = "an unverified" if request.url.startswith("https:") else "a plain http"
    return (
        f"{', '.join(secrets)} would go out over {way} connection, where others can read it;"
        " insecure_secrets = true for the page allows that"
    )
