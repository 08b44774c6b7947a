"""WARC files as somebody else's program writes them, record by record."""

import gzip
from base64 import b32encode
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

URL = "https://example.org/news"
PAGE = b"<title>News</title><p>The river rose in spring and the fields were green again.</p>"
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"


def raw(kind: str, number: int, block: bytes, *fields: str, url: str = URL) -> bytes:
    """Return one record without compression; its number makes its id and its day."""
    target = [f"WARC-Target-URI: {url}"] if url else []
    head = [
        "WARC/1.0", f"WARC-Type: {kind}", f"WARC-Record-ID: <{name(number)}>",
        f"WARC-Date: 2024-01-{number:02}T00:00:00Z", *target, *fields,
        f"Content-Length: {len(block)}",
    ]  # fmt: skip
    return "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def name(number: int) -> str:
    """Return the id of a record."""
    return uuid5(NAMESPACE_URL, str(number)).urn


def digest(body: bytes) -> str:
    """Return a payload's digest as WARC writes it."""
    return f"sha1:{b32encode(sha1(body, usedforsecurity=False).digest()).decode()}"


def http(body: bytes, status: str = "200 OK") -> bytes:
    """Return an HTTP response."""
    return f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n\r\n".encode() + body


def response(number: int, body: bytes = PAGE, *, url: str = URL) -> bytes:
    """Return a response record."""
    kind = "Content-Type: application/http; msgtype=response"
    return raw(
        "response", number, http(body), kind, f"WARC-Payload-Digest: {digest(body)}", url=url
    )


def request(
    number: int, of: int, *, named: bool = True, url: str = URL, method: str = "GET"
) -> bytes:
    """Return the request of a response, which it may name or only stand beside."""
    concurrent = [f"WARC-Concurrent-To: <{name(of)}>"] if named else []
    block = f"{method} / HTTP/1.1\r\nHost: example.org\r\n\r\n".encode()
    return raw("request", number, block, "Content-Type: application/http", *concurrent, url=url)


def metadata(number: int, of: int) -> bytes:
    """Return facts about a response."""
    about = f"WARC-Refers-To: <{name(of)}>"
    return raw("metadata", number, b"fetchTimeMs: 1\r\n", about)


def revisit(number: int, profile: str, body: bytes = PAGE, *, url: str = URL) -> bytes:
    """Return a revisit of a payload."""
    status = "304 Not Modified" if profile == NOT_MODIFIED else "200 OK"
    fields = (f"WARC-Profile: {profile}", f"WARC-Payload-Digest: {digest(body)}")
    return raw("revisit", number, http(b"", status), *fields, url=url)


def write(path: Path, records: Sequence[bytes]) -> list[bytes]:
    """Write a gzip member per record; return the members."""
    members = [gzip.compress(record, mtime=0) for record in records]
    path.write_bytes(b"".join(members))
    return members
