"""Visits, changes, view summaries and links as database rows, written and read back."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from sqlalchemy import Select, select

from freshet.archive.catalog.packed_links import pack_links
from freshet.archive.catalog.rows import HistoryRow, ViewSummary, VisitEntry
from freshet.archive.catalog.schema import changes, facts, files, pages, visits
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.errors import NotFoundError
from freshet.core.types import (
    LOOK_OUTCOMES,
    Change,
    ContentKind,
    Outcome,
    RecordLocation,
    ViewStatistics,
    Visit,
)

Columns = dict[str, Sequence[Any]]

LOOK_OUTCOME_NAMES = sorted(outcome.value for outcome in LOOK_OUTCOMES)
# The outcome of the last visit of each page of a query.
LAST_OUTCOME = (
    select(visits.c.outcome)
    .where(visits.c.page_id == pages.c.id)
    .order_by(visits.c.time.desc(), visits.c.id.desc())
    .limit(1)
    .scalar_subquery()
    .label("outcome")
)
CHANGE_FIELDS = tuple(
    field.name for field in fields(Change) if field.name not in {"new_links", "removed_links"}
)
STATISTICS_FIELDS = tuple(field.name for field in fields(ViewStatistics))

VISIT_COLUMNS = (
    visits.c.id, visits.c.uid, visits.c.page_id, visits.c.time, visits.c.outcome, visits.c.status,
    visits.c.size, visits.c.digest, visits.c.media_type, visits.c.final_url, files.c.name,
    visits.c.offset, visits.c.length, visits.c.why,
)  # fmt: skip
CHANGE_COLUMNS = tuple(changes.c[name] for name in CHANGE_FIELDS)
VIEW_COLUMNS = (
    facts.c.kind, facts.c.title, facts.c.language, facts.c.text_hash, facts.c.structure_hash,
    *(facts.c[name] for name in STATISTICS_FIELDS),
)  # fmt: skip
OTHER_COLUMNS = (
    changes.c.since, changes.c.removed_links, visits.c.etag, visits.c.last_modified,
)  # fmt: skip
CHANGE_START = len(VISIT_COLUMNS)
VIEW_START = CHANGE_START + len(CHANGE_COLUMNS)
OTHER_START = VIEW_START + len(VIEW_COLUMNS)

VISIT_QUERY: Select[Any] = select(*VISIT_COLUMNS).outerjoin(files, files.c.id == visits.c.file_id)
HISTORY_QUERY: Select[Any] = (
    select(*VISIT_COLUMNS, *CHANGE_COLUMNS, *VIEW_COLUMNS, *OTHER_COLUMNS)
    .select_from(visits)
    .outerjoin(files, files.c.id == visits.c.file_id)
    .outerjoin(changes, changes.c.visit_id == visits.c.id)
    .outerjoin(facts, facts.c.visit_id == visits.c.id)
)
SIGN_BIT = 1 << 63
UNSIGNED_MASK = (1 << 64) - 1


def visit_columns(
    entries: Sequence[VisitEntry], ids: Mapping[bytes, int], file_ids: Mapping[str, int]
) -> Columns:
    """Return the columns of the table visits, with the visits' ids given by uid."""
    new_visits = [entry.visit for entry in entries]
    return {
        "id": [ids[visit.uid] for visit in new_visits],
        "uid": [visit.uid for visit in new_visits],
        "page_id": [visit.page for visit in new_visits],
        "time": [to_epoch(visit.time) for visit in new_visits],
        "outcome": [visit.outcome.value for visit in new_visits],
        "status": [visit.status for visit in new_visits],
        "size": [visit.size for visit in new_visits],
        "digest": [visit.digest for visit in new_visits],
        "media_type": [visit.media_type for visit in new_visits],
        "final_url": [visit.final_url for visit in new_visits],
        "etag": [entry.etag for entry in entries],
        "last_modified": [entry.last_modified for entry in entries],
        "why": [visit.why or None for visit in new_visits],
        **location_columns([visit.location for visit in new_visits], file_ids),
    }


def location_columns(
    locations: Sequence[RecordLocation | None], file_ids: Mapping[str, int]
) -> Columns:
    """Return the columns of the table visits that locate records in the archive."""
    return {
        "file_id": [location and file_ids[location.file] for location in locations],
        "offset": [location and location.offset for location in locations],
        "length": [location and location.length for location in locations],
    }


