"""Where arrivals' bytes are put: one open WARC file at a time, each payload kept once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.observation import HttpExchange, Observation
from freshet.archive.warc.build import (
    ArchiveOrigin,
    build_identical_revisit,
    build_metadata,
    build_not_modified_revisit,
    build_request,
    build_resource,
    build_response,
)
from freshet.archive.warc.digest import sha1
from freshet.archive.warc.http_message import is_http_message, split_http
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.record import (
    FINAL_FIELD,
    OUTCOME_FIELD,
    PAGE_FIELD,
    VISIT_FIELD,
    HeaderFields,
    WarcRecord,
    record_id_of_uid,
)
from freshet.archive.warc.writer import WarcWriter
from freshet.core.clock import Clock
from freshet.core.errors import StorageError
from freshet.core.settings import Settings
from freshet.core.types import Outcome, RecordLocation, Snapshot
from freshet.record.revisit_originals import (
    LastLook,
    PayloadKey,
    RevisitOriginals,
    last_look_of_visit,
    revisit_original,
)

OK = 200

_TRANSFER_CODING = re.compile(rb"(?im)^transfer-encoding[ \t]*:[^\n]*\n(?:[ \t]+[^\r\n][^\n]*\n)*")


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """Where the bytes of a visit are, and what they are."""

    location: RecordLocation | None = None
    digest: bytes | None = None
    size: int | None = None


class RecordStore:
    """Appends arrivals to the archive; a file holds the pages of one source only."""

    def __init__(
        self, lock: ArchiveLock, catalog: Catalog, settings: Settings, clock: Clock, software: str
    ) -> None:
        self._lock = lock
        self._catalog = catalog
        self._settings = settings
        self._clock = clock
        self._software = software
        self._writer: WarcWriter | None = None
        self._source = ""
        self._originals = RevisitOriginals(catalog, lock.folder)
        self._waiting: dict[bytes, StoredBytes] = {}
        self._latest: dict[int, LastLook] = {}

    def prefetch_payloads(self, items: Sequence[tuple[int, str, Observation]]) -> None:
        """Look up, for a whole batch at once, which of its payloads are kept already."""
        self._originals.prefetch({
            (page, sha1(arrival.snapshot.body), len(arrival.snapshot.body))
            for page, _, arrival in items
            if arrival.snapshot is not None
            and arrival.location is None
            and arrival.raw_record is None
        })

    def append(self, arrival: Observation, page: int, url: str) -> StoredBytes:
        """Append what an arrival brought; nothing where it brought no bytes.

        A payload that the same page had before, as ``prefetch`` found, is not repeated: a revisit
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

    def _store(self, arrival: Observation, page: int, url: str) -> StoredBytes:
        snapshot = arrival.snapshot
        if snapshot is None:
            return self._put_bare(arrival, page, url)
        digest, size = sha1(snapshot.body), len(snapshot.body)
        if arrival.location is not None:
            return StoredBytes(arrival.location, digest, size)
        if arrival.raw_record is not None:
            return StoredBytes(self._copy(arrival), digest, size)
        payload = (page, digest, size)
        record = self._record(arrival, snapshot, url, payload)
        location = self._append(arrival, record)
        if record.type != "revisit":
            self._originals.remember(payload, location)
        if snapshot.status == OK:
            self._latest[page] = LastLook(payload, record.id, record.target_uri, record.date)
        return StoredBytes(location, digest, size)

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
            self._originals.clear()
            self._latest.clear()
            self._waiting = {
                uid: stored for uid, stored in self._waiting.items() if self._is_there(stored)
            }
            raise

    def _is_there(self, stored: StoredBytes) -> bool:
        return not (stored.location and self._writer and self._writer.was_cut_off(stored.location))

    def close(self) -> None:
        """Finish the open file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _put_bare(self, arrival: Observation, page: int, url: str) -> StoredBytes:
        """Keep a record without a payload of its own, such as a revisit."""
        if arrival.location is not None:
            return StoredBytes(arrival.location)
        if arrival.raw_record is not None:
            return StoredBytes(self._copy(arrival))
        if arrival.exchange is None:
            return StoredBytes()
        record = self._without_payload(arrival, arrival.exchange, page, url)
        return StoredBytes(self._append(arrival, record))

    def _without_payload(
        self, arrival: Observation, http: HttpExchange, page: int, url: str
    ) -> WarcRecord:
        """Make the record of an answer without a body: 304 refers to the page's last look."""
        target = answering_url(arrival, url)
        last = self._last_look(page, url, arrival)
        if arrival.outcome is Outcome.NOT_MODIFIED and last is not None:
            record = self._not_modified(target, arrival.time, http, last)
        else:
            record = build_response(target, arrival.time, http.response_head)
        return _of_visit(record, arrival, url)

    def _not_modified(
        self, target: str, time: datetime, http: HttpExchange, last: LastLook
    ) -> WarcRecord:
        """Make the revisit record of a 304, with the original's HTTP header where it is kept."""
        kept = self._originals.find_by_look(last)
        if kept is None:
            return build_not_modified_revisit(target, time, http.response_head, last.as_original)
        head = split_http(kept.block)[0] if is_http_message(kept) else b""
        return build_not_modified_revisit(
            target, time, head, revisit_original(kept), answer=http.response_head
        )

    def _last_look(self, page: int, url: str, arrival: Observation) -> LastLook | None:
        """Return the page's last look by then, put just now or in the catalog."""
        latest = self._latest.get(page)
        if latest is not None and latest.time <= arrival.time:
            return latest
        row = self._catalog.last_looks([page], {page: arrival.time}).get(page)
        return None if row is None else last_look_of_visit(row.visit, url)

    def _append(self, arrival: Observation, record: WarcRecord) -> RecordLocation:
        """Append a record together with all that belongs to it: requests, facts, and hops."""
        members = [record, *_beside(arrival.exchange, record), *_on_the_way(arrival, record)]
        return self._open(arrival.source).append(members)[0]

    def _copy(self, arrival: Observation) -> RecordLocation:
        members = [arrival.raw_record or b"", *arrival.companion_records]
        return self._open(arrival.source).append(members)[0]

    def _record(
        self, arrival: Observation, snapshot: Snapshot, url: str, key: PayloadKey
    ) -> WarcRecord:
        """Make the arrival's record: the bytes, or a revisit where they are kept already."""
        head = (
            strip_transfer_coding(arrival.exchange.response_head)
            if arrival.exchange
            else synthetic_head(snapshot)
        )
        target = answering_url(arrival, url)
        original = self._originals.find_by_payload(key, snapshot.body)
        if original is not None and arrival.answering_url is None:
            record = build_identical_revisit(
                target, arrival.time, head, revisit_original(original), key[1]
            )
        elif head:
            record = build_response(target, arrival.time, head + snapshot.body)
        else:
            media_type = snapshot.header("content-type") or "application/octet-stream"
            record = build_resource(target, arrival.time, snapshot.body, media_type)
        return _of_visit(record, arrival, url)

    def _open(self, source: str) -> WarcWriter:
        if self._writer is None or source != self._source:
            self.close()
            self._source = source
            self._writer = self._new_writer()
        return self._writer

    def _new_writer(self) -> WarcWriter:
        origin = ArchiveOrigin(self._software, self._source, contact=self._settings.contact)
        return WarcWriter(
            self._lock.folder,
            origin,
            clock=self._clock,
            max_bytes=self._settings.archive.file_bytes,
            lock=self._lock,
        )


