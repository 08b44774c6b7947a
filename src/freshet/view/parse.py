"""A snapshot becomes a View: the one way into this stage."""

from dataclasses import replace

from xxhash import xxh3_64_intdigest

from freshet.core.types import ContentKind, Snapshot, View, ViewStatistics
from freshet.view import charset, words
from freshet.view.bounds import ViewLimits, cut_to_limits
from freshet.view.formats import feeds, plain_text, sitemap
from freshet.view.formats.document import DocumentContent
from freshet.view.formats.html import ParsedDocument, parse_html
from freshet.view.language import detect_language
from freshet.view.links import resolve_links
from freshet.view.sniff import kind_of
from freshet.view.url import LinkResolver

_DEFAULT = ViewLimits()


def parse_snapshot(snapshot: Snapshot, *, dom: bool = False, limits: ViewLimits = _DEFAULT) -> View:
    """Return the view of a snapshot, whatever its bytes are; it never fails.

    >>> parse_snapshot(Snapshot("http://x.org/", b"<title>Rain</title><p>It rains")).text
    'It rains'
    """
    kind = kind_of(snapshot.body, snapshot.media_type)
    text, label, whole = decode_document(snapshot, kind, limits)
    if kind == ContentKind.HTML:
        parsed = parse_html(text, dom=dom, limits=limits)
    else:
        reading = _read(text, kind, snapshot.url, limits)
        reading = replace(reading, hrefs=reading.hrefs[: limits.max_links])
        whole = whole and not reading.is_truncated
        parsed = ParsedDocument(reading, _text_hash(reading.text))
    return _view(snapshot, kind, label, parsed, not whole)


def decode_document(
    snapshot: Snapshot, kind: ContentKind, limits: ViewLimits
) -> tuple[str, str, bool]:
    """Return the text that is read, its charset, and whether that is all of the body."""
    body = snapshot.body[: limits.max_body_bytes]
    whole = len(body) == len(snapshot.body)
    if kind == ContentKind.BINARY:
        return "", "", True
    text, label = charset.decode_text(body, snapshot.header("content-type"))
    if kind != ContentKind.HTML:
        return text, label, whole
    ascii_tags = not label.startswith("utf-16")
    source = body if ascii_tags else text.encode()
    safe = cut_to_limits(source, limits)
    if len(safe) < len(source):
        text = safe.decode(label if ascii_tags else "utf-8", "replace")
    return text, label, whole and len(safe) == len(source)


def _read(text: str, kind: ContentKind, url: str, limits: ViewLimits) -> DocumentContent:
    """Return the reading of a document that is not HTML."""
    if kind == ContentKind.BINARY:
        return DocumentContent("", "")
    if kind == ContentKind.FEED:
        return feeds.read(text, url)
    if kind == ContentKind.SITEMAP:
        return sitemap.read(text, url)
    return plain_text.read(text, kind, max_links=limits.max_links)


def _view(
    snapshot: Snapshot, kind: ContentKind, label: str, parsed: ParsedDocument, truncated: bool
) -> View:
    """Return the view of what was read: links resolved, words counted, hashes taken."""
    reading = parsed.content
    terms = words.count_words(reading.text)
    links = resolve_links(reading.hrefs, LinkResolver(snapshot.url, parsed.base))
    language = detect_language(reading.language, reading.text)
    facts = ViewStatistics(
        len(snapshot.body), len(reading.text), terms.total, len(terms), links.internal_count,
        links.external_count, parsed.elements, parsed.depth, truncated,
    )  # fmt: skip
    return View(
        snapshot.url, kind, label, reading.title, language, reading.text, terms, links,
        facts, xxh3_64_intdigest(snapshot.body), parsed.text_hash,
        parsed.structure_hash, parsed.dom,
    )  # fmt: skip


def _text_hash(text: str) -> int:
    return xxh3_64_intdigest(" ".join(text.split()).encode("utf-8", "replace"))
