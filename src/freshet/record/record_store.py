"""Where arrivals' bytes are put: one open WARC file at a time, each payload kept once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.importers.base import Arrival, Http
from freshet.archive.warc.build import (
    Origin,
    metadata,
    request,
    resource,
    response,
    revisit_identical,
    revisit_not_modified,
)
from freshet.archive.warc.digest import sha1
from freshet.archive.warc.http_message import is_http, split_http
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.record import (
    FINAL_FIELD,
    OUTCOME_FIELD,
    PAGE_FIELD,
    VISIT_FIELD,
    Fields,
    Record,
    record_id,
)
from freshet.archive.warc.writer import Writer
from freshet.core.clock import Clock
from freshet.core.errors import StorageError
from freshet.core.settings import Settings
from freshet.core.types import Location, Outcome, Snapshot
from freshet.record.revisit_originals import (
    LastLook,
    OriginalRecords,
    PayloadKey,
    look_of,
    reference,
)

OK = 200

_TRANSFER_CODING = re.compile(rb"(?im)^transfer-encoding[ \t]*:[^\n]*\n(?:[ \t]+[^\r\n][^\n]*\n)*")


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
        self._originals = OriginalRecords(catalog, lock.folder)
        self._waiting: dict[bytes, Stored] = {}
        self._latest: dict[int, LastLook] = {}

    def expect(self, items: Sequence[tuple[int, str, Arrival]]) -> None:
        """Look up, for a whole batch at once, which of its payloads are kept already."""
        self._originals.expect({
            (page, sha1(arrival.snapshot.body), len(arrival.snapshot.body))
            for page, _, arrival in items
            if arrival.snapshot is not None and arrival.location is None and arrival.raw is None
        })

    def put(self, arrival: Arrival, page: int, url: str) -> Stored:
        """Append what an arrival brought; nothing where it brought no bytes.

        A payload that the same page had before, as ``expect`` found, is not repeated: a revisit
        record points to it. What was put before but has no row yet, as after a full disk, is not
        put again.
        """
        if arrival.uid not in self._waiting:
            with self._undone():
                self._waiting[arrival.uid] = self._store(arrival, page, url)
        return self._waiting[arrival.uid]

    def acknowledge(self, uids: Iterable[bytes]) -> None:
        """Take note that what was put of these visits has its rows."""
        for uid in uids:
            self._waiting.pop(uid, None)
        self._latest.clear()

    def _store(self, arrival: Arrival, page: int, url: str) -> Stored:
        snapshot = arrival.snapshot
        if snapshot is None:
            return self._put_bare(arrival, page, url)
        digest, size = sha1(snapshot.body), len(snapshot.body)
        if arrival.location is not None:
            return Stored(arrival.location, digest, size)
        if arrival.raw is not None:
            return Stored(self._copy(arrival), digest, size)
        payload = (page, digest, size)
        record = self._record(arrival, snapshot, url, payload)
        location = self._append(arrival, record)
        if record.type != "revisit":
            self._originals.note(payload, location)
        if snapshot.status == OK:
            self._latest[page] = LastLook(payload, record.id, record.target, record.date)
        return Stored(location, digest, size)

    def sync(self) -> None:
        """Make everything put so far durable."""
        if self._writer is not None:
            with self._undone():
                self._writer.sync()

    @contextmanager
    def _undone(self) -> Iterator[None]:
        """Where storing fails, forget what was cut off again, so that it can be put anew."""
        try:
            yield
        except StorageError:
            self._originals.forget()
            self._latest.clear()
            self._waiting = {
                uid: stored for uid, stored in self._waiting.items() if self._is_there(stored)
            }
            raise

    def _is_there(self, stored: Stored) -> bool:
        return not (stored.location and self._writer and self._writer.is_beyond(stored.location))

    def close(self) -> None:
        """Finish the open file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _put_bare(self, arrival: Arrival, page: int, url: str) -> Stored:
        """Keep a record without a payload of its own, such as a revisit."""
        if arrival.location is not None:
            return Stored(arrival.location)
        if arrival.raw is not None:
            return Stored(self._copy(arrival))
        if arrival.http is None:
            return Stored()
        record = self._without_payload(arrival, arrival.http, page, url)
        return Stored(self._append(arrival, record))

    def _without_payload(self, arrival: Arrival, http: Http, page: int, url: str) -> Record:
        """Make the record of an answer without a body: 304 refers to the page's last look."""
        target = target_of(arrival, url)
        last = self._last_look(page, url, arrival)
        if arrival.outcome is Outcome.NOT_MODIFIED and last is not None:
            record = self._not_modified(target, arrival.time, http, last)
        else:
            record = response(target, arrival.time, http.head)
        return _of_visit(record, arrival, url)

    def _not_modified(self, target: str, time: datetime, http: Http, last: LastLook) -> Record:
        """Make the revisit record of a 304, with the original's HTTP header where it is kept."""
        kept = self._originals.of_look(last)
        if kept is None:
            return revisit_not_modified(target, time, http.head, last.original)
        head = split_http(kept.block)[0] if is_http(kept) else b""
        return revisit_not_modified(target, time, head, reference(kept), answer=http.head)

    def _last_look(self, page: int, url: str, arrival: Arrival) -> LastLook | None:
        """Return the page's last look by then, put just now or in the catalog."""
        latest = self._latest.get(page)
        if latest is not None and latest.date <= arrival.time:
            return latest
        row = self._catalog.last_looks([page], {page: arrival.time}).get(page)
        return None if row is None else look_of(row.visit, url)

    def _append(self, arrival: Arrival, record: Record) -> Location:
        """Append a record together with all that belongs to it: requests, facts, and hops."""
        members = [record, *_beside(arrival.http, record), *_on_the_way(arrival, record)]
        return self._open(arrival.source).append(members)[0]

    def _copy(self, arrival: Arrival) -> Location:
        members = [arrival.raw or b"", *arrival.companions]
        return self._open(arrival.source).append(members)[0]

    def _record(self, arrival: Arrival, snapshot: Snapshot, url: str, key: PayloadKey) -> Record:
        """Make the arrival's record: the bytes, or a revisit where they are kept already."""
        head = told_head(arrival.http.head) if arrival.http else head_of(snapshot)
        target = target_of(arrival, url)
        original = self._originals.with_body(key, snapshot.body)
        if original is not None and arrival.answered_by is None:
            record = revisit_identical(target, arrival.time, head, reference(original), key[1])
        elif head:
            record = response(target, arrival.time, head + snapshot.body)
        else:
            media_type = snapshot.header("content-type") or "application/octet-stream"
            record = resource(target, arrival.time, snapshot.body, media_type)
        return _of_visit(record, arrival, url)

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


