"""Bytes to text: which charset a document is in, and reading it without ever failing."""

import codecs
import re

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

UTF8 = "utf-8"
_BOMS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PARAMETER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_META = re.compile(
    rb"<meta[^>]{0,400}?charset\s*=\s*[\"']?\s*([a-z0-9_:.-]{1,40})"
    rb"|<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([a-z0-9_:.-]{1,40})",
    re.IGNORECASE,
)
_HEAD_BYTES = 4_096
_ASCII = bytes(range(128))
_GOOD_PER_BAD = 8


def decode_text(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Return the text and its charset; what does not decode becomes replacement characters.

    A byte order mark wins over the HTTP header, which wins over the document's own declaration; a
    declaration that the bytes contradict loses to UTF-8 or to detection.

    >>> decode_text(b"caf\\xe9", "text/html; charset=latin1")
    ('café', 'cp1252')
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace"), name
    for label in (_declared(content_type), _from_meta(body)):
        text = _decoded(body, label)
        if text is not None:
            return text, label
    return _guessed(body)


def _declared(content_type: str) -> str:
    found = _PARAMETER.search(content_type)
    return _known(found[1]) if found else ""


def _from_meta(body: bytes) -> str:
    """Return the charset that the document declares; one in ASCII cannot be in UTF-16."""
    found = _META.search(body[:_HEAD_BYTES])
    if not found:
        return ""
    label = _known((found[1] or found[2]).decode("ascii", "ignore"))
    return UTF8 if label.startswith("utf-16") else label


def _known(label: str) -> str:
    """Return the name that browsers give a charset label, or nothing for an unknown one."""
    name = map_encoding_to_html5(label.encode("ascii", "ignore").decode(), fallback_utf8=False)
    try:
        return codecs.lookup(name).name if name else ""
    except LookupError:
        return ""


def _decoded(body: bytes, label: str) -> str | None:
    """Return the text when the bytes fit the charset, but for a few that are replaced."""
    if not label:
        return None
    try:
        return body.decode(label)
    except (UnicodeError, LookupError):
        text = body.decode(label, "replace")
    beyond_ascii = len(body.translate(None, _ASCII))
    return text if text.count("\ufffd") * _GOOD_PER_BAD <= beyond_ascii else None


def _guessed(body: bytes) -> tuple[str, str]:
    text = _decoded(body, UTF8)
    if text is not None:
        return text, UTF8
    label = _known(str(detect_encoding(body) or "")) or "cp1252"
    return body.decode(label, "replace"), label