def change_columns(entries: Sequence[VisitEntry], ids: Mapping[bytes, int]) -> Columns:
    """Return the columns of the table changes, for the entries that have a change."""
    compared = [entry for entry in entries if entry.change is not None]
    entry_changes = [entry.change for entry in compared if entry.change is not None]
    return {
        **_visit_and_page_ids(compared, ids),
        **{name: list(map(attrgetter(name), entry_changes)) for name in CHANGE_FIELDS},
        "since": [_compared_visit_id(entry, ids) for entry in compared],
        "removed_links": [len(change.removed_links) for change in entry_changes],
    }


def view_columns(entries: Sequence[VisitEntry], ids: Mapping[bytes, int]) -> Columns:
    """Return the columns of the table facts, for the entries that have a view."""
    viewed = [entry for entry in entries if entry.view is not None]
    views = [entry.view for entry in viewed if entry.view is not None]
    statistics = [view.facts for view in views]
    return {
        **_visit_and_page_ids(viewed, ids),
        "kind": [view.kind.value for view in views],
        "title": [view.title for view in views],
        "language": [view.language for view in views],
        "text_hash": [to_signed(view.text_hash) for view in views],
        "structure_hash": [to_signed(view.structure_hash) for view in views],
        **{name: list(map(attrgetter(name), statistics)) for name in STATISTICS_FIELDS},
    }


def link_columns(entries: Sequence[VisitEntry], ids: Mapping[bytes, int]) -> Columns:
    """Return the columns of the table link_events, for the entries that have links."""
    linked = [entry for entry in entries if entry.links is not None]
    deltas = [entry.links for entry in linked if entry.links is not None]
    return {
        **_visit_and_page_ids(linked, ids),
        "added": [pack_links(delta.added) for delta in deltas],
        "removed": [pack_links(delta.removed) for delta in deltas],
    }


def to_signed(number: int) -> int:
    """Convert an unsigned 64-bit hash to the signed integer that databases store.

    >>> to_signed(2**64 - 1), to_signed(5)
    (-1, 5)
    """
    return (number ^ SIGN_BIT) - SIGN_BIT


def _visit_and_page_ids(entries: Sequence[VisitEntry], ids: Mapping[bytes, int]) -> Columns:
    return {
        "visit_id": [ids[entry.visit.uid] for entry in entries],
        "page_id": [entry.visit.page for entry in entries],
    }


def _compared_visit_id(entry: VisitEntry, ids: Mapping[bytes, int]) -> int | None:
    if not isinstance(entry.since, bytes):
        return entry.since
    if entry.since not in ids:
        raise NotFoundError(
            f"visit {entry.visit.uid.hex()} is compared with {entry.since.hex()}, which is not in"
            " the catalog; append that one first"
        )
    return ids[entry.since]


def read_visit(row: Sequence[Any]) -> Visit:
    """Convert a row that begins with VISIT_COLUMNS to a visit."""
    (
        visit_id, uid, page, seconds, outcome, status, size, digest, media_type, final_url, name,
        offset, length, why, *_,
    ) = row  # fmt: skip
    location = None if name is None else RecordLocation(name, offset, length)
    return Visit(
        uid, page, from_epoch(seconds), Outcome(outcome), status, size, digest, media_type,
        location, final_url, visit_id, why or "",
    )  # fmt: skip


def read_history_row(row: Sequence[Any]) -> HistoryRow:
    """Convert a row of HISTORY_QUERY to a visit with its change and its view summary."""
    since, removed_links, etag, last_modified = row[OTHER_START:]
    change = None if row[CHANGE_START] is None else Change(*row[CHANGE_START:VIEW_START])
    view = None if row[VIEW_START] is None else _to_view_summary(row[VIEW_START:OTHER_START])
    return HistoryRow(read_visit(row), change, since, removed_links, view, etag, last_modified)


def _to_view_summary(values: Sequence[Any]) -> ViewSummary:
    kind, title, language, text_hash, structure_hash, *statistics = values
    return ViewSummary(
        ContentKind(kind),
        title,
        language,
        text_hash & UNSIGNED_MASK,
        structure_hash & UNSIGNED_MASK,
        ViewStatistics(*statistics),
    )
