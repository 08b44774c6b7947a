"""URLs: one canonical form, where a page lies, and what a link of a page points to.

Every URL goes through ada-url, because two parsers that differ are a security hole. The fast path
of ``LinkResolver.resolve`` takes only spellings that ada-url leaves as they are.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from ada_url import URL, join_url
from publicsuffixlist import PublicSuffixList

from freshet.core.redaction import redact_url
from freshet.core.types import INTERNAL, SAME_HOST, SAME_SCHEME

_WEB = ("http://", "https://")
_NO_PAGE = frozenset({
    "about",
    "blob",
    "cid",
    "data",
    "geo",
    "javascript",
    "mailto",
    "sms",
    "tel",
    "urn",
})
_KNOWN = _NO_PAGE | {"http", "https"}
_LONGEST_CACHED = 512
# What the domain name system takes (RFC 1035, section 2.3.4).
_LONGEST_LABEL, _LONGEST_NAME = 63, 253
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")

_SEGMENT = r"[\w~!$&()*+,;=:@-][\w.~!$&()*+,;=:@-]*+"
_PATH = rf"/(?:{_SEGMENT}(?:/{_SEGMENT})*+/?)?"
_QUERY = r"(?:\?[\w.~!$&()*+,;=:@/?%-]*+)?"
_PLAIN_PATH = re.compile(_PATH + _QUERY, re.ASCII)
_PLAIN_URL = re.compile(
    r"https?://(?:[a-z][a-z0-9]*(?:-[a-z0-9]+)*\.)+[a-z]{2,}" + _PATH + _QUERY, re.ASCII
)

# What people write when they leave the scheme out: a name with a dot or a port, or localhost.
_NAME = r"[^\s/?#:@]+"
_BARE_HOST = re.compile(rf"(?:{_NAME}\.{_NAME}(?::\d+)?|{_NAME}:\d+|localhost)(?:[/?#]|$)")

Resolved = tuple[str, int]


@dataclass(frozen=True, slots=True)
class PageAddress:
    """Where a page lies: its host with any port, its registrable domain, and its directory."""

    host: str
    site: str
    directory: str


class LinkResolver:
    """What the links of one page are resolved against.

    ``page_url`` is the page's final URL; ``href`` is that of its ``<base>`` element. Links are compared
    with the page, never with the base element.
    """

    __slots__ = ("_page_origin", "_root", "_url", "page_url")

    def __init__(self, page: str, href: str = "") -> None:
        self.page_url = canonical_url(page) or page
        self._page_origin = _origin(self.page_url)
        self._url = self.page_url
        if href:
            self._url = absolute_url(self.page_url, href) or self.page_url
        self._root = _origin(self._url) + "/" if self._url.startswith(_WEB) else self._url

    def resolve(self, href: str) -> Resolved | None:
        """Return the canonical absolute web URL of a link, and how it relates to the page.

        >>> LinkResolver("https://example.org/a/b").resolve("../c#d") == ("https://example.org/c", 7)
        True
        >>> LinkResolver("https://example.org/").resolve("mailto:me@example.org") is None
        True
        """
        if len(href) > _LONGEST_CACHED:
            return _resolve(self._url, self._page_origin, href)
        # A path from the root means the same on every page of a site: it is resolved once for all.
        from_root = href[:1] == "/" and href[1:2] not in {"/", "\\"}
        return _resolve_again(self._root if from_root else self._url, self._page_origin, href)


def canonical_url(url: str) -> str | None:
    """Return the one spelling of a page's URL, or None if no page can have it.

    The fragment is dropped and the query kept. A user name and password are dropped too:
    ``basic_authorization`` reads them of what a person typed. Ids that are no web address, as
    ``ota:A/B``, are kept with their scheme.

    >>> canonical_url("HTTP://Example.ORG:80/a/../b?c#d")
    'http://example.org/b?c'
    >>> canonical_url("ota:Google Ads/Privacy Policy.md")
    'ota:Google Ads/Privacy Policy.md'
    """
    try:
        whole = URL(url).href
    except ValueError:
        return None
    if whole.startswith(_WEB):
        return without_credentials(whole.partition("#")[0])
    scheme, _, path = whole.partition(":")
    if scheme in _NO_PAGE or path.startswith("/"):
        return None
    return whole.partition("#")[0].rstrip(" ")


def canonical_web_url(url: str) -> str:
    """Return the canonical URL of a page that can be fetched; ValueError says why it is none.

    >>> canonical_web_url(" HTTPS://Example.org ")
    'https://example.org/'
    >>> canonical_web_url("example.org:8080/news")
    Traceback (most recent call last):
        ...
    ValueError: has no scheme; write https://example.org:8080/news
    """
    text = url.strip()
    known = canonical_url(text)
    if known is None or not known.startswith(_WEB):
        raise ValueError(_why_no_web_page(text))
    if fault := _host_fault(_host(known)):
        raise ValueError(fault)
    return known


def _host_fault(host: str) -> str:
    """Say what keeps a host of a canonical URL from being found or asked; empty where nothing does.

    >>> _host_fault("a..example"), _host_fault("a.example:0"), _host_fault("a.example.:81")
    ('has a host name with two dots in a row', 'has the port 0, which no server has', '')
    """
    name, _, port = host.rpartition("]")[2].partition(":")
    labels = name.removesuffix(".").split(".")
    if port == "0":
        return "has the port 0, which no server has"
    if "" in labels[1:] or (name and not labels[0]):
        return f"has a host name with {'two dots in a row' if '..' in name else 'a dot in front'}"
    if max(map(len, labels)) > _LONGEST_LABEL:
        return f"has a host name with a part of more than {_LONGEST_LABEL} characters"
    if len(name.removesuffix(".")) > _LONGEST_NAME:
        return f"has a host name of more than {_LONGEST_NAME} characters"
    return ""


def _why_no_web_page(text: str) -> str:
    """Say what keeps a text from being the URL of a page that can be fetched."""
    if not text:
        return "is empty; write a URL such as https://example.org/"
    has_user_info = redact_url(text) != text
    scheme, colon, rest = text.partition(":")
    is_bare_host = _BARE_HOST.match(text) and scheme.lower() not in _NO_PAGE
    if is_bare_host and not has_user_info:
        return f"has no scheme; write https://{text}"
    is_known = scheme.lower() in _KNOWN or rest.startswith(("/", "\\"))
    is_user_name = has_user_info and not is_known
    if not colon or not _SCHEME.fullmatch(scheme) or is_user_name:
        return "has no scheme; write it whole, such as https://example.org/news"
    if scheme.lower() in {"http", "https"}:
        return "is no valid URL; check its host and port"
    return f"has the scheme {scheme}; only http and https can be fetched"


def without_credentials(url: str) -> str:
    """Return a web address without a user's name and password.

    >>> without_credentials("http://me:secret@example.org/a@b"), without_credentials("http://a?b@c")
    ('http://example.org/a@b', 'http://a?b@c')
    """
    if "@" not in url or not url.startswith(_WEB):
        return url
    scheme, _, rest = url.partition("//")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    return f"{scheme}//{authority.rpartition('@')[2]}{rest[len(authority) :]}"


def basic_authorization(url: str) -> str | None:
    """Return the Basic Authorization header of the user name and password in a web address.

    >>> basic_authorization("http://me:a%20b@example.org/"), basic_authorization("http://example.org/")
    ('Basic bWU6YSBi', None)
    """
    try:
        parsed = URL(url)
    except ValueError:
        return None
    is_named = bool(parsed.username or parsed.password) and parsed.href.startswith(_WEB)
    if not is_named:
        return None
    named = unquote_to_bytes(parsed.username) + b":" + unquote_to_bytes(parsed.password)
    return f"Basic {b64encode(named).decode()}"


def absolute_url(base: str, href: str) -> str | None:
    """Return the absolute URL of a link without its fragment, or None if it has none.

    >>> absolute_url("https://example.org/a/", "b#c")
    'https://example.org/a/b'
    """
    try:
        return join_url(base, href).partition("#")[0]
    except ValueError:
        return None


def page_address(url: str) -> PageAddress:
    """Return where the page of a canonical URL lies.

    >>> page_address("https://news.example.org:81/a/b?c")
    PageAddress(host='news.example.org:81', site='example.org', directory='news.example.org:81/a/')
    >>> page_address("ota:Google Ads/Privacy Policy.md")
    PageAddress(host='Google Ads', site='Google Ads', directory='Google Ads/')
    """
    host = _host(url)
    if not url.startswith(_WEB):
        path = url.partition(":")[2]
        return PageAddress(host, host, path.rpartition("/")[0] + "/")
    path = "/" + url.partition("?")[0].split("/", 3)[3]
    return PageAddress(host, site_of_host(host), host + path.rpartition("/")[0] + "/")


@lru_cache(maxsize=1 << 14)
def site_of_host(host: str) -> str:
    """Return the registrable domain of a host, or the host itself where it has none.

    >>> site_of_host("www.example.co.uk"), site_of_host("127.0.0.1:8000"), site_of_host("localhost")
    ('example.co.uk', '127.0.0.1', 'localhost')
    """
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    name = host.partition(":")[0].rstrip(".")
    return registrable_domain(name) or name


def registrable_domain(name: str) -> str | None:
    """Return the part of a host name that someone can register, by the Public Suffix List.

    >>> registrable_domain("a.b.github.io"), registrable_domain("com"), registrable_domain("10.0.0.1")
    ('b.github.io', None, None)
    """
    if name.rpartition(".")[2].isdecimal():
        return None
    return _public_suffixes().privatesuffix(name)


@lru_cache(maxsize=1)
def _public_suffixes() -> PublicSuffixList:
    """Return the list that the installed package brings, read once."""
    return PublicSuffixList()


def _resolve(base: str, page_origin: str, href: str) -> Resolved | None:
    """Resolve a link and compare where it points with where the page lies."""
    url = _plain(base, href) or absolute_url(base, href)
    if url is None or not url.startswith(_WEB):
        return None
    url = without_credentials(url)
    return url, _facts(page_origin, _origin(url))


_resolve_again = lru_cache(maxsize=1 << 15)(_resolve)


def _plain(base: str, href: str) -> str | None:
    """Resolve a link whose spelling is already canonical, without parsing it."""
    if href[:1] == "/":
        if _PLAIN_PATH.fullmatch(href) and base.startswith(_WEB):
            return _origin(base) + href
        return None
    return href if _PLAIN_URL.fullmatch(href) else None


def _origin(url: str) -> str:
    """Return a canonical URL up to its path."""
    if not url.startswith(_WEB):
        return url.partition("/")[0]
    return "/".join(url.split("/", 3)[:3])


def _host(url: str) -> str:
    """Return host and port of a canonical URL or of its origin."""
    if not url.startswith(_WEB):
        return url.partition(":")[2].partition("/")[0]
    return url.split("/", 3)[2].rpartition("@")[2].partition("?")[0]


@lru_cache(maxsize=1 << 14)
def _facts(page_origin: str, link_origin: str) -> int:
    """Return how a link relates to its page, as the bits of core.types."""
    page_host, link_host = _host(page_origin), _host(link_origin)
    same_scheme = page_origin.partition(":")[0] == link_origin.partition(":")[0]
    return (
        (INTERNAL if site_of_host(page_host) == site_of_host(link_host) else 0)
        | (SAME_HOST if page_host == link_host else 0)
        | (SAME_SCHEME if same_scheme else 0)
    )
