"""Snapshots: the bytes that a visit of the catalog brought, read back from the archive."""

from pathlib import Path

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.warc.http_message import parse_payload
from freshet.archive.warc.read import read_record
from freshet.archive.warc.record import WarcRecord
from freshet.core.types import RecordLocation, Snapshot, Visit


class SnapshotReader:
    """Reads snapshots of a collection; a revisit leads to the record that holds its bytes."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog = catalog
        self._folder = folder

    def read(self, visit: Visit, url: str) -> Snapshot | None:
        """Return what a visit brought, content codings still on; None where no bytes are kept."""
        record = self._with_payload(visit)
        if record is None:
            return None
        found = parse_payload(record)
        return Snapshot(visit.final_url or url, found.body, visit.status or 200, found.headers)

    def _with_payload(self, visit: Visit) -> WarcRecord | None:
        if visit.location is None:
            return None
        record = self._read(visit.location)
        if record.type != "revisit":
            return record
        near = self._original(visit, page=visit.page) or self._original(visit, page=None)
        return near or self._any_original(visit)

    def _original(self, visit: Visit, *, page: int | None) -> WarcRecord | None:
        """Return the record with a revisit's payload; another revisit has none either."""
        if visit.digest is None or visit.size is None:
            return None
        kept = self._catalog.first_visit_with_payload(visit.digest, visit.size, page_id=page)
        if kept is None or kept.location is None or kept.id == visit.id:
            return None
        record = self._read(kept.location)
        return None if record.type == "revisit" else record

    def _any_original(self, visit: Visit) -> WarcRecord | None:
        """Return the first record with a revisit's payload, where the first visit is a revisit."""
        if visit.digest is None or visit.size is None:
            return None
        sharing = self._catalog.visits_with_payload(visit.digest, visit.size)
        kept = (self._read(other.location) for other in sharing if other.location)
        return next((record for record in kept if record.type != "revisit"), None)

    def _read(self, location: RecordLocation) -> WarcRecord:
        return read_record(self._folder / location.file, location.offset, location.length)
