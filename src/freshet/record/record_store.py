"""Appends observations to the archive as WARC records, each payload of a page once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

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
from freshet.archive.warc.http_message import is_http_message, parse_payload, split_http
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
from freshet.core.errors import StorageError
from freshet.core.types import Outcome, RecordLocation, Snapshot
from freshet.record.collection_reader import SOFTWARE, CollectionReader
from freshet.record.revisit_originals import (
    LastLook,
    PayloadKey,
    RevisitOriginals,
    last_look_of_visit,
    revisit_original,
)

HTTP_OK = 200

_TRANSFER_CODING = re.compile(rb"(?im)^transfer-encoding[ \t]*:[^\n]*\n(?:[ \t]+[^\r\n][^\n]*\n)*")


class PageObservation(NamedTuple):
    """An observation with the id and the canonical URL of its page."""

    page_id: int
    url: str
    observation: Observation

    @property
    def answering_url(self) -> str:
        """Return the URL whose answer was recorded."""
        observation = self.observation
        return observation.answering_url or observation.final_url or self.url


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """The record that holds the bytes of a visit, and the SHA-1 and size of its payload."""

    location: RecordLocation | None = None
    digest: bytes | None = None
    size: int | None = None


class RecordStore:
    """Appends observations to the archive; each WARC file holds the pages of one source."""

    def __init__(self, lock: ArchiveLock, reader: CollectionReader) -> None:
        self._lock = lock
        self._reader = reader
        self._writer: WarcWriter | None = None
        self._source = ""
        self._originals = RevisitOriginals(reader.catalog, lock.folder)
        # Records that have no row yet, by the uid of their visit.
        self._unacknowledged: dict[bytes, StoredBytes] = {}
        # The last look at each page among the records that have no row yet.
        self._last_looks: dict[int, LastLook] = {}

    def prefetch_payloads(self, items: Sequence[PageObservation]) -> None:
        """Look up which payloads of a batch are stored already."""
        self._originals.prefetch({
            (page_id, sha1(observation.snapshot.body), len(observation.snapshot.body))
            for page_id, _, observation in items
            if observation.snapshot is not None
            and observation.location is None
            and observation.raw_record is None
        })

    def append(self, item: PageObservation) -> StoredBytes:
        """Append the bytes of an observation, if it has any.

        A payload that the page had before, as ``prefetch_payloads`` found, is not stored again; a
        revisit record refers to it. A record that was appended before and has no row yet, as after
        a full disk, is not appended again.
        """
        uid = item.observation.uid
        if uid not in self._unacknowledged:
            with self._forgetting_lost_records():
                self._unacknowledged[uid] = self._store(item)
        return self._unacknowledged[uid]

    def acknowledge(self, uids: Iterable[bytes]) -> None:
        """Note that the records of these visits have their rows."""
        for uid in uids:
            self._unacknowledged.pop(uid, None)
        self._last_looks.clear()

    def sync(self) -> None:
        """Make all appended records durable."""
        if self._writer is not None:
            with self._forgetting_lost_records():
                self._writer.sync()

    def close(self) -> None:
        """Finish the open file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    @contextmanager
    def _forgetting_lost_records(self) -> Iterator[None]:
        """After a storage error, forget the records that were cut off, so they are stored again."""
        try:
            yield
        except StorageError:
            self._originals.clear()
            self._last_looks.clear()
            self._unacknowledged = {
                uid: stored
                for uid, stored in self._unacknowledged.items()
                if not self._was_cut_off(stored)
            }
            raise

    def _was_cut_off(self, stored: StoredBytes) -> bool:
        if stored.location is None or self._writer is None:
            return False
        return self._writer.was_cut_off(stored.location)

    def _store(self, item: PageObservation) -> StoredBytes:
        observation = item.observation
        snapshot = observation.snapshot
        if snapshot is None:
            return self._store_without_payload(item)
        digest, size = sha1(snapshot.body), len(snapshot.body)
        if observation.location is not None:
            return StoredBytes(observation.location, digest, size)
        if observation.raw_record is not None:
            return StoredBytes(self._copy_raw(observation), digest, size)
        payload = (item.page_id, digest, size)
        record = self._payload_record(item, snapshot, payload)
        location = self._append_members(observation, record)
        if record.type != "revisit":
            self._originals.remember(payload, location)
        if snapshot.status == HTTP_OK:
            look = LastLook(payload, record.id, record.target_uri, record.date)
            self._last_looks[item.page_id] = look
        return StoredBytes(location, digest, size)

    def _store_without_payload(self, item: PageObservation) -> StoredBytes:
        observation = item.observation
        if observation.location is not None:
            return StoredBytes(observation.location)
        if observation.raw_record is not None:
            return StoredBytes(self._copy_raw(observation))
        if observation.exchange is None:
            return StoredBytes()
        record = self._headers_record(item, observation.exchange)
        return StoredBytes(self._append_members(observation, record))

    def _payload_record(
        self, item: PageObservation, snapshot: Snapshot, payload: PayloadKey
    ) -> WarcRecord:
        """Build the record of a payload: a revisit where the page has a record with the same."""
        observation, target = item.observation, item.answering_url
        exchange = observation.exchange
        if exchange:
            head = strip_transfer_coding(exchange.response_head)
        else:
            head = synthetic_head(snapshot)
        original = self._originals.find_by_payload(payload, snapshot.body)
        if original is not None and observation.answering_url is None:
            reference = revisit_original(original)
            record = build_identical_revisit(target, observation.time, head, reference, payload[1])
        elif head:
            record = build_response(target, observation.time, head + snapshot.body)
        else:
            media_type = snapshot.header("content-type") or "application/octet-stream"
            record = build_resource(target, observation.time, snapshot.body, media_type)
        return _with_visit_headers(record, item)

    def _headers_record(self, item: PageObservation, exchange: HttpExchange) -> WarcRecord:
        """Build the record of an answer without a body; a 304 refers to the page's last look.

        The revisit record of a 304 has the HTTP header of the original where that is stored.
        """
        head, target, time = exchange.response_head, item.answering_url, item.observation.time
        look = None
        if item.observation.outcome is Outcome.NOT_MODIFIED:
            look = self._last_look(item)
        if look is None:
            record = build_response(target, time, head)
        elif (original := self._originals.find_by_look(look)) is None:
            record = build_not_modified_revisit(target, time, head, look.as_original)
        else:
            old_head = split_http(original.block)[0] if is_http_message(original) else b""
            reference = revisit_original(original)
            record = build_not_modified_revisit(target, time, old_head, reference, answer=head)
        return _with_visit_headers(record, item)

    def _last_look(self, item: PageObservation) -> LastLook | None:
        """Return the last look at the page before the observation, in this batch or the catalog."""
        page_id, url, observation = item
        look = self._last_looks.get(page_id)
        if look is not None and look.time <= observation.time:
            return look
        row = self._reader.catalog.last_looks([page_id], {page_id: observation.time}).get(page_id)
        return None if row is None else last_look_of_visit(row.visit, url)

    def _append_members(self, observation: Observation, record: WarcRecord) -> RecordLocation:
        """Append a record with the records that belong to it: request, metadata and redirects."""
        members = [
            record,
            *_exchange_records(observation.exchange, record),
            *_redirect_records(observation, record),
        ]
        return self._open_writer(observation.source).append(members)[0]

    def _copy_raw(self, observation: Observation) -> RecordLocation:
        members = [observation.raw_record or b"", *observation.companion_records]
        return self._open_writer(observation.source).append(members)[0]

    def _open_writer(self, source: str) -> WarcWriter:
        if self._writer is None or source != self._source:
            self.close()
            self._source = source
            settings = self._reader.settings
            self._writer = WarcWriter(
                self._lock.folder,
                ArchiveOrigin(SOFTWARE, source, contact=settings.contact),
                clock=self._reader.clock,
                max_bytes=settings.archive.file_bytes,
                lock=self._lock,
            )
        return self._writer


