"""Sitemaps and sitemap indexes: XML in any namespace, plain lists of URLs, or feeds."""

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

# The URL of a stored sitemap is unknown, so relative URLs in it cannot be resolved.
UNKNOWN_BASE_URL = "https://nowhere.invalid/"
_ROOT_NAMES = frozenset({"urlset", "sitemapindex"})
_ENTRY_NAMES = frozenset({"url", "sitemap"})
_LOCATION_NAMES = frozenset({"loc"})
# The limit of the sitemap protocol.
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

# A location as written and its date of last change.
WrittenLocation = tuple[str, datetime | None]


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One URL of a sitemap and the declared time of its last change."""

    url: str
    lastmod: datetime | None = None


def is_sitemap(head: str) -> bool:
    """Return whether a text with this beginning is an XML sitemap or sitemap index.

    >>> is_sitemap("<sitemapindex>"), is_sitemap("<rss>")
    (True, False)
    """
    return root_name(head) in _ROOT_NAMES


def is_index(head: str) -> bool:
    """Return whether a sitemap with this beginning lists sitemaps instead of pages."""
    return root_name(head) == "sitemapindex"


def entries(text: str, url: str) -> tuple[SitemapEntry, ...]:
    """Return the pages, or the sitemaps, of a sitemap in document order.

    >>> entries("<urlset><url><loc>/a</loc></url></urlset>", "https://example.org/sitemap.xml")
    (SitemapEntry(url='https://example.org/a', lastmod=None),)
    """
    if feeds.is_feed(text):
        linked = (entry for entry in feeds.entries(text, url) if entry.url)
        return tuple(SitemapEntry(entry.url, entry.published) for entry in linked)
    locations = _locations_from_xml(text) if root_name(text) else _locations_from_lines(text)
    resolved = ((_canonical_location(location, url), lastmod) for location, lastmod in locations)
    return tuple(SitemapEntry(page, lastmod) for page, lastmod in resolved if page)


def written_locations(text: str) -> list[str]:
    """Return all locations of a sitemap as written, in document order.

    >>> written_locations("<urlset><url><loc>foo:bar</loc></url></urlset>")
    ['foo:bar']
    """
    if feeds.is_feed(text):
        feed_entries = feeds.entries(text, UNKNOWN_BASE_URL, max_elements=NO_LIMIT)
        urls = (entry.url for entry in feed_entries)
        return [url for url in urls if url and not url.startswith(UNKNOWN_BASE_URL)]
    if root_name(text):
        locations = (location.strip() for location, _ in _locations_from_xml(text, NO_LIMIT))
        return [location for location in locations if location]
    lines = (line.strip() for line in text.lstrip("\ufeff").splitlines())
    return [f"https://{line}" if line.startswith("www.") else line for line in lines if line]


def read(text: str, url: str) -> DocumentContent:
    """Return the URLs of a sitemap with their dates as text, and as links.

    At most MAX_ENTRIES entries are read.
    """
    locations = list(_locations_from_plain_xml(text))
    is_truncated = len(locations) > MAX_ENTRIES
    if not locations:
        tree = parse_xml(text, _LOCATION_NAMES, max_elements=MAX_VIEW_ELEMENTS)
        locations = list(_locations_from_tree(tree))
        is_truncated = tree.descendant_count == MAX_VIEW_ELEMENTS
    read_locations = locations[:MAX_ENTRIES]
    resolved = [(_canonical_location(written, url), lastmod) for written, lastmod in read_locations]
    pages = [(page, lastmod) for page, lastmod in resolved if page]
    text = "\n".join(f"{page} {lastmod or ''}".rstrip() for page, lastmod in pages)
    return DocumentContent("", text, tuple((page, "", "") for page, _ in pages), "", is_truncated)


def _locations_from_xml(text: str, max_elements: int | None = None) -> Iterator[WrittenLocation]:
    return _locations_from_tree(parse_xml(text, _LOCATION_NAMES, max_elements=max_elements))


def _locations_from_plain_xml(text: str) -> Iterator[WrittenLocation]:
    """Yield each location of a sitemap in the usual form, without building a tree.

    Yield nothing if one of the first entries has another form.
    """
    opening = _OPENING.match(text)
    position = opening.end() if opening else 0
    locations: list[WrittenLocation] = []
    while position and (entry := _PLAIN_ENTRY.match(text, position)):
        lastmod = parse_date(unescape(entry["lastmod"])) if entry["lastmod"] else None
        locations.append((unescape(entry["loc"]), lastmod))
        position = entry.end()
        if len(locations) > MAX_ENTRIES:
            break
    if len(locations) > MAX_ENTRIES or _CLOSING.match(text, position):
        yield from locations


def _locations_from_tree(tree: XmlElement) -> Iterator[WrittenLocation]:
    for entry in tree.walk():
        if entry.name in _ENTRY_NAMES and entry.parent and entry.parent.name != "loc":
            lastmod = entry.child("lastmod")
            yield _written_location(entry), parse_date(lastmod.text()) if lastmod else None


def _written_location(entry: XmlElement) -> str:
    """Return the location of an entry, or the URL that some sitemaps write without an element."""
    if location := entry.child("loc"):
        return location.text()
    own_text = "".join(node for node in entry.content if isinstance(node, str)).strip()
    return own_text if own_text.startswith(("http://", "https://")) else ""


def _locations_from_lines(text: str) -> Iterator[WrittenLocation]:
    """Yield the lines of a plain list that look like URLs."""
    for line in text.lstrip("\ufeff").splitlines():
        stripped = line.strip()
        if stripped.startswith("www."):
            yield "//" + stripped, None
        elif "://" in stripped[:10]:
            yield stripped, None


def _canonical_location(location: str, url: str) -> str:
    """Return the canonical URL of a location; empty if it has none."""
    stripped = location.strip()
    return canonical_url(absolute_url(url, stripped) or "") or "" if stripped else ""
