"""Rows of the joined visit tables, turned back into visits, changes and views."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, select

from freshet.archive.catalog.rows import HistoryRow, ViewSummary
from freshet.archive.catalog.schema import changes, facts, files, visits
from freshet.archive.catalog.sql.columns import CHANGE_FIELDS, FACT_FIELDS
from freshet.core.clock import from_epoch
from freshet.core.types import Change, ContentKind, Outcome, RecordLocation, ViewStatistics, Visit

VISIT_COLUMNS = (
    visits.c.id, visits.c.uid, visits.c.page_id, visits.c.time, visits.c.outcome, visits.c.status,
    visits.c.size, visits.c.digest, visits.c.media_type, visits.c.final_url, files.c.name,
    visits.c.offset, visits.c.length, visits.c.why,
)  # fmt: skip
CHANGE_COLUMNS = tuple(changes.c[name] for name in CHANGE_FIELDS)
VIEW_COLUMNS = (
    facts.c.kind, facts.c.title, facts.c.language, facts.c.text_hash, facts.c.structure_hash,
    *(facts.c[name] for name in FACT_FIELDS),
)  # fmt: skip
EXTRA_COLUMNS = (
    changes.c.since, changes.c.removed_links, visits.c.etag, visits.c.last_modified,
)  # fmt: skip
CHANGE_AT = len(VISIT_COLUMNS)
VIEW_AT = CHANGE_AT + len(CHANGE_COLUMNS)
EXTRA_AT = VIEW_AT + len(VIEW_COLUMNS)
UNSIGNED = (1 << 64) - 1

VISIT_QUERY: Select[Any] = select(*VISIT_COLUMNS).outerjoin(files, files.c.id == visits.c.file_id)
HISTORY_QUERY: Select[Any] = (
    select(*VISIT_COLUMNS, *CHANGE_COLUMNS, *VIEW_COLUMNS, *EXTRA_COLUMNS)
    .select_from(visits)
    .outerjoin(files, files.c.id == visits.c.file_id)
    .outerjoin(changes, changes.c.visit_id == visits.c.id)
    .outerjoin(facts, facts.c.visit_id == visits.c.id)
)


def read_visit(row: Sequence[Any]) -> Visit:
    """Turn a row that begins with the visit's columns into a visit."""
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
    """Turn a row of HISTORY into a visit with its change and its view."""
    since, removed_links, etag, last_modified = row[EXTRA_AT:]
    change = None if row[CHANGE_AT] is None else Change(*row[CHANGE_AT:VIEW_AT])
    view = None if row[VIEW_AT] is None else _to_view(row[VIEW_AT:EXTRA_AT])
    return HistoryRow(read_visit(row), change, since, removed_links, view, etag, last_modified)


def _to_view(values: Sequence[Any]) -> ViewSummary:
    kind, title, language, text_hash, structure_hash, *counts = values
    return ViewSummary(
        ContentKind(kind),
        title,
        language,
        text_hash & UNSIGNED,
        structure_hash & UNSIGNED,
        ViewStatistics(*counts),
    )