def target_of(arrival: Arrival, url: str) -> str:
    """Return who gave the answer of a visit to the page of that URL."""
    return arrival.answered_by or arrival.final_url or url


def _of_visit(record: Record, arrival: Arrival, url: str) -> Record:
    """Give a record the visit's id, and say in it what it does not show: page, end, outcome."""
    told = arrival.outcome if arrival.outcome is not Outcome.NOT_MODIFIED else None
    final = arrival.final_url or record.target
    facts = {
        PAGE_FIELD: url if record.target != url else "",
        FINAL_FIELD: final if record.target != final else "",
        OUTCOME_FIELD: f"{told}; {arrival.why}" if told else "",
    }
    own = tuple((name, value) for name, value in facts.items() if value)
    return replace(record, id=record_id(arrival.uid), headers=(*record.headers, *own))


def _beside(http: Http | None, record: Record, headers: Fields = ()) -> Iterator[Record]:
    """Yield the request and the facts that belong to an answer."""
    if http is not None and http.request:
        yield request(http.request, answer=record, headers=headers)
    if http is not None and http.facts:
        yield metadata(dict(http.facts), about=record, headers=headers)


def _on_the_way(arrival: Arrival, record: Record) -> Iterator[Record]:
    """Yield the redirecting answers that led to a visit's record, which they name.

    They stand behind it, so that a crash between them leaves a visit and never a hop alone.
    """
    named = ((VISIT_FIELD, f"<{record.id}>"),)
    for hop in arrival.hops:
        http = told_head(hop.http.head) + hop.body
        answer = response(hop.url, arrival.time, http, headers=named)
        yield answer
        yield from _beside(hop.http, answer, named)


def told_head(head: bytes) -> bytes:
    """Return a head without its transfer coding, which the body that is kept no longer has.

    >>> told_head(b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\nA: b\\r\\n\\r\\n")
    b'HTTP/1.1 200 OK\\r\\nA: b\\r\\n\\r\\n'
    """
    return _TRANSFER_CODING.sub(b"", head)


def head_of(snapshot: Snapshot) -> bytes:
    """Return the head that keeps the status of what came without HTTP; empty where it is 200.

    >>> head_of(Snapshot("https://example.org/", b"", 404, (("content-type", "text/html"),)))
    b'HTTP/1.1 404 \\r\\ncontent-type: text/html\\r\\n\\r\\n'
    >>> head_of(Snapshot("https://example.org/", b"", 200, (("etag", "1"),)))
    b''
    """
    if snapshot.status == OK:
        return b""
    lines = [
        f"HTTP/1.1 {snapshot.status} ",
        *(f"{name}: {value}" for name, value in snapshot.headers),
    ]
    head = "".join(" ".join(line.splitlines()) + "\r\n" for line in lines) + "\r\n"
    return told_head(head.encode("utf-8", "surrogateescape"))
