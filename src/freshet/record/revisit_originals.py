"""The records that revisit records refer to: looked up in the catalog, read from the archive."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.warc.build import Original
from freshet.archive.warc.digest import label, sha1, sha1_of
from freshet.archive.warc.http_message import stored_body
from freshet.archive.warc.read import read_record
from freshet.archive.warc.record import Record, record_id
from freshet.core.errors import BadInput, Damaged, NotFound
from freshet.core.types import Location, Visit

REMEMBERED_PAYLOADS = 10_000
CANDIDATES = 8

PayloadKey = tuple[int, bytes, int]


@dataclass(frozen=True, slots=True)
class LastLook:
    """A page's last look that brought bytes: its payload (page, SHA-1, size) and its record."""

    payload: PayloadKey | None
    id: str
    target: str
    date: datetime

    @property
    def original(self) -> Original:
        """Return the record of the look as what a revisit refers to."""
        digest = label(self.payload[1]) if self.payload else ""
        return Original(self.id, self.target, self.date, digest)


class OriginalRecords:
    """Finds the record that holds a payload; none is returned that does not hold it whole."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog = catalog
        self._folder = folder
        self._locations: dict[PayloadKey, Location] = {}

    def expect(self, payloads: Collection[PayloadKey]) -> None:
        """Look up many payloads at once."""
        if len(self._locations) + len(payloads) > REMEMBERED_PAYLOADS:
            self._locations.clear()
        missing = [key for key in payloads if key not in self._locations]
        for key, visit in self._catalog.kept_payloads(missing).items():
            if visit.location is not None:
                self._locations[key] = visit.location

    def note(self, payload: PayloadKey, location: Location) -> None:
        """Remember where a payload has just been stored."""
        self._locations[payload] = location

    def forget(self) -> None:
        """Forget all that was remembered, because some of it was cut off again."""
        self._locations.clear()

    def with_body(self, payload: PayloadKey, body: bytes) -> Record | None:
        """Return the page's record whose payload is these bytes; ``expect`` has looked it up."""
        location = self._locations.get(payload)
        record = self._read(location) if location else None
        if record is None or stored_payload(record) != body:
            return None
        return record if sha1_of(reference(record).digest) == payload[1] else None

    def of_look(self, look: LastLook) -> Record | None:
        """Return the record with the payload of a look, also where the look is a revisit."""
        if look.payload is None:
            return None
        self.expect([look.payload])
        read = (self._read(location) for location in self._places(look.payload))
        return next((record for record in read if record and record.type != "revisit"), None)

    def _places(self, payload: PayloadKey) -> Iterator[Location]:
        """Yield where the payload may lie: a record of the page first, then those of others."""
        if payload in self._locations:
            yield self._locations[payload]
        others = self._catalog.payload_visits(payload[1], payload[2])
        yield from islice((visit.location for visit in others if visit.location), CANDIDATES)

    def _read(self, location: Location) -> Record | None:
        """Return the record at a place, or None where it cannot be read."""
        try:
            path = self._folder / location.file
            return read_record(path, location.offset, location.length)
        except (Damaged, NotFound, BadInput):
            return None


def look_of(visit: Visit, url: str) -> LastLook:
    """Return a visit of the catalog as a look at the page of that URL."""
    known = visit.digest is not None and visit.size is not None
    payload = (visit.page, visit.digest or b"", visit.size or 0) if known else None
    return LastLook(payload, record_id(visit.uid), visit.final_url or url, visit.time)


def reference(record: Record) -> Original:
    """Return a record as what a revisit refers to."""
    digest = record.field("WARC-Payload-Digest") or label(sha1(stored_payload(record) or b""))
    return Original(record.id, record.target, record.date, digest)


def stored_payload(record: Record) -> bytes | None:
    """Return the payload as it stands in the record; a revisit has none."""
    if record.type == "revisit":
        return None
    return stored_body(record)
