"""RSS, Atom, RDF and CDF feeds, well-formed or not."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from freshet.view.dates import parse_date
from freshet.view.formats.document import DocumentContent, Href
from freshet.view.formats.xml import (
    MAX_VIEW_ELEMENTS,
    XmlElement,
    html_to_text,
    parse_xml,
    root_name,
)
from freshet.view.url import absolute_url, canonical_url

_ENTRY_NAMES = frozenset({"item", "entry"})
_FEED_NAMES = frozenset({"channel", "feed"})
_FOREIGN_PREFIXES = frozenset({
    "creativecommons",
    "feedburner",
    "g",
    "itunes",
    "media",
    "psc",
    "thr",
})
_ENTRY_TEXT_NAMES = ("description", "summary", "abstract", "encoded", "content", "body", "fullitem")
_MESSAGE_TEXT_NAMES = ("encoded", "content", "body", "description", "summary", "abstract")
_AUTHOR_NAMES = ("author", "creator")
_FEED_TEXT_NAMES = ("description", "tagline", "subtitle", "abstract", "info")
_MAX_BASE_DEPTH = 16
_DATE_NAMES = (
    "pubdate", "published", "issued", "created", "date", "updated", "modified", "lastmod",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One entry of a feed; its URL is empty if it has no link."""

    url: str
    title: str
    published: datetime | None


@dataclass(frozen=True, slots=True)
class FeedMessage:
    """One entry of a feed as a message; ``identity`` is its id or its link."""

    published: datetime | None
    author: str
    text: str
    identity: str


def is_feed(head: str) -> bool:
    """Return whether a text with this beginning is a feed.

    >>> is_feed('<?xml version="1.0"?><rss version="2.0">'), is_feed("<html>")
    (True, False)
    """
    name = root_name(head)
    return name in {"rss", "feed", "channel"} or (name == "rdf" and "channel" in head)


def read(text: str, url: str) -> DocumentContent:
    """Return the title of a feed, the titles and texts of its entries, and their links.

    Only the first MAX_VIEW_ELEMENTS elements are read.
    """
    tree = parse_xml(text, _ENTRY_NAMES, max_elements=MAX_VIEW_ELEMENTS)
    feed = next((element for element in tree.walk() if element.name in _FEED_NAMES), tree)
    title = _title(feed)
    blocks = [title, *_texts(feed, _FEED_TEXT_NAMES)]
    hrefs: list[Href] = []
    for element in _entries(tree):
        anchor, link = _title(element), _link(element, url)
        blocks += [anchor, *_texts(element, _ENTRY_TEXT_NAMES)]
        hrefs += [(link, anchor, "")] if link else []
    is_truncated = tree.descendant_count == MAX_VIEW_ELEMENTS
    return DocumentContent(
        title, "\n".join(filter(None, blocks)), tuple(hrefs), _language(feed), is_truncated
    )


def entries(text: str, url: str, *, max_elements: int | None = None) -> tuple[FeedEntry, ...]:
    """Return the entries of a feed in document order, reading at most ``max_elements`` elements."""
    return tuple(
        FeedEntry(_entry_url(_link(element, url), url), _title(element), _published(element))
        for element in _entries(parse_xml(text, _ENTRY_NAMES, max_elements=max_elements))
    )


def messages(text: str, url: str) -> tuple[FeedMessage, ...]:
    """Return the entries of a feed as messages, in document order."""
    return tuple(
        FeedMessage(
            _published(element),
            next(filter(None, _authors(element)), ""),
            next(filter(None, _texts(element, _MESSAGE_TEXT_NAMES)), "") or _title(element),
            _identity(element) or _link(element, url),
        )
        for element in _entries(parse_xml(text, _ENTRY_NAMES))
    )


def _authors(element: XmlElement) -> Iterator[str]:
    """Yield the names of the authors of an entry."""
    for author in _native_children(element, *_AUTHOR_NAMES):
        name = author.child("name")
        yield _visible_text(author if name is None else name)


def _identity(element: XmlElement) -> str:
    """Return the id of an entry, empty if it has none."""
    ids = (child.text().strip() for child in _native_children(element, "guid", "id"))
    return next(filter(None, ids), "")


def _entries(tree: XmlElement) -> Iterator[XmlElement]:
    """Yield the elements of entries."""
    return (element for element in tree.walk() if element.name in _ENTRY_NAMES)


def _native_children(element: XmlElement, *names: str) -> Iterator[XmlElement]:
    """Yield an element's children of some names, without those of foreign vocabularies."""
    named = (child for child in element.children if child.name in names)
    return (child for child in named if child.prefix not in _FOREIGN_PREFIXES)


def _title(element: XmlElement) -> str:
    """Return the title of a feed or of an entry."""
    return next((title for title in _texts(element, ("title",)) if title), "")


def _texts(element: XmlElement, names: tuple[str, ...]) -> list[str]:
    """Return the plain text of the children with these names."""
    return [_visible_text(child) for child in _native_children(element, *names)]


def _visible_text(element: XmlElement) -> str:
    """Return the visible text of an element with children, or else of the HTML in its text."""
    if any(element.children):
        return " ".join(element.text().split())
    return html_to_text(element.text())


def _published(element: XmlElement) -> datetime | None:
    """Return the time an entry was published, or else the time of its last change."""
    children = (child for name in _DATE_NAMES for child in _native_children(element, name))
    dates = (parse_date(child.text()) for child in children)
    return next((date for date in dates if date is not None), None)


def _link(element: XmlElement, url: str) -> str:
    """Return an entry's link as written, unless an ``xml:base`` applies."""
    for target, link_element in _link_candidates(element):
        if href := target.strip():
            return _resolve_against_bases(link_element, href, url)
    return ""


def _link_candidates(element: XmlElement) -> Iterator[tuple[str, XmlElement]]:
    """Yield candidates for an entry's link, best first, with their elements."""
    for link in _native_children(element, "link"):
        if link.attributes.get("rel", "alternate") == "alternate":
            yield link.attributes.get("href") or link.text(), link
    yield element.attributes.get("href", ""), element
    yield element.attributes.get("rdf:about", ""), element
    for guid in _native_children(element, "guid"):
        yield guid.text() if "://" in guid.text() else "", guid


def _resolve_against_bases(link_element: XmlElement, href: str, url: str) -> str:
    """Resolve a link against the ``xml:base`` attributes of its ancestors."""
    bases = [ancestor.attributes.get("xml:base", "") for ancestor in _ancestors(link_element)]
    if not any(base.strip() for base in bases):
        return href
    base_url = url
    for base in reversed(bases):
        base_url = absolute_url(base_url, base.strip()) or base_url
    return absolute_url(base_url, href) or href


def _ancestors(element: XmlElement) -> Iterator[XmlElement]:
    """Yield an element and its nearest ancestors."""
    ancestor: XmlElement | None = element
    for _ in range(_MAX_BASE_DEPTH):
        if ancestor is None:
            return
        yield ancestor
        ancestor = ancestor.parent


def _entry_url(link: str, url: str) -> str:
    """Return the canonical URL of an entry's link; empty if it has none."""
    return canonical_url(absolute_url(url, link) or link) or "" if link else ""


def _language(feed: XmlElement) -> str:
    """Return the language that a feed declares."""
    declared = next(_native_children(feed, "language"), None)
    return feed.attributes.get("xml:lang", "") or (declared.text().strip() if declared else "")
