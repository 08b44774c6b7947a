"""Parse a snapshot into a View: the entry point of this stage."""

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

_DEFAULT_LIMITS = ViewLimits()


def parse_snapshot(
    snapshot: Snapshot, *, dom: bool = False, limits: ViewLimits = _DEFAULT_LIMITS
) -> View:
    """Return the view of a snapshot; this never fails, whatever its bytes are.

    >>> parse_snapshot(Snapshot("http://x.org/", b"<title>Rain</title><p>It rains")).text
    'It rains'
    """
    kind = kind_of(snapshot.body, snapshot.media_type)
    text, charset_name, is_complete = decode_document(snapshot, kind, limits)
    if kind == ContentKind.HTML:
        parsed = parse_html(text, dom=dom, limits=limits)
    else:
        content = _read_other_format(text, kind, snapshot.url, limits)
        content = replace(content, hrefs=content.hrefs[: limits.max_links])
        is_complete = is_complete and not content.is_truncated
        text_line = " ".join(content.text.split()).encode("utf-8", "replace")
        parsed = ParsedDocument(content, xxh3_64_intdigest(text_line))
    content = parsed.content
    terms = words.count_words(content.text)
    links = resolve_links(content.hrefs, LinkResolver(snapshot.url, parsed.base))
    language = detect_language(content.language, content.text)
    statistics = ViewStatistics(
        len(snapshot.body), len(content.text), terms.total, len(terms), links.internal_count,
        links.external_count, parsed.elements, parsed.depth, not is_complete,
    )  # fmt: skip
    return View(
        snapshot.url, kind, charset_name, content.title, language, content.text, terms, links,
        statistics, xxh3_64_intdigest(snapshot.body), parsed.text_hash,
        parsed.structure_hash, parsed.dom,
    )  # fmt: skip


def decode_document(
    snapshot: Snapshot, kind: ContentKind, limits: ViewLimits
) -> tuple[str, str, bool]:
    """Return the decoded text, its charset, and whether it is the complete body."""
    body = snapshot.body[: limits.max_body_bytes]
    is_complete = len(body) == len(snapshot.body)
    if kind == ContentKind.BINARY:
        return "", "", True
    text, charset_name = charset.decode_text(body, snapshot.header("content-type"))
    if kind != ContentKind.HTML:
        return text, charset_name, is_complete
    is_ascii_based = not charset_name.startswith("utf-16")
    source = body if is_ascii_based else text.encode()
    bounded = cut_to_limits(source, limits)
    if len(bounded) < len(source):
        text = bounded.decode(charset_name if is_ascii_based else "utf-8", "replace")
    return text, charset_name, is_complete and len(bounded) == len(source)


def _read_other_format(
    text: str, kind: ContentKind, url: str, limits: ViewLimits
) -> DocumentContent:
    """Return the content of a document that is not HTML."""
    if kind == ContentKind.BINARY:
        return DocumentContent("", "")
    if kind == ContentKind.FEED:
        return feeds.read(text, url)
    if kind == ContentKind.SITEMAP:
        return sitemap.read(text, url)
    return plain_text.read(text, kind, max_links=limits.max_links)
