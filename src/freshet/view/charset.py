"""Detect the charset of a document and decode it; decoding never fails."""

import codecs
import re

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

UTF8 = "utf-8"
_BOMS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET_PARAMETER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_DOCUMENT_DECLARATION = re.compile(
    rb"<meta[^>]{0,400}?charset\s*=\s*[\"']?\s*([a-z0-9_:.-]{1,40})"
    rb"|<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([a-z0-9_:.-]{1,40})",
    re.IGNORECASE,
)
_HEAD_BYTES = 4_096
_ASCII = bytes(range(128))
_GOOD_PER_BAD = 8


def decode_text(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Return the text and its charset; undecodable bytes become replacement characters.

    A byte order mark has priority over the HTTP header, and the header over the document's own
    declaration. A declaration that contradicts the bytes is ignored in favour of UTF-8 or
    detection.

    >>> decode_text(b"caf\\xe9", "text/html; charset=latin1")
    ('café', 'cp1252')
    """
    for byte_order_mark, name in _BOMS:
        if body.startswith(byte_order_mark):
            return body[len(byte_order_mark) :].decode(name, "replace"), name
    for label in (_charset_parameter(content_type), _declared_in_document(body)):
        text = _decode_if_plausible(body, label)
        if text is not None:
            return text, label
    return _detect_and_decode(body)


def _charset_parameter(content_type: str) -> str:
    parameter = _CHARSET_PARAMETER.search(content_type)
    return _python_charset(parameter[1]) if parameter else ""


def _declared_in_document(body: bytes) -> str:
    """Return the charset that the document declares; a readable declaration cannot be in UTF-16."""
    declaration = _DOCUMENT_DECLARATION.search(body[:_HEAD_BYTES])
    if not declaration:
        return ""
    label = _python_charset((declaration[1] or declaration[2]).decode("ascii", "ignore"))
    return UTF8 if label.startswith("utf-16") else label


def _python_charset(label: str) -> str:
    """Return Python's name of a charset label as browsers understand it; empty if it is unknown."""
    name = map_encoding_to_html5(label.encode("ascii", "ignore").decode(), fallback_utf8=False)
    try:
        return codecs.lookup(name).name if name else ""
    except LookupError:
        return ""


def _decode_if_plausible(body: bytes, label: str) -> str | None:
    """Return the text if nearly all bytes fit the charset; the others are replaced."""
    if not label:
        return None
    try:
        return body.decode(label)
    except (UnicodeError, LookupError):
        text = body.decode(label, "replace")
    beyond_ascii = len(body.translate(None, _ASCII))
    return text if text.count("\ufffd") * _GOOD_PER_BAD <= beyond_ascii else None


def _detect_and_decode(body: bytes) -> tuple[str, str]:
    text = _decode_if_plausible(body, UTF8)
    if text is not None:
        return text, UTF8
    label = _python_charset(str(detect_encoding(body) or "")) or "cp1252"
    return body.decode(label, "replace"), label
