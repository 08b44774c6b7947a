"""Histories, looks and links of pages."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    CTE,
    BindParameter,
    Double,
    Select,
    bindparam,
    column,
    literal,
    select,
    values,
)

from freshet.archive.catalog.database import TableStore, optional_epoch, split_chunks
from freshet.archive.catalog.packed_links import unpack_links
from freshet.archive.catalog.rows import HistoryRow, LinkDelta
from freshet.archive.catalog.schema import Id, link_events, pages, visits
from freshet.archive.catalog.visit_rows import (
    HISTORY_QUERY,
    LOOK_OUTCOME_NAMES,
    VISIT_QUERY,
    read_history_row,
    read_visit,
)
from freshet.core.clock import to_epoch
from freshet.core.types import Outcome, Visit

CONTENT_OUTCOME_NAMES = [Outcome.OK.value]
ALL_OUTCOME_NAMES = sorted(outcome.value for outcome in Outcome)
TIME_ORDER = (visits.c.time, visits.c.id)
LATEST_FIRST = tuple(column.desc() for column in TIME_ORDER)
LINK_EVENTS = (
    select(link_events.c.added, link_events.c.removed)
    .join(visits, visits.c.id == link_events.c.visit_id)
    .where(link_events.c.page_id == bindparam("page"))
    .order_by(*TIME_ORDER)
)
ADDED_LINKS = (
    select(link_events.c.added)
    .join(visits, visits.c.id == link_events.c.visit_id)
    .where(link_events.c.page_id == bindparam("page"))
    .order_by(*LATEST_FIRST)
)
STORED_PAYLOADS = (
    VISIT_QUERY
    .where(visits.c.digest.in_(bindparam("digests", expanding=True)))
    .where(visits.c.file_id.is_not(None))
    .order_by(visits.c.id)
)
END_OF_TIME = 1e12
MAX_SEEN_LINKS = 300_000


class HistoryTables(TableStore):
    """The tables visits, changes, facts and link_events, as they are read."""

    def history(
        self,
        page_id: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[HistoryRow]:
        """Return a page's visits in time order; ``limit`` keeps the latest.

        Visits at ``since`` and at ``until`` are included.
        """
        query = HISTORY_QUERY.where(visits.c.page_id == page_id)
        query = query.order_by(*LATEST_FIRST).limit(limit)
        if since is not None:
            query = query.where(visits.c.time >= to_epoch(since))
        if until is not None:
            query = query.where(visits.c.time <= to_epoch(until))
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
        return [read_history_row(row) for row in reversed(rows)]

    def last_looks(
        self,
        page_ids: Sequence[int],
        until: Mapping[int, datetime] | None = None,
        *,
        with_content: bool = True,
    ) -> dict[int, HistoryRow]:
        """Return the latest look of each page that has one, at or before a time given by page.

        ``with_content`` counts only looks that brought bytes; otherwise "not modified" and reported
        observations count too.
        """
        outcomes = CONTENT_OUTCOME_NAMES if with_content else LOOK_OUTCOME_NAMES
        return self._latest_visits(page_ids, until, outcomes)

    def last_visits(self, page_ids: Sequence[int]) -> dict[int, HistoryRow]:
        """Return each page's latest visit, whatever its outcome."""
        return self._latest_visits(page_ids, None, ALL_OUTCOME_NAMES)

    def _latest_visits(
        self,
        page_ids: Sequence[int],
        until: Mapping[int, datetime] | None,
        outcomes: Sequence[str],
    ) -> dict[int, HistoryRow]:
        latest: dict[int, HistoryRow] = {}
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(list(dict.fromkeys(page_ids))):
                query, parameters = _latest_query(chunk, until, tuple(outcomes))
                for row in connection.execute(query, parameters):
                    latest[row.page_id] = read_history_row(row)
        return latest

    def first_visit_with_payload(
        self, digest: bytes, size: int | None = None, *, page_id: int | None = None
    ) -> Visit | None:
        """Return the first visit that archived these bytes, if their record is still stored."""
        query = VISIT_QUERY.where(visits.c.digest == digest, visits.c.file_id.is_not(None))
        if size is not None:
            query = query.where(visits.c.size == size)
        if page_id is not None:
            query = query.where(visits.c.page_id == page_id)
        with self._read_engine.begin() as connection:
            row = connection.execute(query.order_by(visits.c.id).limit(1)).first()
        return None if row is None else read_visit(row)

    def stored_payloads(
        self, payloads: Collection[tuple[int, bytes, int]]
    ) -> dict[tuple[int, bytes, int], Visit]:
        """Return the first visits that archived payloads, given as (page, digest, size)."""
        first_visits: dict[tuple[int, bytes, int], Visit] = {}
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(sorted({digest for _, digest, _ in payloads})):
                rows = connection.execute(STORED_PAYLOADS, {"digests": chunk}).all()
                for visit in map(read_visit, reversed(rows)):
                    first_visits[visit.page, visit.digest or b"", visit.size or 0] = visit
        return {payload: first_visits[payload] for payload in payloads if payload in first_visits}

    def links_at(self, page_id: int, time: datetime | None = None) -> frozenset[str]:
        """Return the links that a page had at a time: those of its last look by then."""
        query = LINK_EVENTS
        if time is not None:
            query = query.where(visits.c.time <= to_epoch(time))
        with self._read_engine.begin() as connection:
            rows = connection.execute(query, {"page": page_id}).all()
        links: set[str] = set()
        for delta in _read_deltas(rows):
            links.difference_update(delta.removed)
            links.update(delta.added)
        return frozenset(links)

    def links_ever_seen(self, page_id: int) -> frozenset[str]:
        """Return every link that a page ever had; only the latest ones if there are very many."""
        links: set[str] = set()
        with self._read_engine.begin() as connection:
            for (added,) in connection.execute(ADDED_LINKS, {"page": page_id}):
                links.update(unpack_links(added))
                if len(links) >= MAX_SEEN_LINKS:
                    break
        return frozenset(links)

    def link_delta(self, visit_id: int) -> LinkDelta | None:
        """Return the links that appeared and disappeared by a visit; None if it has none stored."""
        query = select(link_events.c.added, link_events.c.removed)
        with self._read_engine.begin() as connection:
            rows = connection.execute(query.where(link_events.c.visit_id == visit_id)).all()
        return next(_read_deltas(rows), None)

    def link_deltas(self, page_id: int, *, since: datetime | None = None) -> dict[int, LinkDelta]:
        """Return the links that appeared and disappeared, by visit id."""
        query = LINK_EVENTS.add_columns(link_events.c.visit_id)
        if since is not None:
            query = query.where(visits.c.time >= to_epoch(since))
        with self._read_engine.begin() as connection:
            rows = connection.execute(query, {"page": page_id}).all()
        deltas = _read_deltas(row[:2] for row in rows)
        return dict(zip((row[2] for row in rows), deltas, strict=True))


