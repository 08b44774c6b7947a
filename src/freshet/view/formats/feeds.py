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

_ENTRY = frozenset({"item", "entry"})
_FEED = frozenset({"channel", "feed"})
_FOREIGN = frozenset({"creativecommons", "feedburner", "g", "itunes", "media", "psc", "thr"})
_ENTRY_TEXTS = ("description", "summary", "abstract", "encoded", "content", "body", "fullitem")
_FEED_TEXTS = ("description", "tagline", "subtitle", "abstract", "info")
_DEEPEST_BASE = 16
_DATES = ("pubdate", "published", "issued", "created", "date", "updated", "modified", "lastmod")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One entry of a feed; its URL is empty if it links nowhere."""

    url: str
    title: str
    published: datetime | None


def is_feed(head: str) -> bool:
    """Say whether a text that begins so is a feed.

    >>> is_feed('<?xml version="1.0"?><rss version="2.0">'), is_feed("<html>")
    (True, False)
    """
    name = root_name(head)
    return name in {"rss", "feed", "channel"} or (name == "rdf" and "channel" in head)


def read(text: str, url: str) -> DocumentContent:
    """Return the title of a feed, the titles and texts of its entries, and their links.

    Of a huge one the first elements are read.
    """
    tree = parse_xml(text, _ENTRY, max_elements=MAX_VIEW_ELEMENTS)
    feed = _feed(tree)
    title = _title(feed)
    blocks = [title, *_texts(feed, _FEED_TEXTS)]
    hrefs: list[Href] = []
    for element in _entries(tree):
        anchor, link = _title(element), _link(element, url)
        blocks += [anchor, *_texts(element, _ENTRY_TEXTS)]
        hrefs += [(link, anchor, "")] if link else []
    is_cut = tree.descendant_count == MAX_VIEW_ELEMENTS
    return DocumentContent(
        title, "\n".join(filter(None, blocks)), tuple(hrefs), _language(feed), is_cut
    )


def entries(text: str, url: str, *, max_elements: int | None = None) -> tuple[FeedEntry, ...]:
    """Return the entries of a feed in document order, read up to ``max_elements`` elements."""
    return tuple(
        FeedEntry(_page(_link(element, url), url), _title(element), _published(element))
        for element in _entries(parse_xml(text, _ENTRY, max_elements=max_elements))
    )


def _entries(tree: XmlElement) -> Iterator[XmlElement]:
    """Yield the elements that stand for entries."""
    return (element for element in tree.walk() if element.name in _ENTRY)


def _feed(tree: XmlElement) -> XmlElement:
    """Return the element that describes the feed itself."""
    return next((element for element in tree.walk() if element.name in _FEED), tree)


def _own(element: XmlElement, name: str) -> Iterator[XmlElement]:
    """Yield an element's children of a name, without those of foreign vocabularies."""
    return (
        child for child in element.children if child.name == name and child.prefix not in _FOREIGN
    )


def _title(element: XmlElement) -> str:
    """Return the title of a feed or of an entry."""
    return next((title for title in _texts(element, ("title",)) if title), "")


def _texts(element: XmlElement, names: tuple[str, ...]) -> list[str]:
    """Return what the children of these names say, as plain text."""
    return [
        _said(child)
        for child in element.children
        if child.name in names and child.prefix not in _FOREIGN
    ]


def _said(element: XmlElement) -> str:
    """Return the visible text of an element that holds elements, or else HTML written as text."""
    if any(element.children):
        return " ".join(element.text().split())
    return html_to_text(element.text())


def _published(element: XmlElement) -> datetime | None:
    """Return when an entry was published, or else when it last changed."""
    dates = (parse_date(child.text()) for name in _DATES for child in _own(element, name))
    return next((date for date in dates if date is not None), None)


def _link(element: XmlElement, url: str) -> str:
    """Return where an entry points to, as written unless an ``xml:base`` moves it."""
    for target, holder in _targets(element):
        if written := target.strip():
            return _rebased(holder, written, url)
    return ""


def _targets(element: XmlElement) -> Iterator[tuple[str, XmlElement]]:
    """Yield what may be an entry's link, best first, with the element it stands in."""
    for link in _own(element, "link"):
        if link.attributes.get("rel", "alternate") == "alternate":
            yield link.attributes.get("href") or link.text(), link
    yield element.attributes.get("href", ""), element
    yield element.attributes.get("rdf:about", ""), element
    for guid in _own(element, "guid"):
        yield guid.text() if "://" in guid.text() else "", guid


def _rebased(holder: XmlElement, written: str, url: str) -> str:
    """Resolve a link against the ``xml:base`` attributes around it."""
    bases = [base for base in map(_xml_base, _ancestors(holder)) if base]
    if not bases:
        return written
    around = url
    for base in reversed(bases):
        around = absolute_url(around, base) or around
    return absolute_url(around, written) or written


def _ancestors(element: XmlElement) -> Iterator[XmlElement]:
    """Yield an element and the nearest elements around it."""
    around: XmlElement | None = element
    for _ in range(_DEEPEST_BASE):
        if around is None:
            return
        yield around
        around = around.parent


def _xml_base(element: XmlElement) -> str:
    """Return the base that an element declares."""
    return element.attributes.get("xml:base", "").strip()


def _page(link: str, url: str) -> str:
    """Return the canonical URL of an entry's link, or nothing if it has none."""
    return canonical_url(absolute_url(url, link) or link) or "" if link else ""


def _language(feed: XmlElement) -> str:
    """Return the language that a feed declares."""
    declared = next(_own(feed, "language"), None)
    return feed.attributes.get("xml:lang", "") or (declared.text().strip() if declared else "")
