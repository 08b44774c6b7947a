"""Read the content of visits back from the archive."""

from collections.abc import Iterator
from pathlib import Path

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.warc.http_message import parse_payload
from freshet.archive.warc.read import read_record
from freshet.archive.warc.record import WarcRecord
from freshet.core.types import RecordLocation, Snapshot, Visit


class SnapshotReader:
    """Reads the snapshots of a collection; a revisit leads to the record that holds its payload."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog = catalog
        self._folder = folder

    def read(self, visit: Visit, url: str) -> Snapshot | None:
        """Return the content of a visit with its content codings; None if no content is stored."""
        record = self._record_with_payload(visit)
        if record is None:
            return None
        payload = parse_payload(record)
        return Snapshot(visit.final_url or url, payload.body, visit.status or 200, payload.headers)

    def _record_with_payload(self, visit: Visit) -> WarcRecord | None:
        if visit.location is None:
            return None
        record = self._read(visit.location)
        if record.type != "revisit":
            return record
        records = map(self._read, self._payload_locations(visit))
        return next((record for record in records if record.type != "revisit"), None)

    def _payload_locations(self, visit: Visit) -> Iterator[RecordLocation]:
        """Yield the records with a visit's payload: the page's first, the first of all, every one.

        The first ones can be revisits of an original that was imported later.
        """
        if visit.digest is None or visit.size is None:
            return
        for page_id in (visit.page, None):
            first = self._catalog.first_visit_with_payload(
                visit.digest, visit.size, page_id=page_id
            )
            if first is not None and first.location is not None and first.id != visit.id:
                yield first.location
        for same_payload in self._catalog.visits_with_payload(visit.digest, visit.size):
            if same_payload.location:
                yield same_payload.location

    def _read(self, location: RecordLocation) -> WarcRecord:
        return read_record(self._folder / location.file, location.offset, location.length)