def answering_url(arrival: Observation, url: str) -> str:
    """Return who gave the answer of a visit to the page of that URL."""
    return arrival.answering_url or arrival.final_url or url


def _of_visit(record: WarcRecord, arrival: Observation, url: str) -> WarcRecord:
    """Give a record the visit's id, and say in it what it does not show: page, end, outcome."""
    told = arrival.outcome if arrival.outcome is not Outcome.NOT_MODIFIED else None
    final = arrival.final_url or record.target_uri
    facts = {
        PAGE_FIELD: url if record.target_uri != url else "",
        FINAL_FIELD: final if record.target_uri != final else "",
        OUTCOME_FIELD: f"{told}; {arrival.why}" if told else "",
    }
    own = tuple((name, value) for name, value in facts.items() if value)
    return replace(record, id=record_id_of_uid(arrival.uid), headers=(*record.headers, *own))


def _beside(
    http: HttpExchange | None, record: WarcRecord, headers: HeaderFields = ()
) -> Iterator[WarcRecord]:
    """Yield the request and the facts that belong to an answer."""
    if http is not None and http.request:
        yield build_request(http.request, response=record, headers=headers)
    if http is not None and http.metadata:
        yield build_metadata(dict(http.metadata), about=record, headers=headers)


def _on_the_way(arrival: Observation, record: WarcRecord) -> Iterator[WarcRecord]:
    """Yield the redirecting answers that led to a visit's record, which they name.

    They stand behind it, so that a crash between them leaves a visit and never a hop alone.
    """
    named = ((VISIT_FIELD, f"<{record.id}>"),)
    for hop in arrival.hops:
        http = strip_transfer_coding(hop.exchange.response_head) + hop.body
        answer = build_response(hop.url, arrival.time, http, headers=named)
        yield answer
        yield from _beside(hop.exchange, answer, named)


def strip_transfer_coding(head: bytes) -> bytes:
    """Return a head without its transfer coding, which the body that is kept no longer has.

    >>> strip_transfer_coding(b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\nA: b\\r\\n\\r\\n")
    b'HTTP/1.1 200 OK\\r\\nA: b\\r\\n\\r\\n'
    """
    return _TRANSFER_CODING.sub(b"", head)


def synthetic_head(snapshot: Snapshot) -> bytes:
    """Return the head that keeps the status of what came without HTTP; empty where it is 200.

    >>> synthetic_head(Snapshot("https://example.org/", b"", 404, (("content-type", "text/html"),)))
    b'HTTP/1.1 404 \\r\\ncontent-type: text/html\\r\\n\\r\\n'
    >>> synthetic_head(Snapshot("https://example.org/", b"", 200, (("etag", "1"),)))
    b''
    """
    if snapshot.status == OK:
        return b""
    lines = [
        f"HTTP/1.1 {snapshot.status} ",
        *(f"{name}: {value}" for name, value in snapshot.headers),
    ]
    head = "".join(" ".join(line.splitlines()) + "\r\n" for line in lines) + "\r\n"
    return strip_transfer_coding(head.encode("utf-8", "surrogateescape"))
