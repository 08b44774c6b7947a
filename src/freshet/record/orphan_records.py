"""Adopts records that no row refers to: a row is added, or gets its lost bytes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import HistoryRow
from freshet.archive.importers.warc import observation_of_capture
from freshet.archive.observation import Observation
from freshet.archive.warc.captures import WarcCapture, group_captures
from freshet.archive.warc.read import read_records
from freshet.archive.warc.record import uid_of_record_id
from freshet.core.errors import NotFoundError
from freshet.core.types import PageKey, RecordLocation, Visit
from freshet.view.url import canonical_url

if TYPE_CHECKING:
    from freshet.record.recorder import Recorder

ADOPTION_BATCH = 100


@dataclass(frozen=True, slots=True)
class AdoptionSummary:
    """How many records got a new row, and how many gave a row its lost bytes back."""

    new_rows: int
    restored_rows: int

    @property
    def useful_records(self) -> int:
        """Return how many records were adopted."""
        return self.new_rows + self.restored_rows


def adopt_orphan_records(
    path: Path, catalog: Catalog, recorder: "Recorder", *, start: int = 0
) -> AdoptionSummary:
    """Adopt the whole records of a file, from an offset on, that no row refers to."""
    located_uids = {visit.uid for visit in catalog.visits_in_file(path.name)}
    observations = _orphan_observations(path, start, located_uids)
    new_rows = restored_rows = 0
    while batch := list(islice(observations, ADOPTION_BATCH)):
        restored_rows += _restore_bytes(catalog, batch)
        new_rows += recorder.record(batch).visit_count
    return AdoptionSummary(new_rows, restored_rows)


def archive_file_source(path: Path) -> str:
    """Return the source of the pages in a file, from its first record."""
    first = next(iter(read_records(path)), None)
    block = getattr(getattr(first, "record", None), "block", b"")
    fields = (line.partition(":") for line in block.decode("utf-8", "replace").splitlines())
    return next((value.strip() for name, _, value in fields if name.lower() == "ispartof"), "")


def _orphan_observations(path: Path, start: int, located_uids: set[bytes]) -> Iterator[Observation]:
    """Yield the captures of a file that no row refers to and that can be visits."""
    source = archive_file_source(path)
    with path.open("rb") as file:
        for capture in group_captures(read_records(path, start=start)):
            if not isinstance(capture, WarcCapture):
                continue
            located = capture.located
            if uid_of_record_id(located.record.id) in located_uids:
                continue
            location = RecordLocation(located.path.name, located.offset, located.length)
            try:
                observation = observation_of_capture(capture, source, file)
            except ValueError:  # it cannot be a visit
                continue
            yield replace(observation, raw_record=None, companion_records=(), location=location)


def _restore_bytes(catalog: Catalog, batch: Sequence[Observation]) -> int:
    """Give rows that lost their bytes the records found; return the number of rows."""
    stored_uids = catalog.stored_uids([observation.uid for observation in batch])
    locations = {}
    for observation in batch:
        row = _row_of(catalog, observation) if observation.uid in stored_uids else None
        if row and row.visit.id is not None and _restores(catalog, row.visit, observation):
            locations[row.visit.id] = observation.location
    catalog.set_locations(locations)
    return len(locations)


def _row_of(catalog: Catalog, observation: Observation) -> HistoryRow | None:
    try:
        key = PageKey(canonical_url(observation.url) or "", observation.source)
        page_id = catalog.page(key).id
    except NotFoundError:
        return None
    rows = catalog.history(page_id, since=observation.time, until=observation.time)
    return next((row for row in rows if row.visit.uid == observation.uid), None)


def _restores(catalog: Catalog, visit: Visit, observation: Observation) -> bool:
    """Whether a visit has lost its bytes, and the record has them or refers to them."""
    if visit.location is not None:
        return False
    if observation.snapshot is not None or visit.digest is None:
        return True
    return catalog.first_visit_with_payload(visit.digest, visit.size) is not None
