"""URLs: the canonical form, the address of a page, and the resolution of links.

Every URL goes through ada-url, because two parsers that differ are a security hole. The fast path
of ``LinkResolver.resolve`` accepts only URLs that ada-url would leave unchanged.
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

_WEB_SCHEMES = ("http://", "https://")
_NON_PAGE_SCHEMES = frozenset({
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
_KNOWN_SCHEMES = _NON_PAGE_SCHEMES | {"http", "https"}
_MAX_CACHED_CHARS = 512
# Limits of the domain name system (RFC 1035, section 2.3.4).
_MAX_LABEL_CHARS, _MAX_HOST_CHARS = 63, 253
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")

_SEGMENT = r"[\w~!$&()*+,;=:@-][\w.~!$&()*+,;=:@-]*+"
_PATH = rf"/(?:{_SEGMENT}(?:/{_SEGMENT})*+/?)?"
_QUERY = r"(?:\?[\w.~!$&()*+,;=:@/?%-]*+)?"
_PLAIN_PATH = re.compile(_PATH + _QUERY, re.ASCII)
_PLAIN_URL = re.compile(
    r"https?://(?:[a-z][a-z0-9]*(?:-[a-z0-9]+)*\.)+[a-z]{2,}" + _PATH + _QUERY, re.ASCII
)

# A host without a scheme, as people type it: a name with a dot or a port, or localhost.
_NAME = r"[^\s/?#:@]+"
_BARE_HOST = re.compile(rf"(?:{_NAME}\.{_NAME}(?::\d+)?|{_NAME}:\d+|localhost)(?:[/?#]|$)")

ResolvedLink = tuple[str, int]


@dataclass(frozen=True, slots=True)
class PageAddress:
    """The address of a page: its host with any port, its registrable domain, and its directory."""

    host: str
    site: str
    directory: str


class LinkResolver:
    """Resolves the links of one page.

    ``page_url`` is the page's final URL; ``href`` is that of its ``<base>`` element. Links are
    compared with the page, never with the base element.
    """

    __slots__ = ("_page_origin", "_root", "_url", "page_url")

    def __init__(self, page: str, href: str = "") -> None:
        self.page_url = canonical_url(page) or page
        self._page_origin = _origin(self.page_url)
        self._url = self.page_url
        if href:
            self._url = absolute_url(self.page_url, href) or self.page_url
        self._root = _origin(self._url) + "/" if self._url.startswith(_WEB_SCHEMES) else self._url

    def resolve(self, href: str) -> ResolvedLink | None:
        """Return the canonical web URL of a link, and flags for its relation to the page.

        >>> LinkResolver("https://example.org/a/b").resolve("../c#d")
        ('https://example.org/c', 7)
        >>> LinkResolver("https://example.org/").resolve("mailto:me@example.org") is None
        True
        """
        if len(href) > _MAX_CACHED_CHARS:
            return _resolve(self._url, self._page_origin, href)
        # An absolute path resolves the same on every page of a site, so one cache entry serves all.
        from_root = href[:1] == "/" and href[1:2] not in {"/", "\\"}
        return _resolve_cached(self._root if from_root else self._url, self._page_origin, href)


def canonical_url(url: str) -> str | None:
    """Return the canonical form of a page's URL, or None if no page can have it.

    The fragment is dropped and the query kept. User name and password are dropped as well;
    ``basic_authorization`` reads them from what a person typed. Ids that are no web URL, such as
    ``ota:A/B``, keep their scheme.

    >>> canonical_url("HTTP://Example.ORG:80/a/../b?c#d")
    'http://example.org/b?c'
    >>> canonical_url("ota:Google Ads/Privacy Policy.md")
    'ota:Google Ads/Privacy Policy.md'
    """
    try:
        href = URL(url).href
    except ValueError:
        return None
    if href.startswith(_WEB_SCHEMES):
        return without_credentials(href.partition("#")[0])
    scheme, _, path = href.partition(":")
    if scheme in _NON_PAGE_SCHEMES or path.startswith("/"):
        return None
    return href.partition("#")[0].rstrip(" ")


def canonical_web_url(url: str) -> str:
    """Return the canonical URL of a fetchable page; raise ValueError with the reason if none.

    >>> canonical_web_url(" HTTPS://Example.org ")
    'https://example.org/'
    >>> canonical_web_url("example.org:8080/news")
    Traceback (most recent call last):
        ...
    ValueError: has no scheme; write https://example.org:8080/news
    """
    text = url.strip()
    canonical = canonical_url(text)
    if canonical is None or not canonical.startswith(_WEB_SCHEMES):
        raise ValueError(_web_url_problem(text))
    if fault := _host_problem(_host(canonical)):
        raise ValueError(fault)
    return canonical


def _host_problem(host: str) -> str:
    """Return why the host of a canonical URL cannot be resolved or contacted; empty if it can.

    >>> _host_problem("a..example"), _host_problem("a.example:0"), _host_problem("a.example.:81")
    ('has a host name with two dots in a row', 'has the invalid port 0', '')
    """
    host_name, _, port = host.rpartition("]")[2].partition(":")
    labels = host_name.removesuffix(".").split(".")
    if port == "0":
        return "has the invalid port 0"
    if "" in labels[1:] or (host_name and not labels[0]):
        return (
            f"has a host name with {'two dots in a row' if '..' in host_name else 'a dot in front'}"
        )
    if max(map(len, labels)) > _MAX_LABEL_CHARS:
        return f"has a host name with a part of more than {_MAX_LABEL_CHARS} characters"
    if len(host_name.removesuffix(".")) > _MAX_HOST_CHARS:
        return f"has a host name of more than {_MAX_HOST_CHARS} characters"
    return ""


def _web_url_problem(text: str) -> str:
    """Return why a text is not the URL of a page that can be fetched."""
    if not text:
        return "is empty; write a URL such as https://example.org/"
    has_user_info = redact_url(text) != text
    scheme, colon, remainder = text.partition(":")
    is_bare_host = _BARE_HOST.match(text) and scheme.lower() not in _NON_PAGE_SCHEMES
    if is_bare_host and not has_user_info:
        return f"has no scheme; write https://{text}"
    is_known_scheme = scheme.lower() in _KNOWN_SCHEMES or remainder.startswith(("/", "\\"))
    is_user_name = has_user_info and not is_known_scheme
    if not colon or not _SCHEME.fullmatch(scheme) or is_user_name:
        return "has no scheme; write the full URL, such as https://example.org/news"
    if scheme.lower() in {"http", "https"}:
        return "is not a valid URL; check its host and port"
    return f"has the scheme {scheme}; only http and https can be fetched"


def without_credentials(url: str) -> str:
    """Return a web URL without user name and password.

    >>> without_credentials("http://me:secret@example.org/a@b"), without_credentials("http://a?b@c")
    ('http://example.org/a@b', 'http://a?b@c')
    """
    if "@" not in url or not url.startswith(_WEB_SCHEMES):
        return url
    scheme, _, remainder = url.partition("//")
    authority = re.split(r"[/?#]", remainder, maxsplit=1)[0]
    return f"{scheme}//{authority.rpartition('@')[2]}{remainder[len(authority) :]}"


def basic_authorization(url: str) -> str | None:
    """Return the Basic Authorization header for the user name and password in a web URL.

    >>> basic_authorization("http://me:a%20b@example.org/")
    'Basic bWU6YSBi'
    """
    try:
        parsed = URL(url)
    except ValueError:
        return None
    has_credentials = bool(parsed.username or parsed.password) and parsed.href.startswith(
        _WEB_SCHEMES
    )
    if not has_credentials:
        return None
    credentials = unquote_to_bytes(parsed.username) + b":" + unquote_to_bytes(parsed.password)
    return f"Basic {b64encode(credentials).decode()}"


def absolute_url(base: str, href: str) -> str | None:
    """Return the absolute URL of a link without its fragment, or None if it is invalid.

    >>> absolute_url("https://example.org/a/", "b#c")
    'https://example.org/a/b'
    """
    try:
        return join_url(base, href).partition("#")[0]
    except ValueError:
        return None


def page_address(url: str) -> PageAddress:
    """Return the address of the page with a canonical URL.

    >>> page_address("https://news.example.org:81/a/b?c")
    PageAddress(host='news.example.org:81', site='example.org', directory='news.example.org:81/a/')
    >>> page_address("ota:Google Ads/Privacy Policy.md")
    PageAddress(host='Google Ads', site='Google Ads', directory='Google Ads/')
    """
    host = _host(url)
    if not url.startswith(_WEB_SCHEMES):
        path = url.partition(":")[2]
        return PageAddress(host, host, path.rpartition("/")[0] + "/")
    path = "/" + url.partition("?")[0].split("/", 3)[3]
    return PageAddress(host, site_of_host(host), host + path.rpartition("/")[0] + "/")


@lru_cache(maxsize=1 << 14)
def site_of_host(host: str) -> str:
    """Return the registrable domain of a host, or the host itself if it has none.

    >>> site_of_host("www.example.co.uk"), site_of_host("127.0.0.1:8000"), site_of_host("localhost")
    ('example.co.uk', '127.0.0.1', 'localhost')
    """
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    name = host.partition(":")[0].rstrip(".")
    return registrable_domain(name) or name


def registrable_domain(name: str) -> str | None:
    """Return the registrable domain of a host name, by the Public Suffix List.

    >>> registrable_domain("a.b.github.io"), registrable_domain("com")
    ('b.github.io', None)
    """
    if name.rpartition(".")[2].isdecimal():
        return None
    return _public_suffixes().privatesuffix(name)


@lru_cache(maxsize=1)
def _public_suffixes() -> PublicSuffixList:
    """Return the list of the installed package, read once."""
    return PublicSuffixList()


def _resolve(base: str, page_origin: str, href: str) -> ResolvedLink | None:
    """Resolve a link and compare its origin with the page's."""
    url = _resolve_plain(base, href) or absolute_url(base, href)
    if url is None or not url.startswith(_WEB_SCHEMES):
        return None
    url = without_credentials(url)
    return url, _link_flags(page_origin, _origin(url))