def _latest_query(
    page_ids: Sequence[int], until: Mapping[int, datetime] | None, outcomes: tuple[str, ...]
) -> tuple[Select[Any], dict[str, Any]]:
    """Return the query for the latest visits with such outcomes, and its parameters."""
    if until is None:
        return _latest_query_without_limit(outcomes), {"page_ids": list(page_ids)}
    return _join_latest(_time_limits(page_ids, until), outcomes), {}


@cache
def _latest_query_without_limit(outcomes: tuple[str, ...]) -> Select[Any]:
    """Return the query without a limit of time; built once, as every batch of visits runs it."""
    ids: BindParameter[Any] = bindparam("page_ids", expanding=True)
    until = literal(END_OF_TIME, Double).label("until")
    limits = select(pages.c.id.label("page_id"), until).where(pages.c.id.in_(ids)).cte("wanted")
    return _join_latest(limits, outcomes)


def _time_limits(page_ids: Sequence[int], until: Mapping[int, datetime]) -> CTE:
    rows = [(page_id, optional_epoch(until.get(page_id)) or END_OF_TIME) for page_id in page_ids]
    return values(column("page_id", Id), column("until", Double), name="wanted").data(rows).cte()


def _join_latest(limits: CTE, outcomes: Sequence[str]) -> Select[Any]:
    """Return the query for the latest visit with such an outcome, per page and its time limit."""
    looks = visits.alias("looks")
    latest = (
        select(looks.c.id)
        .where(looks.c.page_id == limits.c.page_id, looks.c.time <= limits.c.until)
        .where(looks.c.outcome.in_(outcomes))
        .order_by(looks.c.time.desc(), looks.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    return HISTORY_QUERY.join(limits, visits.c.id == latest)


def _read_deltas(rows: Iterable[Sequence[bytes]]) -> Iterator[LinkDelta]:
    return (LinkDelta(unpack_links(added), unpack_links(removed)) for added, removed in rows)
