"""A few small records that the tests of this folder share."""

import warnings
from datetime import UTC, datetime
from pathlib import Path

from freshet.archive.warc.build import Origin, metadata, request, resource, response
from freshet.archive.warc.record import Record
from freshet.archive.warc.writer import Writer
from freshet.core.clock import FixedClock

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    from fastwarc.warc import ArchiveIterator as FastwarcIterator

__all__ = ["CLOCK", "HTTP", "NOW", "ORIGIN", "URL", "FastwarcIterator", "small_file", "visit"]

NOW = datetime(2026, 11, 15, 8, 30, 0, 123456, tzinfo=UTC)
CLOCK = FixedClock(NOW)
ORIGIN = Origin("freshet/0.1", source="news", contact="a@example.org")
URL = "https://example.org/"
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello</p>"


def visit(body: bytes = b"<p>hello</p>") -> list[Record]:
    """Return the three records of one visit."""
    answer = response(URL, NOW, HTTP.replace(b"<p>hello</p>", body))
    asked = request(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", answer=answer)
    return [answer, asked, metadata({"fetchTimeMs": "12"}, about=answer)]


def small_file(folder: Path, bodies: tuple[bytes, ...] = (b"one", b"two")) -> Path:
    """Write a file of a warcinfo record and a resource per body."""
    with Writer(folder, ORIGIN, clock=CLOCK) as writer:
        for body in bodies:
            [place] = writer.append([resource(URL, NOW, body, "text/plain")])
    return folder / place.file
