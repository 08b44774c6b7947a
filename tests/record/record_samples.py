"""A small collection, observations of its pages, and summaries of their histories."""

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from freshet.archive.observation import HttpExchange, Observation, RedirectHop
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.types import Outcome, Snapshot

NOW = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)
CLOCK = FixedClock(NOW)
START = datetime(2024, 1, 1, tzinfo=UTC)
URL = "https://example.org/news"
HTML = (("content-type", "text/html"),)
WORDS = "the river rose in spring and the fields along it were green again that year"


@cache
def _empty() -> TemporaryDirectory[str]:
    """Make an empty collection, once."""
    folder = TemporaryDirectory()
    Collection.create(Path(folder.name) / "c", contact="a@example.org", clock=CLOCK).close()
    return folder


def make_collection(folder: Path) -> Collection:
    """Return an empty collection, copied from one that is made once."""
    shutil.copytree(Path(_empty().name) / "c", folder)
    return Collection.open(folder, clock=CLOCK)


def html(text: str, *links: str) -> bytes:
    """Return a page of some words, and links."""
    anchors = "".join(f'<a href="/{link}">link</a> ' for link in links)
    return f"<html><title>t</title><body><p>{WORDS} {text}</p>{anchors}</body></html>".encode()


def observe(
    day: float, body: bytes | None = None, *, url: str = URL, status: int = 200, **fields: Any
) -> Observation:
    """Return an observation some days after the start; its uid depends on all arguments."""
    uid = fields.pop("uid", None) or uid_of(f"{url} {day} {body!r} {status} {fields}")
    snapshot = None if body is None else Snapshot(url, body, status, HTML)
    time = START + timedelta(days=day)
    return Observation(url, fields.pop("source", ""), time, uid, snapshot, **fields)


def hop(url: str, to: str, body: bytes = b"moved") -> RedirectHop:
    """Return a redirecting answer."""
    head = f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Type: text/plain\r\n\r\n"
    request = f"GET {url} HTTP/1.1\r\n\r\n"
    return RedirectHop(
        url, HttpExchange(head.encode(), request.encode(), (("fetchTimeMs", "3"),)), body
    )


def uid_of(name: str) -> bytes:
    """Return 16 bytes for a name, the same each time."""
    return f"{abs(hash_of(name)):032x}".encode()[-16:]


def hash_of(name: str) -> int:
    """Return a number for a name, the same in every process."""
    total = 7
    for letter in name.encode():
        total = (total * 1_000_003 + letter) % (1 << 61)
    return total


def page_facts(collection: Collection, url: str = URL, *, source: str = "") -> list[Any]:
    """Return all that a collection says of a page, free of numbers that depend on storage."""
    page = collection.page(url, source=source)
    rows = page.history()
    uids = {row.visit.id: row.visit.uid for row in rows}
    return [
        (
            row.visit.uid,
            row.visit.time,
            row.visit.outcome,
            row.visit.status,
            row.visit.digest,
            row.visit.media_type,
            row.visit.final_url,
            row.visit.why,
            row.change,
            row.removed_links,
            uids.get(row.since or 0),
            row.view,
            sorted(collection.catalog.links_at(page.id, row.visit.time)),
        )
        for row in rows
    ]


def bodies(collection: Collection, url: str = URL, *, source: str = "") -> list[bytes]:
    """Return the bytes of all versions of a page."""
    page = collection.page(url, source=source)
    return [page.snapshot(version.number).body for version in page.versions]


def record(collection: Collection, *batches: Sequence[Observation]) -> None:
    """Record batches one after the other."""
    with collection.recording() as recorder:
        for batch in batches:
            recorder.record(batch)


def delete_visit_rows(collection: Collection, visit_ids: Sequence[int]) -> None:
    """Delete the rows of visits, as if a crash had come before they were written."""
    with collection.catalog._read_engine.begin() as connection:
        for visit_id in visit_ids:
            connection.exec_driver_sql("DELETE FROM visits WHERE id = ?", (visit_id,))


def marks(collection: Collection, url: str = URL) -> list[tuple[Outcome, bool | None]]:
    """Return each visit's outcome and whether it found a change (None: not compared)."""
    rows = collection.page(url).history()
    return [(row.visit.outcome, row.change.changed if row.change else None) for row in rows]
