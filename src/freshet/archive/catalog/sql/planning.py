"""The live pages and their visits as columns, which policies learn and plan by."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, case, func, literal_column, select

from freshet.archive.catalog.rows import CacheValidators, InactivePages, PageColumns
from freshet.archive.catalog.schema import changes, pages, tag_settings, tags, visits
from freshet.archive.catalog.sql.history import LOOK_OUTCOME_NAMES
from freshet.archive.catalog.sql.pages import parse_settings, restrict_to_live
from freshet.archive.catalog.sql.store import TableStore, split_chunks
from freshet.core.tables import VisitTable
from freshet.core.types import Outcome

PAGES_AT_ONCE = 50_000
VISITS_AT_ONCE = 100_000
OK = 200

PAGE_COLUMNS = (
    pages.c.id, pages.c.host, pages.c.site, pages.c.directory, pages.c.paused,
)  # fmt: skip
LIVE_COLUMNS: Select[Any] = restrict_to_live(select(*PAGE_COLUMNS), source="").order_by(pages.c.id)
# An index has this order, so that nothing is sorted; visits of one page hardly share a moment.
VISIT_ORDER = (visits.c.page_id, visits.c.time, visits.c.outcome, visits.c.id)
LOOK, MEASURED, CHANGED = 1, 2, 4
FINDINGS = (
    case((visits.c.outcome.in_(LOOK_OUTCOME_NAMES), LOOK), else_=0)
    + case((changes.c.visit_id.is_not(None), MEASURED), else_=0)
    + case((changes.c.changed, CHANGED), else_=0)
)
NEW_LINKS = func.coalesce(
    changes.c.new_internal + changes.c.new_external,
    changes.c.new_internal,
    changes.c.new_external,
    -1,
)
REPLAY: Select[Any] = (
    select(visits.c.page_id, visits.c.time, FINDINGS, NEW_LINKS)
    .select_from(visits)
    .join(pages, pages.c.id == visits.c.page_id)
    .outerjoin(changes, changes.c.visit_id == visits.c.id)
    .where(pages.c.source == "", pages.c.removed.is_(None))
    .where(visits.c.outcome != Outcome.REFUSED.value)
    .order_by(*VISIT_ORDER)
)


class PlanTables(TableStore):
    """The tables pages, visits and changes, as a crawl plans by them."""

    def live_page_columns(self, *, after_id: int = 0) -> Iterator[PageColumns]:
        """Yield the live pages that were not removed, by id, in batches."""
        while True:
            batch = LIVE_COLUMNS.where(pages.c.id > after_id).limit(PAGES_AT_ONCE)
            with self._engine.begin() as connection:
                rows = _plain_rows(connection, batch)
            if rows:
                yield _to_columns(rows)
            if len(rows) < PAGES_AT_ONCE:
                return
            after_id = rows[-1][0]

    def inactive_pages(self) -> InactivePages:
        """Return which live pages are paused, and which were removed."""
        live = select(pages.c.id).where(pages.c.source == "")
        removed = live.where(pages.c.removed.is_not(None))
        paused = live.where(pages.c.paused, pages.c.removed.is_(None))
        with self._engine.begin() as connection:
            found = [frozenset(connection.execute(query).scalars()) for query in (paused, removed)]
        return InactivePages(*found)

    def importance_by_page(self) -> dict[int, float]:
        """Return the importance of live pages that their tags or their own settings give one."""
        return {page: float(value) for page, value in self._given("importance").items()}

    def active_hours_by_page(self) -> dict[int, str]:
        """Return the hours of live pages that their tags or their own settings give any."""
        return {page: str(value) for page, value in self._given("active_hours").items()}

    def unvisited_pages(self) -> list[int]:
        """Return the live pages that were never visited, or only refused."""
        of_page = select(visits.c.id).where(visits.c.page_id == pages.c.id)
        visited = of_page.where(visits.c.outcome != Outcome.REFUSED.value).exists()
        query = restrict_to_live(select(pages.c.id), source="").where(~visited).order_by(pages.c.id)
        with self._engine.begin() as connection:
            return list(connection.execute(query).scalars())

    def live_visit_tables(self, *, after_visit_id: int = 0) -> Iterator[VisitTable]:
        """Yield the visits of live pages, by page and time, in batches of whole pages.

        Refused visits are left out: settings refused them, and those may be others by now.
        With ``after_visit_id`` only visits with a greater id come: those written later.
        """
        first: int | None = 0
        while first is not None:
            with self._engine.begin() as connection:
                last = _end_of_batch(connection, first, after_visit_id)
                rows = _visit_rows(connection, first, last, after_visit_id)
            if rows:
                yield _to_table(rows)
            first = last

    def cache_validators(self, page_ids: Sequence[int]) -> dict[int, CacheValidators]:
        """Return by what pages can be asked for conditionally; none where a server gave nothing."""
        found: dict[int, CacheValidators] = {}
        with self._engine.begin() as connection:
            for piece in split_chunks(page_ids):
                for page_id, *facts in connection.execute(_conditions(piece)):
                    found[page_id] = CacheValidators(*facts)
        return found

    def _given(self, name: str) -> dict[int, Any]:
        """Return what tags, then pages themselves, set under a name."""
        with self._engine.begin() as connection:
            by_tag = connection.execute(_tag_settings(name)).all()
            by_page = connection.execute(_page_settings()).all()
        tables = ((page_id, parse_settings(text)) for page_id, text in [*by_tag, *by_page])
        return {page: table[name] for page, table in tables if name in table}


def _tag_settings(name: str) -> Select[Any]:
    joined = tags.join(tag_settings, tag_settings.c.tag == tags.c.tag)
    query = select(tags.c.page_id, tag_settings.c.settings).select_from(joined)
    named = tag_settings.c.settings.contains(name)
    live = query.join(pages, pages.c.id == tags.c.page_id).where(named)
    return restrict_to_live(live, source="").order_by(tags.c.tag)


def _page_settings() -> Select[Any]:
    query = select(pages.c.id, pages.c.settings)
    # The value stands in the statement itself: only so is the index on such pages used.
    return restrict_to_live(query, source="").where(pages.c.settings != literal_column("'{}'"))


def _conditions(page_ids: Sequence[int]) -> Select[Any]:
    """Return the query for the validators of last looks, and how often they held since.

    A 304 that names a new ETag or date replaces the one that it was asked with.
    """
    looks, later = visits.alias("looks"), visits.alias("later")
    last = (
        select(looks.c.id)
        .where(looks.c.page_id == pages.c.id, looks.c.outcome == Outcome.OK.value)
        .order_by(looks.c.time.desc(), looks.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    held = (
        select(func.count())
        .select_from(later)
        .where(later.c.page_id == visits.c.page_id, later.c.time >= visits.c.time)
        .where(later.c.outcome == Outcome.NOT_MODIFIED.value)
    )
    newest_first = (later.c.time.desc(), later.c.id.desc())
    etag, last_modified = (
        func.coalesce(
            held
            .with_only_columns(later.c[name])
            .where(later.c[name].is_not(None))
            .order_by(*newest_first)
            .limit(1)
            .scalar_subquery(),
            visits.c[name],
        )
        for name in ("etag", "last_modified")
    )
    return (
        select(pages.c.id, etag, last_modified, visits.c.final_url, held.scalar_subquery())
        .select_from(pages)
        .join(visits, visits.c.id == last)
        .where(pages.c.id.in_(page_ids), visits.c.status == OK)
        .where(func.coalesce(visits.c.etag, visits.c.last_modified).is_not(None))
    )


def _end_of_batch(connection: Connection, first: int, after: int) -> int | None:
    """Return the page up to which there are visits enough; None where fewer are left."""
    query = select(visits.c.page_id).where(visits.c.page_id > first, visits.c.id > after)
    ordered = query.order_by(visits.c.page_id).offset(VISITS_AT_ONCE).limit(1)
    return connection.execute(ordered).scalar()


def _visit_rows(
    connection: Connection, first: int, last: int | None, after: int
) -> Sequence[Sequence[Any]]:
    query = REPLAY.where(visits.c.page_id > first, visits.c.id > after)
    return _plain_rows(connection, query if last is None else query.where(visits.c.page_id <= last))


def _plain_rows(connection: Connection, query: Select[Any]) -> Sequence[Sequence[Any]]:
    """Return rows as the database's own driver gives them, which saves much of the time."""
    cursor = connection.execute(query).cursor
    return [] if cursor is None else cursor.fetchall()


def _to_columns(rows: Sequence[Sequence[Any]]) -> PageColumns:
    ids, hosts, sites, directories, paused = zip(*rows, strict=True)
    return PageColumns(ids, hosts, sites, directories, tuple(map(bool, paused)))


def _to_table(rows: Sequence[Sequence[Any]]) -> VisitTable:
    page, time, findings, new_links = zip(*rows, strict=True)
    found = np.array(findings, np.uint8)
    return VisitTable(
        np.array(page, np.int64),
        np.array(time, np.float64),
        (found & LOOK) > 0,
        (found & MEASURED) > 0,
        (found & CHANGED) > 0,
        np.array(new_links, np.int32),
    )