def with_last_redirect(observation: Observation) -> Observation:
    """Return an observation that ended at a redirect with that redirect as its answer."""
    has_answer = observation.exchange is not None or observation.snapshot is not None
    if not observation.hops or has_answer:
        return observation
    *earlier_hops, last_hop = observation.hops
    head = strip_transfer_coding(last_hop.exchange.response_head)
    record = build_response(last_hop.url, observation.time, head + last_hop.body)
    status, headers, body = parse_payload(record)
    return replace(
        observation,
        snapshot=Snapshot(last_hop.url, body, status or 0, headers),
        status=status,
        exchange=last_hop.exchange,
        hops=tuple(earlier_hops),
        answering_url=last_hop.url,
    )


def _with_visit_headers(record: WarcRecord, item: PageObservation) -> WarcRecord:
    """Add the visit's id, and the page, final URL and outcome where the record does not show them.

    A 304 shows its outcome itself.
    """
    observation = item.observation
    final_url = observation.final_url or record.target_uri
    outcome = "" if observation.outcome is Outcome.NOT_MODIFIED else observation.outcome
    values = {
        PAGE_FIELD: item.url if record.target_uri != item.url else "",
        FINAL_FIELD: final_url if record.target_uri != final_url else "",
        OUTCOME_FIELD: f"{outcome}; {observation.why}" if outcome else "",
    }
    headers = tuple((name, value) for name, value in values.items() if value)
    record_id = record_id_of_uid(observation.uid)
    return replace(record, id=record_id, headers=(*record.headers, *headers))


