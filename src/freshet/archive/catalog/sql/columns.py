"""Entries, turned into the columns that are inserted: one list of values per column."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from freshet.archive.catalog.packed_links import pack_links
from freshet.archive.catalog.rows import VisitEntry
from freshet.core.clock import to_epoch
from freshet.core.errors import NotFoundError
from freshet.core.types import Change, RecordLocation, ViewStatistics

Columns = dict[str, Sequence[Any]]

CHANGE_FIELDS = tuple(
    field.name for field in fields(Change) if field.name not in {"new_links", "removed_links"}
)
FACT_FIELDS = tuple(field.name for field in fields(ViewStatistics))
SIGN = 1 << 63


def visit_columns(
    entries: Sequence[VisitEntry], ids: Mapping[bytes, int], file_ids: Mapping[str, int]
) -> Columns:
    """Return the rows of the table visits, where the visits have these ids."""
    seen = [entry.visit for entry in entries]
    return {
        "id": [ids[visit.uid] for visit in seen],
        "uid": [visit.uid for visit in seen],
        "page_id": [visit.page for visit in seen],
        "time": [to_epoch(visit.time) for visit in seen],
        "outcome": [visit.outcome.value for visit in seen],
        "status": [visit.status for visit in seen],
        "size": [visit.size for visit in seen],
        "digest": [visit.digest for visit in seen],
        "media_type": [visit.media_type for visit in seen],
        "final_url": [visit.final_url for visit in seen],
        "etag": [entry.etag for entry in entries],
        "last_modified": [entry.last_modified for entry in entries],
        "why": [visit.why or None for visit in seen],
        **location_columns([visit.location for visit in seen], file_ids),
    }


def location_columns(
    places: Sequence[RecordLocation | None], file_ids: Mapping[str, int]
) -> Columns:
    """Return the columns of the table visits that say where records lie."""
    return {
        "file_id": [place and file_ids[place.file] for place in places],
        "offset": [place and place.offset for place in places],
        "length": [place and place.length for place in places],
    }


def change_columns(entries: Sequence[VisitEntry], ids: Mapping[bytes, int]) -> Columns:
    """Return the rows of the table changes, for those entries that have a change."""
    compared = [entry for entry in entries if entry.change is not None]
    found = [entry.change for entry in compared if entry.change is not None]
    return {
        **_owners(compared, ids),
        **{name: list(map(attrgetter(name), found)) for name in CHANGE_FIELDS},
        "since": [_since(entry, ids) for entry in compared],
        "removed_links": [len(change.removed_links) for change in found],
    }


def fact_columns(entries: Sequence[VisitEntry], ids: Mapping[bytes, int]) -> Columns:
    """Return the rows of the table facts, for those entries that have a view."""
    viewed = [entry for entry in entries if entry.view is not None]
    views = [entry.view for entry in viewed if entry.view is not None]
    counted = [view.facts for view in views]
    return {
        **_owners(viewed, ids),
        "kind": [view.kind.value for view in views],
        "title": [view.title for view in views],
        "language": [view.language for view in views],
        "text_hash": [signed(view.text_hash) for view in views],
        "structure_hash": [signed(view.structure_hash) for view in views],
        **{name: list(map(attrgetter(name), counted)) for name in FACT_FIELDS},
    }


def link_columns(entries: Sequence[VisitEntry], ids: Mapping[bytes, int]) -> Columns:
    """Return the rows of the table link_events, for those entries that looked at links."""
    linked = [entry for entry in entries if entry.links is not None]
    deltas = [entry.links for entry in linked if entry.links is not None]
    return {
        **_owners(linked, ids),
        "added": [pack_links(delta.added) for delta in deltas],
        "removed": [pack_links(delta.removed) for delta in deltas],
    }


def signed(number: int) -> int:
    """Fold an unsigned 64-bit hash into the signed integers that databases keep.

    >>> signed(2**64 - 1), signed(5)
    (-1, 5)
    """
    return (number ^ SIGN) - SIGN


def _owners(entries: Sequence[VisitEntry], ids: Mapping[bytes, int]) -> Columns:
    return {
        "visit_id": [ids[entry.visit.uid] for entry in entries],
        "page_id": [entry.visit.page for entry in entries],
    }


def _since(entry: VisitEntry, ids: Mapping[bytes, int]) -> int | None:
    if not isinstance(entry.since, bytes):
        return entry.since
    if entry.since not in ids:
        raise NotFoundError(
            f"visit {entry.visit.uid.hex()} is compared with {entry.since.hex()}, which is not in"
            " the catalog; append that one first"
        )
    return ids[entry.since]
