"""Who may ask for what: names of this server, origins of other sites, and the token."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
WILDCARD_ADDRESSES = frozenset({"0.0.0.0", "::"})
BEARER = "bearer "
SESSION_PURPOSE = b"freshet dashboard session"


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The address of a server and its token.

    On loopback, reading needs no token. On any other address everything does.
    """

    host: str
    port: int
    token: str

    @property
    def is_loopback(self) -> bool:
        """Whether the server can be reached from this machine only."""
        return is_loopback(self.host)

    @property
    def cookie_name(self) -> str:
        """The name of the cookie; browsers send cookies to every port of a host."""
        return f"freshet_{self.port}"

    @property
    def session(self) -> str:
        """The value of the cookie, which does not tell the token."""
        return hmac.new(self.token.encode(), SESSION_PURPOSE, sha256).hexdigest()

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this server.

        A page of another site can make its own name resolve to this machine (DNS rebinding), so
        only names of this server are answered. An address as a number cannot be rebound.
        """
        name = host_name(header)
        if name == self.host or name in LOOPBACK_NAMES:
            return True
        return self.host in WILDCARD_ADDRESSES and _is_address(name)

    def is_same_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether a request was not sent by a page of another origin."""
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return False
        origin = headers.get("origin")
        return origin is None or origin in _origins(headers.get("host", ""))

    def is_authorised(self, headers: Mapping[str, str]) -> bool:
        """Whether a request carries the token, or the cookie of somebody who had it."""
        authorization = headers.get("authorization", "")
        if authorization[: len(BEARER)].lower() == BEARER:
            return self.is_token(authorization[len(BEARER) :].strip())
        return hmac.compare_digest(self._cookie(headers).encode(), self.session.encode())

    def is_token(self, text: str) -> bool:
        """Whether a text is the token; the time taken does not tell how much of it is right."""
        return hmac.compare_digest(text.encode(), self.token.encode())

    def needs_token(self, method: str) -> bool:
        """Whether a request by such a method needs the token."""
        return not self.is_loopback or method not in SAFE_METHODS

    def _cookie(self, headers: Mapping[str, str]) -> str:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return ""
        morsel = cookies.get(self.cookie_name)
        return "" if morsel is None else morsel.value


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def host_name(header: str) -> str:
    """Return the name or address of a Host header, without its port.

    >>> host_name("LocalHost:8640"), host_name("[::1]:8640"), host_name("example.org")
    ('localhost', '::1', 'example.org')
    """
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def _origins(host: str) -> tuple[str, ...]:
    return f"http://{host}", f"https://{host}"


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
