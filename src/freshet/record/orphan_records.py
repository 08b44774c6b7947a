"""Records of our own files that no row points to get a row, or give a row its bytes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import HistoryRow
from freshet.archive.importers.warc import observation_of_capture
from freshet.archive.observation import Observation
from freshet.archive.warc.captures import WarcCapture, group_captures
from freshet.archive.warc.read import read_records
from freshet.archive.warc.record import uid_of_record_id
from freshet.core.errors import NotFoundError
from freshet.core.types import PageKey, RecordLocation
from freshet.view.url import canonical_url

if TYPE_CHECKING:
    from freshet.record.recorder import Recorder

ADOPTION_BATCH = 100


@dataclass(frozen=True, slots=True)
class AdoptionSummary:
    """What became of records that no row pointed to.

    ``new_rows`` got a row, ``restored_rows`` gave a row its lost bytes back, ``duplicates`` have a row whose record
    lies elsewhere, ``refused`` cannot be visits.
    """

    new_rows: int = 0
    restored_rows: int = 0
    duplicates: int = 0
    refused: int = 0

    def __add__(self, other: "AdoptionSummary") -> "AdoptionSummary":
        return AdoptionSummary(
            self.new_rows + other.new_rows,
            self.restored_rows + other.restored_rows,
            self.duplicates + other.duplicates,
            self.refused + other.refused,
        )

    @property
    def useful_records(self) -> int:
        """Return how many records are of use now."""
        return self.new_rows + self.restored_rows


def adopt_orphan_records(
    path: Path, catalog: Catalog, recorder: "Recorder", *, start: int = 0
) -> AdoptionSummary:
    """Take in every whole record of one of our files, from an offset on, that no row points to."""
    placed = {visit.uid for visit in catalog.visits_in_file(path.name)}
    found = _own_arrivals(path, start, placed)
    total = AdoptionSummary()
    while batch := list(islice(found, ADOPTION_BATCH)):
        usable = [item for item in batch if item is not None]
        total += AdoptionSummary(refused=len(batch) - len(usable)) + _taken(
            catalog, recorder, usable
        )
    return total


def archive_file_source(path: Path) -> str:
    """Return the source of the pages in a file, from the record that opens it."""
    first = next(iter(read_records(path)), None)
    block = getattr(getattr(first, "record", None), "block", b"")
    lines = block.decode("utf-8", "replace").splitlines()
    named = (line.partition(":") for line in lines)
    return next((value.strip() for name, _, value in named if name.lower() == "ispartof"), "")


def _own_arrivals(path: Path, start: int, placed: set[bytes]) -> Iterator[Observation | None]:
    """Yield the captures of a file that have no place yet; None for one that can be no visit."""
    source = archive_file_source(path)
    with path.open("rb") as file:
        for found in group_captures(read_records(path, start=start)):
            if (
                isinstance(found, WarcCapture)
                and uid_of_record_id(found.located.record.id) not in placed
            ):
                yield _own_arrival(found, source, file)


def _own_arrival(found: WarcCapture, source: str, file: BinaryIO) -> Observation | None:
    place = RecordLocation(found.located.path.name, found.located.offset, found.located.length)
    try:
        plain = observation_of_capture(found, source, file)
    except ValueError:
        return None
    return replace(plain, raw_record=None, companion_records=(), location=place)


def _taken(catalog: Catalog, recorder: "Recorder", batch: Sequence[Observation]) -> AdoptionSummary:
    known = catalog.stored_uids([item.uid for item in batch])
    lost = {}
    for item in batch:
        row = _row_of(catalog, item) if item.uid in known else None
        if row is not None and row.visit.id is not None and _has_bytes_for(catalog, row, item):
            lost[row.visit.id] = item.location
    catalog.set_locations(lost)
    taken = recorder.record(batch)
    return AdoptionSummary(
        taken.visit_count, len(lost), len(known) - len(lost), len(taken.unusable)
    )


def _row_of(catalog: Catalog, item: Observation) -> HistoryRow | None:
    try:
        page = catalog.page(PageKey(canonical_url(item.url) or "", item.source)).id
    except NotFoundError:
        return None
    rows = catalog.history(page, since=item.time, until=item.time)
    return next((row for row in rows if row.visit.uid == item.uid), None)


def _has_bytes_for(catalog: Catalog, row: HistoryRow, item: Observation) -> bool:
    """Whether a row lost its bytes and the record found has them, or leads to them."""
    visit = row.visit
    if visit.location is not None:
        return False
    if item.snapshot is not None or visit.digest is None:
        return True
    return catalog.first_visit_with_payload(visit.digest, visit.size) is not None
