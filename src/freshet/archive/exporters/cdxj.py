"""The index that replay programs look captures up in: a line per record, sorted (CDXJ)."""

import json
from base64 import b32encode
from collections.abc import Iterable, Iterator
from pathlib import Path

from freshet.archive.exporters.base import VisitRow, replacing
from freshet.archive.exporters.surt import surt
from freshet.archive.spill import in_order
from freshet.core.types import Location

REVISIT = "warc/revisit"


def write(path: Path, rows: Iterable[VisitRow]) -> int:
    """Write the lines of the visits that have a record, in order; return how many there were."""
    written = 0
    with replacing(path) as part, part.open("wb") as file:
        for text in in_order(lines(rows)):
            file.write(text + b"\n")
            written += 1
    return written


def lines(rows: Iterable[VisitRow]) -> Iterator[bytes]:
    """Yield the index line of each visit that has a record.

    A redirected look has two: under its page, and under the address that revisits refer to.
    """
    for row in rows:
        final = row.visit.final_url if row.visit.outcome.is_look else None
        if row.visit.location is not None:
            for url in dict.fromkeys((row.page.url, final or row.page.url)):
                yield line(url, row, row.visit.location).encode()


def line(url: str, row: VisitRow, location: Location) -> str:
    """Return the index line of a visit: key, time to the second, and where its record lies."""
    visit = row.visit
    fields = {
        "url": url,
        "mime": REVISIT if row.is_revisit else visit.media_type,
        "status": "" if visit.status is None else str(visit.status),
        "digest": b32encode(visit.digest).decode() if visit.digest else "",
        "length": str(location.length),
        "offset": str(location.offset),
        "filename": location.file,
    }
    known = {name: value for name, value in fields.items() if value}
    return f"{surt(url)} {visit.time:%Y%m%d%H%M%S} {json.dumps(known)}"