def _exchange_records(
    exchange: HttpExchange | None, record: WarcRecord, headers: HeaderFields = ()
) -> Iterator[WarcRecord]:
    """Yield the records of the request and the metadata of an answer."""
    if exchange is not None and exchange.request:
        yield build_request(exchange.request, response=record, headers=headers)
    if exchange is not None and exchange.metadata:
        yield build_metadata(dict(exchange.metadata), about=record, headers=headers)


def _redirect_records(observation: Observation, record: WarcRecord) -> Iterator[WarcRecord]:
    """Yield the redirects that led to a visit's record; each of them names that record.

    They follow the record, so that a crash between them leaves a visit and never a redirect alone.
    """
    headers = ((VISIT_FIELD, f"<{record.id}>"),)
    for hop in observation.hops:
        message = strip_transfer_coding(hop.exchange.response_head) + hop.body
        redirect = build_response(hop.url, observation.time, message, headers=headers)
        yield redirect
        yield from _exchange_records(hop.exchange, redirect, headers)


def strip_transfer_coding(head: bytes) -> bytes:
    """Return an HTTP head without Transfer-Encoding, because the body is stored decoded.

    >>> strip_transfer_coding(b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")
    b'HTTP/1.1 200 OK\\r\\n\\r\\n'
    """
    return _TRANSFER_CODING.sub(b"", head)


def synthetic_head(snapshot: Snapshot) -> bytes:
    """Return an HTTP head with the status of a snapshot that came without one; empty for 200.

    >>> synthetic_head(Snapshot("https://example.org/", b"", 404, (("content-type", "text/html"),)))
    b'HTTP/1.1 404 \\r\\ncontent-type: text/html\\r\\n\\r\\n'
    >>> synthetic_head(Snapshot("https://example.org/", b"", 200, (("etag", "1"),)))
    b''
    """
    if snapshot.status == HTTP_OK:
        return b""
    lines = [
        f"HTTP/1.1 {snapshot.status} ",
        *(f"{name}: {value}" for name, value in snapshot.headers),
    ]
    head = "".join(" ".join(line.splitlines()) + "\r\n" for line in lines) + "\r\n"
    return strip_transfer_coding(head.encode("utf-8", "surrogateescape"))
