"""How a request reaches its host: through which proxy, and whether certificates are verified.

A page's route holds for all of its redirects and for the robots.txt that it asks for.
"""

from dataclasses import dataclass
from typing import Any

from scrapy import Request

# Where ``request.meta`` says whether the server's certificate must be valid.
VERIFY = "freshet_verify_tls"
PROXY = "proxy"
PROXY_AUTHORIZATION = "Proxy-Authorization"


@dataclass(frozen=True, slots=True)
class Route:
    """The proxy of a request with its credentials, and whether certificates are verified.

    Without ``meta`` for one of them, the crawl's settings hold.
    """

    meta: tuple[tuple[str, Any], ...] = ()
    proxy_authorization: bytes | None = None

    @classmethod
    def of(cls, request: Request) -> "Route":
        """Return the route of a request."""
        named = tuple(
            (name, request.meta[name]) for name in (PROXY, VERIFY) if name in request.meta
        )
        return cls(named, request.headers.get(PROXY_AUTHORIZATION))

    @property
    def is_unverified(self) -> bool:
        """Whether the request waives the check of certificates."""
        return dict(self.meta).get(VERIFY) is False

    @property
    def headers(self) -> dict[str, bytes]:
        """Return the headers that the proxy needs."""
        authorization = self.proxy_authorization
        return {} if authorization is None else {PROXY_AUTHORIZATION: authorization}
