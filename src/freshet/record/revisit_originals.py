"""Finds the records that revisit records refer to."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.warc.build import RevisitOriginal
from freshet.archive.warc.digest import format_digest, parse_sha1, sha1
from freshet.archive.warc.http_message import stored_body
from freshet.archive.warc.read import read_record
from freshet.archive.warc.record import WarcRecord, record_id_of_uid
from freshet.core.errors import BadInputError, DamagedError, NotFoundError
from freshet.core.types import RecordLocation, Visit

MAX_CACHED_PAYLOADS = 10_000
MAX_CANDIDATE_RECORDS = 8

PayloadKey = tuple[int, bytes, int]


@dataclass(frozen=True, slots=True)
class LastLook:
    """The last look at a page that has bytes: its payload (page id, SHA-1, size) and its record."""

    payload: PayloadKey | None
    record_id: str
    target_uri: str
    time: datetime

    @property
    def as_original(self) -> RevisitOriginal:
        """Return the reference that a revisit record has to the record of the look."""
        digest = format_digest(self.payload[1]) if self.payload else ""
        return RevisitOriginal(self.record_id, self.target_uri, self.time, digest)


class RevisitOriginals:
    """Finds the record that holds a payload; a damaged record is never returned."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog = catalog
        self._folder = folder
        self._locations: dict[PayloadKey, RecordLocation] = {}

    def prefetch(self, payloads: Collection[PayloadKey]) -> None:
        """Look up the locations of many payloads at once."""
        if len(self._locations) + len(payloads) > MAX_CACHED_PAYLOADS:
            self._locations.clear()
        missing = [key for key in payloads if key not in self._locations]
        for key, visit in self._catalog.stored_payloads(missing).items():
            if visit.location is not None:
                self._locations[key] = visit.location

    def remember(self, payload: PayloadKey, location: RecordLocation) -> None:
        """Remember the location of a payload that was just stored."""
        self._locations[payload] = location

    def clear(self) -> None:
        """Forget all locations, because some of the records were cut off."""
        self._locations.clear()

    def find_by_payload(self, payload: PayloadKey, body: bytes) -> WarcRecord | None:
        """Return the page's record with this payload; ``prefetch`` must have looked it up."""
        location = self._locations.get(payload)
        record = self._read(location) if location else None
        if record is None or stored_payload(record) != body:
            return None
        return record if parse_sha1(revisit_original(record).digest) == payload[1] else None

    def find_by_look(self, look: LastLook) -> WarcRecord | None:
        """Return the record that holds the payload of a look, which may itself be a revisit."""
        if look.payload is None:
            return None
        self.prefetch([look.payload])
        records = (self._read(location) for location in self._candidates(look.payload))
        return next((record for record in records if record and record.type != "revisit"), None)

    def _candidates(self, payload: PayloadKey) -> Iterator[RecordLocation]:
        """Yield the locations that may hold a payload, those of the page itself first."""
        if payload in self._locations:
            yield self._locations[payload]
        visits = self._catalog.visits_with_payload(payload[1], payload[2])
        locations = (visit.location for visit in visits if visit.location)
        yield from islice(locations, MAX_CANDIDATE_RECORDS)

    def _read(self, location: RecordLocation) -> WarcRecord | None:
        """Return the record at a location, or None where it cannot be read."""
        try:
            path = self._folder / location.file
            return read_record(path, location.offset, location.length)
        except (DamagedError, NotFoundError, BadInputError):
            return None


def last_look_of_visit(visit: Visit, url: str) -> LastLook:
    """Return a visit of the catalog as a look at the page with that URL."""
    payload = None
    if visit.digest is not None and visit.size is not None:
        payload = (visit.page, visit.digest, visit.size)
    return LastLook(payload, record_id_of_uid(visit.uid), visit.final_url or url, visit.time)


def revisit_original(record: WarcRecord) -> RevisitOriginal:
    """Return the reference that a revisit record has to a record."""
    digest = record.field("WARC-Payload-Digest")
    if not digest:
        digest = format_digest(sha1(stored_payload(record) or b""))
    return RevisitOriginal(record.id, record.target_uri, record.date, digest)


def stored_payload(record: WarcRecord) -> bytes | None:
    """Return the payload as the record stores it; a revisit has none."""
    if record.type == "revisit":
        return None
    return stored_body(record)
