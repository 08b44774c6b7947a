"""Small records for the tests of this folder."""

import warnings
from datetime import UTC, datetime
from pathlib import Path

from freshet.archive.warc.build import (
    ArchiveOrigin,
    build_metadata,
    build_request,
    build_resource,
    build_response,
)
from freshet.archive.warc.record import WarcRecord
from freshet.archive.warc.writer import WarcWriter
from freshet.core.clock import FixedClock

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    from fastwarc.warc import ArchiveIterator as FastwarcIterator

__all__ = ["CLOCK", "HTTP", "NOW", "ORIGIN", "URL", "FastwarcIterator", "small_file", "visit"]

NOW = datetime(2026, 11, 15, 8, 30, 0, 123456, tzinfo=UTC)
CLOCK = FixedClock(NOW)
ORIGIN = ArchiveOrigin("freshet/0.1", source="news", contact="a@example.org")
URL = "https://example.org/"
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello</p>"


def visit(body: bytes = b"<p>hello</p>") -> list[WarcRecord]:
    """Return the three records of one visit."""
    answer = build_response(URL, NOW, HTTP.replace(b"<p>hello</p>", body))
    request = build_request(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", response=answer)
    return [answer, request, build_metadata({"fetchTimeMs": "12"}, about=answer)]


def small_file(folder: Path, bodies: tuple[bytes, ...] = (b"one", b"two")) -> Path:
    """Write a file of a warcinfo record and a resource per body."""
    with WarcWriter(folder, ORIGIN, clock=CLOCK) as writer:
        for body in bodies:
            [location] = writer.append([build_resource(URL, NOW, body, "text/plain")])
    return folder / location.file
