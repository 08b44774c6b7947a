"""The target of a redirecting answer."""

from scrapy.http import Response

from freshet.view.url import absolute_url, canonical_url

MAX_URL_CHARS = 8_192
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})


def redirect_target(response: Response) -> str | None:
    """Return the target of a redirect if it is a web URL within the maximum length, else None."""
    location = response.headers.get("Location")
    if response.status not in REDIRECT_STATUSES or not location:
        return None
    url = absolute_url(response.url, decode_location(location))
    target = canonical_url(url) if url and len(url) <= MAX_URL_CHARS else None
    if target is None or not target.startswith(("http://", "https://")):
        return None
    return target


def decode_location(location: bytes) -> str:
    """Decode a Location header as browsers do: bytes beyond ASCII are percent-encoded.

    >>> decode_location("/caf\u00e9".encode())
    '/caf%C3%A9'
    """
    return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in location)
