"""The kind of a snapshot, by its declared media type and its first bytes."""

import re

from freshet.core.types import ContentKind
from freshet.view.formats import feeds, sitemap

_HEAD_BYTES = 2_048
_KIND_BY_TYPE = {
    "text/html": ContentKind.HTML,
    "application/xhtml+xml": ContentKind.HTML,
    "text/markdown": ContentKind.MARKDOWN,
    "text/x-markdown": ContentKind.MARKDOWN,
    "application/json": ContentKind.JSON,
    "text/json": ContentKind.JSON,
    "application/rss+xml": ContentKind.FEED,
    "application/atom+xml": ContentKind.FEED,
    "application/rdf+xml": ContentKind.FEED,
}
_HTML_START = re.compile(
    rb"<(?:!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|meta"
    rb"|link|!--)[\s>/-]?",
    re.IGNORECASE,
)
_HTML_DOCUMENT = re.compile(rb"\s*<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
_BINARY_SIGNATURES = (
    b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"\x7fELF",
    b"OggS", b"ID3", b"\x00\x00\x01\x00", b"wOFF", b"wOF2", b"BM", b"Rar!", b"7z\xbc\xaf",
)  # fmt: skip
_TEXT_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def kind_of(body: bytes, media_type: str = "") -> ContentKind:
    """Return the kind of a body.

    A body that is declared as HTML but is a feed, a sitemap or an image gets its real kind.

    >>> kind_of(b"<!doctype html>"), kind_of(b"%PDF-1.7", "text/html")
    (<ContentKind.HTML: 'html'>, <ContentKind.BINARY: 'binary'>)
    """
    head = body[:_HEAD_BYTES]
    if _HTML_DOCUMENT.match(head):
        return ContentKind.HTML
    if _is_binary(head, media_type):
        return ContentKind.BINARY
    return _kind_of_xml(head) or _kind_of_media_type(media_type) or _guess_kind(head)


def _kind_of_media_type(media_type: str) -> ContentKind | None:
    if media_type.endswith("+json"):
        return ContentKind.JSON
    is_xml = media_type.endswith(("/xml", "+xml"))
    return _KIND_BY_TYPE.get(media_type) or (ContentKind.HTML if is_xml else None)


def _is_binary(head: bytes, media_type: str) -> bool:
    if head.startswith(_TEXT_BOMS):
        return False
    if head.startswith(_BINARY_SIGNATURES):
        return True
    if media_type.startswith(("image/", "audio/", "video/", "font/")):
        return media_type != "image/svg+xml"
    return (
        head.count(b"\0") > 1
        and media_type not in _KIND_BY_TYPE
        and not _HTML_START.match(_content_start(head))
    )


def _kind_of_xml(head: bytes) -> ContentKind | None:
    """Return the kind of a feed or sitemap; None for other XML."""
    if b"<" not in head[:64]:
        return None
    text = head.replace(b"\0", b"").decode("utf-8", "replace").lstrip("\ufeff\ufffd \t\r\n")
    if not text.startswith("<"):
        return None
    if sitemap.is_sitemap(text):
        return ContentKind.SITEMAP
    return ContentKind.FEED if feeds.is_feed(text) else None


def _guess_kind(head: bytes) -> ContentKind:
    """Return the kind that the first characters suggest."""
    start = _content_start(head)
    if _HTML_START.match(start) or b"<html" in head.lower():
        return ContentKind.HTML
    if start.startswith((b"{", b"[")):
        return ContentKind.JSON
    return ContentKind.HTML if start.startswith(b"<") else ContentKind.TEXT


def _content_start(head: bytes) -> bytes:
    """Return the first bytes without byte order mark and white space."""
    return head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\f")
