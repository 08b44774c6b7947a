"""Records of our own files that no row points to get a row, or give a row its bytes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import HistoryRow
from freshet.archive.importers.base import Arrival
from freshet.archive.importers.warc import Capture, arrival, captures
from freshet.archive.warc.read import records
from freshet.archive.warc.record import uid
from freshet.core.errors import NotFound
from freshet.core.types import Location, PageKey
from freshet.view.url import canonical

if TYPE_CHECKING:
    from freshet.record.recorder import Recorder

ADOPTED_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Adopted:
    """What became of records that no row pointed to.

    ``new`` got a row, ``again`` gave a row its lost bytes back, ``doubles`` have a row whose record
    lies elsewhere, ``refused`` cannot be visits.
    """

    new: int = 0
    again: int = 0
    doubles: int = 0
    refused: int = 0

    def __add__(self, other: "Adopted") -> "Adopted":
        return Adopted(
            self.new + other.new,
            self.again + other.again,
            self.doubles + other.doubles,
            self.refused + other.refused,
        )

    @property
    def kept(self) -> int:
        """Return how many records are of use now."""
        return self.new + self.again


def adopt(path: Path, catalog: Catalog, recorder: "Recorder", *, start: int = 0) -> Adopted:
    """Take in every whole record of one of our files, from an offset on, that no row points to."""
    placed = {visit.uid for visit in catalog.visits_in_file(path.name)}
    found = _own_arrivals(path, start, placed)
    total = Adopted()
    while batch := list(islice(found, ADOPTED_AT_ONCE)):
        usable = [item for item in batch if item is not None]
        total += Adopted(refused=len(batch) - len(usable)) + _taken(catalog, recorder, usable)
    return total


def source_of(path: Path) -> str:
    """Return the source of the pages in a file, from the record that opens it."""
    first = next(iter(records(path)), None)
    block = getattr(getattr(first, "record", None), "block", b"")
    lines = block.decode("utf-8", "replace").splitlines()
    named = (line.partition(":") for line in lines)
    return next((value.strip() for name, _, value in named if name.lower() == "ispartof"), "")


def _own_arrivals(path: Path, start: int, placed: set[bytes]) -> Iterator[Arrival | None]:
    """Yield the captures of a file that have no place yet; None for one that can be no visit."""
    source = source_of(path)
    with path.open("rb") as file:
        for found in captures(records(path, start=start)):
            if isinstance(found, Capture) and uid(found.record.record.id) not in placed:
                yield _own_arrival(found, source, file)


def _own_arrival(found: Capture, source: str, file: BinaryIO) -> Arrival | None:
    place = Location(found.record.path.name, found.record.offset, found.record.length)
    try:
        plain = arrival(found, source, file)
    except ValueError:
        return None
    return replace(plain, raw=None, companions=(), location=place)


def _taken(catalog: Catalog, recorder: "Recorder", batch: Sequence[Arrival]) -> Adopted:
    known = catalog.known([item.uid for item in batch])
    lost = {}
    for item in batch:
        row = _row_of(catalog, item) if item.uid in known else None
        if row is not None and row.visit.id is not None and _has_bytes_for(catalog, row, item):
            lost[row.visit.id] = item.location
    catalog.set_locations(lost)
    taken = recorder.take(batch)
    return Adopted(taken.visits, len(lost), len(known) - len(lost), len(taken.unusable))


def _row_of(catalog: Catalog, item: Arrival) -> HistoryRow | None:
    try:
        page = catalog.page(PageKey(canonical(item.url) or "", item.source)).id
    except NotFound:
        return None
    rows = catalog.history(page, since=item.time, until=item.time)
    return next((row for row in rows if row.visit.uid == item.uid), None)


def _has_bytes_for(catalog: Catalog, row: HistoryRow, item: Arrival) -> bool:
    """Whether a row lost its bytes and the record found has them, or leads to them."""
    visit = row.visit
    if visit.location is not None:
        return False
    if item.snapshot is not None or visit.digest is None:
        return True
    return catalog.find_payload(visit.digest, visit.size) is not None