_resolve_cached = lru_cache(maxsize=1 << 15)(_resolve)


def _resolve_plain(base: str, href: str) -> str | None:
    """Resolve a link that is already canonical, without parsing it."""
    if href[:1] == "/":
        if _PLAIN_PATH.fullmatch(href) and base.startswith(_WEB_SCHEMES):
            return _origin(base) + href
        return None
    return href if _PLAIN_URL.fullmatch(href) else None


def _origin(url: str) -> str:
    """Return a canonical URL up to its path."""
    if not url.startswith(_WEB_SCHEMES):
        return url.partition("/")[0]
    return "/".join(url.split("/", 3)[:3])


def _host(url: str) -> str:
    """Return host and port of a canonical URL or of its origin."""
    if not url.startswith(_WEB_SCHEMES):
        return url.partition(":")[2].partition("/")[0]
    return url.split("/", 3)[2].rpartition("@")[2].partition("?")[0]


@lru_cache(maxsize=1 << 14)
def _link_flags(page_origin: str, link_origin: str) -> int:
    """Return the flags of core.types for the relation of a link to its page."""
    page_host, link_host = _host(page_origin), _host(link_origin)
    same_scheme = page_origin.partition(":")[0] == link_origin.partition(":")[0]
    return (
        (INTERNAL if site_of_host(page_host) == site_of_host(link_host) else 0)
        | (SAME_HOST if page_host == link_host else 0)
        | (SAME_SCHEME if same_scheme else 0)
    )
