"""The page URL and the media type of a file in a scraping repository."""

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
SIGNATURES = (
    (
        re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body)\b", re.I | re.S),
        "text/html",
    ),
    (re.compile(rb"\s*<\?xml\b", re.I), "application/xml"),
    (re.compile(rb"\s*[\[{]\s*[\]}\"\[{]"), "application/json"),
)
HOST_PATH = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}/.", re.I)
URL_SAFE_CHARACTERS = "/?&=%:@!$'()*+,;~[]"
SNIFF_BYTES = 8_000
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def page_url(repository: str, path: bytes) -> str:
    """Return the URL that a path spells, or else one made of repository and path.

    A path spells a URL if its first folder is a host name, or if it is an escaped http(s) URL.

    >>> page_url("terms", b"www.example.org/privacy.html")
    'https://www.example.org/privacy.html'
    >>> page_url("terms", b"https%3A%2F%2Fexample.org%2F")
    'https://example.org/'
    >>> page_url("terms", b"Example/Privacy Policy.md")
    'git:terms/Example/Privacy%20Policy.md'
    """
    text = path.decode("ascii", "replace")
    if text.lower().startswith(("https%3a%2f%2f", "http%3a%2f%2f")):
        return quote(unquote(text), safe=URL_SAFE_CHARACTERS)
    if HOST_PATH.match(text):
        return "https://" + quote(path, safe=URL_SAFE_CHARACTERS)
    return f"git:{quote(repository)}/{quote(path)}"


def media_type(path: bytes, body: bytes) -> str:
    """Return a file's media type by suffix or content; raise ValueError if it is binary.

    >>> media_type(b"a/page", b"<!DOCTYPE html><title>")
    'text/html; charset=utf-8'
    """
    start = body[:SNIFF_BYTES]
    if b"\0" in start and not start.startswith(UTF16_MARKS):
        raise ValueError("is a binary file")
    extension = path.rpartition(b"/")[2].rpartition(b".")[2].lower()
    sniffed = (kind for signature, kind in SIGNATURES if signature.match(start))
    kind = MEDIA_TYPES.get(extension) or next(sniffed, "text/plain")
    try:
        body.decode()
    except UnicodeDecodeError:
        return kind
    return f"{kind}; charset=utf-8"
