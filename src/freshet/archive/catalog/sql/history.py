"""Histories, looks and links of pages, as they are read."""

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

from freshet.archive.catalog.packed_links import unpack_links
from freshet.archive.catalog.rows import HistoryRow, LinkDelta
from freshet.archive.catalog.schema import Id, link_events, pages, visits
from freshet.archive.catalog.sql.reading import (
    HISTORY_QUERY,
    VISIT_QUERY,
    read_history_row,
    read_visit,
)
from freshet.archive.catalog.sql.store import TableStore, optional_epoch, split_chunks
from freshet.core.clock import to_epoch
from freshet.core.types import LOOK_OUTCOMES, Outcome, Visit

LOOK_OUTCOME_NAMES = sorted(outcome.value for outcome in LOOK_OUTCOMES)
WITH_CONTENT = [Outcome.OK.value]
ALL_NAMES = sorted(outcome.value for outcome in Outcome)
TIME_ORDER = (visits.c.time, visits.c.id)
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
    .order_by(*(time.desc() for time in TIME_ORDER))
)
KEPT = (
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
        """Return a page's visits in time order, both ends included; ``limit`` keeps the latest."""
        latest = [time.desc() for time in TIME_ORDER]
        query = HISTORY_QUERY.where(visits.c.page_id == page_id).order_by(*latest).limit(limit)
        if since is not None:
            query = query.where(visits.c.time >= to_epoch(since))
        if until is not None:
            query = query.where(visits.c.time <= to_epoch(until))
        with self._engine.begin() as connection:
            rows = connection.execute(query).all()
        return [read_history_row(row) for row in reversed(rows)]

    def last_looks(
        self,
        page_ids: Sequence[int],
        until: Mapping[int, datetime] | None = None,
        *,
        with_content: bool = True,
    ) -> dict[int, HistoryRow]:
        """Return each page's latest look at or before its time, if it has one.

        With ``with_content`` only looks that brought bytes count; otherwise "not modified" and reported
        observations do too.
        """
        return self._last(page_ids, until, WITH_CONTENT if with_content else LOOK_OUTCOME_NAMES)

    def _last(
        self,
        page_ids: Sequence[int],
        before: Mapping[int, datetime] | None,
        outcomes: Sequence[str],
    ) -> dict[int, HistoryRow]:
        found: dict[int, HistoryRow] = {}
        with self._engine.begin() as connection:
            for piece in split_chunks(list(dict.fromkeys(page_ids))):
                rows = connection.execute(*_latest_of(piece, before, tuple(outcomes)))
                found |= {row.page_id: read_history_row(row) for row in rows}
        return found

    def last_visits(self, page_ids: Sequence[int]) -> dict[int, HistoryRow]:
        """Return each page's latest visit, whatever its outcome."""
        return self._last(page_ids, None, ALL_NAMES)

    def first_visit_with_payload(
        self, digest: bytes, size: int | None = None, *, page_id: int | None = None
    ) -> Visit | None:
        """Return the first visit that archived these bytes, if their record is still kept."""
        query = VISIT_QUERY.where(visits.c.digest == digest, visits.c.file_id.is_not(None))
        if size is not None:
            query = query.where(visits.c.size == size)
        if page_id is not None:
            query = query.where(visits.c.page_id == page_id)
        with self._engine.begin() as connection:
            row = connection.execute(query.order_by(visits.c.id).limit(1)).first()
        return None if row is None else read_visit(row)

    def stored_payloads(
        self, wanted: Collection[tuple[int, bytes, int]]
    ) -> dict[tuple[int, bytes, int], Visit]:
        """Return the first visits of pages that archived bytes, given by page, digest and size."""
        found: dict[tuple[int, bytes, int], Visit] = {}
        with self._engine.begin() as connection:
            for piece in split_chunks(sorted({digest for _, digest, _ in wanted})):
                rows = connection.execute(KEPT, {"digests": piece}).all()
                for visit in map(read_visit, reversed(rows)):
                    found[visit.page, visit.digest or b"", visit.size or 0] = visit
        return {payload: found[payload] for payload in wanted if payload in found}

    def links_at(self, page_id: int, time: datetime | None = None) -> frozenset[str]:
        """Return the links that a page had at a time: those of its last look by then."""
        links: set[str] = set()
        for delta in self._link_deltas(page_id, time):
            links.difference_update(delta.removed)
            links.update(delta.added)
        return frozenset(links)

    def links_ever_seen(self, page_id: int) -> frozenset[str]:
        """Return every link that a page ever had; of very many those that came last."""
        found: set[str] = set()
        with self._engine.begin() as connection:
            for (added,) in connection.execute(ADDED_LINKS, {"page": page_id}):
                found.update(unpack_links(added))
                if len(found) >= MAX_SEEN_LINKS:
                    break
        return frozenset(found)

    def link_delta(self, visit_id: int) -> LinkDelta | None:
        """Return the links that appeared and disappeared by a visit, if it looked at them."""
        query = select(link_events.c.added, link_events.c.removed)
        with self._engine.begin() as connection:
            rows = connection.execute(query.where(link_events.c.visit_id == visit_id)).all()
        return next(_to_deltas(rows), None)

    def link_deltas(self, page_id: int, *, since: datetime | None = None) -> dict[int, LinkDelta]:
        """Return the links that appeared and disappeared, by the page's visits that looked."""
        query = LINK_EVENTS.add_columns(link_events.c.visit_id)
        if since is not None:
            query = query.where(visits.c.time >= to_epoch(since))
        with self._engine.begin() as connection:
            rows = connection.execute(query, {"page": page_id}).all()
        return dict(zip((row[2] for row in rows), _to_deltas(row[:2] for row in rows), strict=True))

    def _link_deltas(self, page_id: int, time: datetime | None) -> Iterator[LinkDelta]:
        query = LINK_EVENTS
        if time is not None:
            query = query.where(visits.c.time <= to_epoch(time))
        with self._engine.begin() as connection:
            return _to_deltas(connection.execute(query, {"page": page_id}).all())


def _latest_of(
    page_ids: Sequence[int], before: Mapping[int, datetime] | None, outcomes: tuple[str, ...]
) -> tuple[Select[Any], dict[str, Any]]:
    """Return a query for the latest visits of such outcomes, and what is to be put into it."""
    if before is None:
        return _latest_ever(outcomes), {"page_ids": list(page_ids)}
    return _latest(_pages_before(page_ids, before), outcomes), {}


@cache
def _latest_ever(outcomes: tuple[str, ...]) -> Select[Any]:
    """Return the query without a limit of time; made once, as it is asked for every batch."""
    ids: BindParameter[Any] = bindparam("page_ids", expanding=True)
    until = literal(END_OF_TIME, Double).label("until")
    wanted = select(pages.c.id.label("page_id"), until).where(pages.c.id.in_(ids)).cte("wanted")
    return _latest(wanted, outcomes)


def _pages_before(page_ids: Sequence[int], before: Mapping[int, datetime]) -> CTE:
    limits = [(page_id, optional_epoch(before.get(page_id)) or END_OF_TIME) for page_id in page_ids]
    return values(column("page_id", Id), column("until", Double), name="wanted").data(limits).cte()


def _latest(wanted: CTE, outcomes: Sequence[str]) -> Select[Any]:
    """Return the query for the latest visit of such an outcome, per wanted page and its limit."""
    looks = visits.alias("looks")
    latest = (
        select(looks.c.id)
        .where(looks.c.page_id == wanted.c.page_id, looks.c.time <= wanted.c.until)
        .where(looks.c.outcome.in_(outcomes))
        .order_by(looks.c.time.desc(), looks.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    return HISTORY_QUERY.join(wanted, visits.c.id == latest)


def _to_deltas(rows: Iterable[Sequence[bytes]]) -> Iterator[LinkDelta]:
    return (LinkDelta(unpack_links(added), unpack_links(removed)) for added, removed in rows)
