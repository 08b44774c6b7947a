"""Which page a file of a scraping repository is, and what its bytes are."""

import re
from urllib.parse import quote, unquote

MEDIA_TYPES = {
    b"html": "text/html",
    b"htm": "text/html",
    b"xhtml": "application/xhtml+xml",
    b"md": "text/markdown",
    b"markdown": "text/markdown",
    b"json": "application/json",
    b"xml": "application/xml",
    b"rss": "application/rss+xml",
    b"atom": "application/atom+xml",
}
OPENINGS = (
    (
        re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body)\b", re.I | re.S),
        "text/html",
    ),
    (re.compile(rb"\s*<\?xml\b", re.I), "application/xml"),
    (re.compile(rb"\s*[\[{]\s*[\]}\"\[{]"), "application/json"),
)
SITE = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}/.", re.I)
URL_LETTERS = "/?&=%:@!$'()*+,;~[]"
SNIFFED = 8_000
WIDE = (b"\xff\xfe", b"\xfe\xff")


def page_url(repository: str, path: bytes) -> str:
    """Return the URL that a path spells, or else one made of repository and path.

    A path spells a URL when its first folder is a host name, or when it is an escaped http(s) URL.

    >>> page_url("terms", b"www.example.org/privacy.html")
    'https://www.example.org/privacy.html'
    >>> page_url("terms", b"https%3A%2F%2Fexample.org%2F")
    'https://example.org/'
    >>> page_url("terms", b"Example/Privacy Policy.md")
    'git:terms/Example/Privacy%20Policy.md'
    """
    text = path.decode("ascii", "replace")
    if text.lower().startswith(("https%3a%2f%2f", "http%3a%2f%2f")):
        return quote(unquote(text), safe=URL_LETTERS)
    if SITE.match(text):
        return "https://" + quote(path, safe=URL_LETTERS)
    return f"git:{quote(repository)}/{quote(path)}"


def media_type(path: bytes, body: bytes) -> str:
    """Return what a file is by its suffix, else by how it begins; ValueError if it is binary.

    >>> media_type(b"a/page", b"<!DOCTYPE html><title>")
    'text/html; charset=utf-8'
    """
    start = body[:SNIFFED]
    if b"\0" in start and not start.startswith(WIDE):
        raise ValueError("is a binary file")
    suffix = path.rpartition(b"/")[2].rpartition(b".")[2].lower()
    return _with_charset(MEDIA_TYPES.get(suffix) or _sniffed(start), body)


def _sniffed(start: bytes) -> str:
    """Return what the first bytes look like."""
    return next((kind for opening, kind in OPENINGS if opening.match(start)), "text/plain")


def _with_charset(kind: str, body: bytes) -> str:
    """Say UTF-8 where the bytes are UTF-8, and nothing where a reader has to find out."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return kind
    return f"{kind}; charset=utf-8"
