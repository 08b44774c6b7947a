"""Sitemaps and sitemap indexes: XML in any namespace, plain lists of URLs, or a feed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from html import unescape

from freshet.view.dates import parse_date
from freshet.view.formats import feeds
from freshet.view.formats.document import DocumentContent
from freshet.view.formats.xml import MAX_VIEW_ELEMENTS, NO_LIMIT, XmlElement, parse_xml, root_name
from freshet.view.url import absolute_url, canonical_url

# A stored sitemap does not say where it lay: what its feed names without a host has no address.
UNKNOWN_BASE_URL = "https://nowhere.invalid/"
_ROOTS = frozenset({"urlset", "sitemapindex"})
_HOLDERS = frozenset({"url", "sitemap"})
_ONE_LOCATION = frozenset({"loc"})
# The protocol allows a sitemap no more.
MAX_ENTRIES = 50_000
_OPENING = re.compile(
    r"\ufeff?\s*+(?:<\?[^<>]*+\?>\s*+)?(?:<!--[^<>]*+-->\s*+)*+"
    r"<(?:urlset|sitemapindex)(?![\w:.-])[^<>]*+>\s*+"
)
_CLOSING = re.compile(r"</(?:urlset|sitemapindex)\s*+>\s*+\Z")
_PLAIN_ENTRY = re.compile(
    r"<(?P<holder>url|sitemap)>\s*+<loc>(?P<loc>[^<]*+)</loc>\s*+"
    r"(?:<lastmod>(?P<lastmod>[^<]*+)</lastmod>\s*+)?+"
    r"(?:<changefreq>[^<]*+</changefreq>\s*+)?+(?:<priority>[^<]*+</priority>\s*+)?+"
    r"</(?P=holder)>\s*+"
)


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One URL of a sitemap, and when its page is said to have changed last."""

    url: str
    lastmod: datetime | None = None


def is_sitemap(head: str) -> bool:
    """Say whether a text that begins so is an XML sitemap or an index of sitemaps.

    >>> is_sitemap("<sitemapindex>"), is_sitemap("<rss>")
    (True, False)
    """
    return root_name(head) in _ROOTS


def is_index(head: str) -> bool:
    """Say whether a sitemap that begins so lists further sitemaps instead of pages."""
    return root_name(head) == "sitemapindex"


def entries(text: str, url: str) -> tuple[SitemapEntry, ...]:
    """Return the pages, or the sitemaps, that a sitemap names, in document order.

    >>> entries("<urlset><url><loc>/a</loc></url></urlset>", "https://example.org/sitemap.xml")
    (SitemapEntry(url='https://example.org/a', lastmod=None),)
    """
    if feeds.is_feed(text):
        return tuple(_from_feed(text, url))
    found = _from_xml(text) if root_name(text) else _from_lines(text)
    resolved = ((_page(written, url), lastmod) for written, lastmod in found)
    return tuple(SitemapEntry(page, lastmod) for page, lastmod in resolved if page)


def written_locations(text: str) -> list[str]:
    """Return all locations that a sitemap names, as they are written, in document order.

    >>> written_locations("<urlset><url><loc>foo:bar</loc></url></urlset>")
    ['foo:bar']
    """
    if feeds.is_feed(text):
        named = (
            entry.url for entry in feeds.entries(text, UNKNOWN_BASE_URL, max_elements=NO_LIMIT)
        )
        return [url for url in named if url and not url.startswith(UNKNOWN_BASE_URL)]
    if root_name(text):
        found = (written.strip() for written, _ in _from_xml(text, NO_LIMIT))
        return [written for written in found if written]
    lines = (line.strip() for line in text.lstrip("\ufeff").splitlines())
    return [f"https://{line}" if line.startswith("www.") else line for line in lines if line]


def read(text: str, url: str) -> DocumentContent:
    """Return the URLs of a sitemap as text, with their dates, and as links.

    Of a huge one the first entries are read: as many as a sitemap may have.
    """
    written = list(_from_plain_xml(text))
    is_cut = len(written) > MAX_ENTRIES
    if not written:
        tree = parse_xml(text, _ONE_LOCATION, max_elements=MAX_VIEW_ELEMENTS)
        written, is_cut = list(_from_tree(tree)), tree.descendant_count == MAX_VIEW_ELEMENTS
    listed = [(_page(location, url), lastmod) for location, lastmod in written[:MAX_ENTRIES]]
    lines = (f"{page} {lastmod or ''}" for page, lastmod in listed if page)
    hrefs = tuple((page, "", "") for page, _ in listed if page)
    return DocumentContent(
        "", "\n".join(line.rstrip() for line in lines), hrefs, is_truncated=is_cut
    )


def _from_feed(text: str, url: str) -> Iterator[SitemapEntry]:
    """Yield the linked entries of a feed."""
    for entry in feeds.entries(text, url):
        if entry.url:
            yield SitemapEntry(entry.url, entry.published)


def _from_xml(text: str, most: int | None = None) -> Iterator[tuple[str, datetime | None]]:
    """Yield each location as it is written, with its date."""
    return _from_tree(parse_xml(text, _ONE_LOCATION, max_elements=most))


def _from_plain_xml(text: str) -> Iterator[tuple[str, datetime | None]]:
    """Yield what the reader of any XML would, from a sitemap as nearly all are written.

    Nothing is yielded of one that is written otherwise within its first entries.
    """
    opening = _OPENING.match(text)
    place = opening.end() if opening else 0
    found: list[tuple[str, datetime | None]] = []
    while place and (entry := _PLAIN_ENTRY.match(text, place)):
        lastmod = entry["lastmod"]
        found.append((unescape(entry["loc"]), parse_date(unescape(lastmod)) if lastmod else None))
        place = entry.end()
        if len(found) > MAX_ENTRIES:
            break
    if len(found) > MAX_ENTRIES or _CLOSING.match(text, place):
        yield from found


def _from_tree(tree: XmlElement) -> Iterator[tuple[str, datetime | None]]:
    """Yield each location of a tree as it is written, with its date."""
    for holder in tree.walk():
        if holder.name in _HOLDERS and holder.parent and holder.parent.name != "loc":
            yield _location(holder), _lastmod(holder)


def _location(holder: XmlElement) -> str:
    """Return the location of a holder, or the address that some write without an element."""
    if location := holder.child("loc"):
        return location.text()
    own = "".join(part for part in holder.content if isinstance(part, str)).strip()
    return own if own.startswith(("http://", "https://")) else ""


def _lastmod(holder: XmlElement) -> datetime | None:
    """Return the date of last change that stands beside a location."""
    written = holder.child("lastmod")
    return parse_date(written.text()) if written else None


def _from_lines(text: str) -> Iterator[tuple[str, None]]:
    """Yield the lines of a plain list that can be URLs."""
    for line in text.lstrip("\ufeff").splitlines():
        written = line.strip()
        if written.startswith("www."):
            yield "//" + written, None
        elif "://" in written[:10]:
            yield written, None


def _page(written: str, url: str) -> str:
    """Return the canonical URL of a location, or nothing if it has none."""
    stripped = written.strip()
    return canonical_url(absolute_url(url, stripped) or "") or "" if stripped else ""
