"""Where arrivals' bytes are put: one open WARC file at a time, each payload kept once."""

from dataclasses import dataclass, replace

from freshet.archive.catalog.base import Catalog
from freshet.archive.importers.base import Arrival
from freshet.archive.warc.build import (
    Origin,
    Original,
    resource,
    response,
    revisit_identical,
)
from freshet.archive.warc.digest import sha1
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.record import Record, record_id
from freshet.archive.warc.write import Writer
from freshet.core.clock import Clock
from freshet.core.settings import Settings
from freshet.core.types import Location, Snapshot

REMEMBERED_PAYLOADS = 10_000
OK = 200
UNTOLD = frozenset({"transfer-encoding"})

Payload = tuple[int, bytes, int]


@dataclass(frozen=True, slots=True)
class Stored:
    """Where the bytes of a visit are, and what they are."""

    location: Location | None = None
    digest: bytes | None = None
    size: int | None = None


class Shelf:
    """Appends arrivals to the archive; a file holds the pages of one source only."""

    def __init__(
        self, lock: ArchiveLock, catalog: Catalog, settings: Settings, clock: Clock, software: str
    ) -> None:
        self._lock = lock
        self._catalog = catalog
        self._settings = settings
        self._clock = clock
        self._software = software
        self._writer: Writer | None = None
        self._source = ""
        self._recent: dict[Payload, Original] = {}
        self._waiting: dict[bytes, Stored] = {}

    def put(self, arrival: Arrival, page: int, url: str) -> Stored:
        """Append what an arrival brought; nothing where it brought no bytes.

        A payload that the same page had before is not repeated: a revisit record points to it. What
        was put before but has no row yet, as after a full disk, is not put again.
        """
        if arrival.uid not in self._waiting:
            self._waiting[arrival.uid] = self._store(arrival, page, url)
        return self._waiting[arrival.uid]

    def acknowledge(self) -> None:
        """Take note that all that was put has its rows."""
        self._waiting.clear()

    def _store(self, arrival: Arrival, page: int, url: str) -> Stored:
        snapshot = arrival.snapshot
        if snapshot is None:
            return self._put_bare(arrival)
        digest, size = sha1(snapshot.body), len(snapshot.body)
        if arrival.location is not None:
            return Stored(arrival.location, digest, size)
        if arrival.raw is not None:
            return Stored(self._copy(arrival), digest, size)
        payload = (page, digest, size)
        record = self._record(arrival, snapshot, url, payload)
        location = self._open(arrival.source).append([record])[0]
        if record.type != "revisit":
            self._remember(payload, Original(record.id, url, arrival.time))
        return Stored(location, digest, size)

    def sync(self) -> None:
        """Make everything put so far durable."""
        if self._writer is not None:
            self._writer.sync()

    def close(self) -> None:
        """Finish the open file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _put_bare(self, arrival: Arrival) -> Stored:
        """Keep a record without a payload of its own, such as a foreign revisit."""
        if arrival.location is not None:
            return Stored(arrival.location)
        return Stored(self._copy(arrival)) if arrival.raw is not None else Stored()

    def _copy(self, arrival: Arrival) -> Location:
        members = [arrival.raw or b"", *arrival.companions]
        return self._open(arrival.source).append(members)[0]

    def _record(self, arrival: Arrival, snapshot: Snapshot, url: str, payload: Payload) -> Record:
        """Make the arrival's record: the bytes, or a revisit where they are kept already."""
        head = http_head(snapshot)
        original = self._recent.get(payload) or self._original(payload, url)
        if original is not None:
            record = revisit_identical(url, arrival.time, head, original, payload[1])
        elif head:
            record = response(url, arrival.time, head + snapshot.body)
        else:
            media_type = snapshot.header("content-type") or "application/octet-stream"
            record = resource(url, arrival.time, snapshot.body, media_type)
        return replace(record, id=record_id(arrival.uid))

    def _original(self, payload: Payload, url: str) -> Original | None:
        kept = self._catalog.find_payload(*payload[1:], page_id=payload[0])
        return None if kept is None else Original(record_id(kept.uid), url, kept.time)

    def _remember(self, payload: Payload, original: Original) -> None:
        if len(self._recent) >= REMEMBERED_PAYLOADS:
            self._recent.clear()
        self._recent[payload] = original

    def _open(self, source: str) -> Writer:
        if self._writer is None or source != self._source:
            self.close()
            self._source = source
            self._writer = self._new_writer()
        return self._writer

    def _new_writer(self) -> Writer:
        origin = Origin(self._software, self._source, contact=self._settings.contact)
        return Writer(
            self._lock.folder,
            origin,
            clock=self._clock,
            max_bytes=self._settings.archive.file_bytes,
            lock=self._lock,
        )


def http_head(snapshot: Snapshot) -> bytes:
    """Return the header of an HTTP response; empty where nothing tells that there was one.

    >>> http_head(Snapshot("https://example.org/", b"", 404))
    b'HTTP/1.1 404 \\r\\n\\r\\n'
    >>> http_head(Snapshot("https://example.org/", b"", 200, (("content-type", "text/html"),)))
    b''
    """
    told = [(name, value) for name, value in snapshot.headers if name.lower() not in UNTOLD]
    if snapshot.status == OK and all(name.lower() == "content-type" for name, _ in told):
        return b""
    lines = [f"HTTP/1.1 {snapshot.status} ", *(f"{name}: {value}" for name, value in told)]
    head = "".join(" ".join(line.splitlines()) + "\r\n" for line in lines) + "\r\n"
    return head.encode("utf-8", "surrogateescape")
