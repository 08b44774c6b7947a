"""Where a redirecting answer leads."""

from scrapy.http import Response

from freshet.view.url import absolute, canonical

LONGEST_URL = 8_192
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def target_of(response: Response) -> str | None:
    """Return where an answer sends its reader: a web address of bearable length, else None."""
    location = response.headers.get("Location")
    if response.status not in REDIRECTS or not location:
        return None
    url = absolute(response.url, readable(location))
    known = canonical(url) if url and len(url) <= LONGEST_URL else None
    if known is None or not known.startswith(("http://", "https://")):
        return None
    return known


def readable(location: bytes) -> str:
    """Return a Location as browsers read it: bytes beyond ASCII are escaped as they are.

    >>> readable("/caf\u00e9".encode())
    '/caf%C3%A9'
    """
    return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in location)
