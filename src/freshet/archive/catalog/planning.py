"""The live pages and their visits as columns, from which policies learn and plan."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, case, func, literal_column, select

from freshet.archive.catalog.database import TableStore, split_chunks
from freshet.archive.catalog.pages import parse_settings, restrict_to_live
from freshet.archive.catalog.rows import CacheValidators, InactivePages, PageColumns
from freshet.archive.catalog.schema import changes, facts, pages, tag_settings, tags, visits
from freshet.archive.catalog.visit_rows import LOOK_OUTCOME_NAMES
from freshet.core.content.measured_looks import (
    NO_LINK_TOTALS,
    LinkTotals,
    MeasuredLooks,
    concatenate_looks,
)
from freshet.core.tables import VisitTable
from freshet.core.types import Outcome

PAGES_PER_BATCH = 50_000
VISITS_PER_BATCH = 100_000
HTTP_OK = 200

PAGE_COLUMNS = (
    pages.c.id, pages.c.host, pages.c.site, pages.c.directory, pages.c.paused,
)  # fmt: skip
LIVE_PAGES: Select[Any] = restrict_to_live(select(*PAGE_COLUMNS), source="").order_by(pages.c.id)
ALL_PAGES: Select[Any] = restrict_to_live(select(*PAGE_COLUMNS)).order_by(pages.c.id)
# An index has this order, so that nothing is sorted; visits of one page hardly share a moment.
VISIT_ORDER = (visits.c.page_id, visits.c.time, visits.c.outcome, visits.c.id)
LOOK, MEASURED, CHANGED = 1, 2, 4
RESULT_FLAGS = (
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
# Links that come and go count once.
FRESH_LINKS = func.coalesce(changes.c.never_seen, NEW_LINKS)
LIVE_VISITS: Select[Any] = (
    select(visits.c.page_id, visits.c.time, RESULT_FLAGS, FRESH_LINKS)
    .select_from(visits)
    .join(pages, pages.c.id == visits.c.page_id)
    .outerjoin(changes, changes.c.visit_id == visits.c.id)
    .where(pages.c.source == "", pages.c.removed.is_(None))
    .where(visits.c.outcome != Outcome.REFUSED.value)
    .order_by(*VISIT_ORDER)
)
LOOK_COLUMNS = (
    visits.c.page_id, visits.c.time, RESULT_FLAGS,
    facts.c.text_hash, changes.c.words, changes.c.dice,
)  # fmt: skip
LOOKS: Select[Any] = (
    select(*LOOK_COLUMNS, NEW_LINKS, facts.c.words)
    .select_from(visits)
    .join(pages, pages.c.id == visits.c.page_id)
    .outerjoin(changes, changes.c.visit_id == visits.c.id)
    .outerjoin(facts, facts.c.visit_id == visits.c.id)
    .where(pages.c.removed.is_(None), visits.c.outcome.in_(LOOK_OUTCOME_NAMES))
    .order_by(*VISIT_ORDER)
)

LINK_TOTALS: Select[Any] = (
    select(visits.c.page_id, visits.c.time, facts.c.links_internal + facts.c.links_external)
    .select_from(visits)
    .join(pages, pages.c.id == visits.c.page_id)
    .join(facts, facts.c.visit_id == visits.c.id)
    .where(pages.c.removed.is_(None))
    .order_by(*VISIT_ORDER)
)


class PlanTables(TableStore):
    """The tables pages, visits and changes, as a crawl reads them to plan."""

    def live_page_columns(self, *, after_id: int = 0) -> Iterator[PageColumns]:
        """Yield the live pages that were not removed, by id, in batches."""
        return self._page_columns(LIVE_PAGES, after_id)

    def all_page_columns(self) -> Iterator[PageColumns]:
        """Yield the pages that were not removed, imported ones too, by id, in batches."""
        return self._page_columns(ALL_PAGES, 0)

    def _page_columns(self, page_query: Select[Any], after_id: int) -> Iterator[PageColumns]:
        while True:
            batch = page_query.where(pages.c.id > after_id).limit(PAGES_PER_BATCH)
            with self._read_engine.begin() as connection:
                rows = _driver_rows(connection, batch)
            if rows:
                ids, hosts, sites, directories, paused = zip(*rows, strict=True)
                yield PageColumns(ids, hosts, sites, directories, tuple(map(bool, paused)))
            if len(rows) < PAGES_PER_BATCH:
                return
            after_id = rows[-1][0]

    def inactive_pages(self) -> InactivePages:
        """Return which live pages are paused, and which were removed."""
        live = select(pages.c.id).where(pages.c.source == "")
        removed_query = live.where(pages.c.removed.is_not(None))
        paused_query = live.where(pages.c.paused, pages.c.removed.is_(None))
        with self._read_engine.begin() as connection:
            paused = frozenset(connection.execute(paused_query).scalars())
            removed = frozenset(connection.execute(removed_query).scalars())
        return InactivePages(paused, removed)

    def importance_by_page(self) -> dict[int, float]:
        """Return the importance of the live pages for which a tag or the page sets it."""
        return {page: float(value) for page, value in self._setting_by_page("importance").items()}

    def active_hours_by_page(self) -> dict[int, str]:
        """Return the active hours of the live pages for which a tag or the page sets them."""
        return {page: str(value) for page, value in self._setting_by_page("active_hours").items()}

    def follow_by_page(self) -> dict[int, str]:
        """Return which links are followed, of live pages for which a tag or the page says so."""
        return {page: str(value) for page, value in self._setting_by_page("follow").items()}

    def thread_by_page(self) -> dict[int, str]:
        """Return whether posts are looked for on live pages, if a tag or the page says so."""
        return {page: str(value) for page, value in self._setting_by_page("thread").items()}

    def unvisited_pages(self) -> list[int]:
        """Return the live pages that have no visit, or only refused ones."""
        of_page = select(visits.c.id).where(visits.c.page_id == pages.c.id)
        visited = of_page.where(visits.c.outcome != Outcome.REFUSED.value).exists()
        query = restrict_to_live(select(pages.c.id), source="").where(~visited)
        with self._read_engine.begin() as connection:
            return list(connection.execute(query.order_by(pages.c.id)).scalars())

    def last_visit_id(self) -> int:
        """Return the greatest id of a visit, 0 without visits."""
        with self._read_engine.begin() as connection:
            return connection.execute(select(func.max(visits.c.id))).scalar() or 0

    def live_visit_tables(self, *, after_visit_id: int = 0) -> Iterator[VisitTable]:
        """Yield the visits of live pages, by page and time, in batches of whole pages.

        Refused visits are left out: settings refused them, and the settings may have changed since.
        With ``after_visit_id`` only visits with a greater id are yielded: those written later.
        """
        return map(_to_visit_table, self._visit_batches(LIVE_VISITS, after_visit_id))

    def look_tables(
        self,
        *,
        only_live: bool = False,
        until_visit: int | None = None,
        never_seen_links: bool = False,
    ) -> Iterator[MeasuredLooks]:
        """Yield the looks of pages that were not removed, by page and time.

        They come in batches of whole pages; ``pages`` are ids. Looks of imported pages are left out
        with ``only_live``, those of visits with a greater id with ``until_visit``. With
        ``never_seen_links`` new links that the page had before are not counted, if that is known.
        """
        query = LOOKS.where(pages.c.source == "") if only_live else LOOKS
        if never_seen_links:
            query = query.with_only_columns(*LOOK_COLUMNS, FRESH_LINKS, facts.c.words)
        if until_visit is not None:
            query = query.where(visits.c.id <= until_visit)
        return map(_to_measured_looks, self._visit_batches(query, 0))

    def looks_after_visit(self, visit_id: int, *, until_visit: int) -> MeasuredLooks:
        """Return the looks of visits with a greater id, which were written later, up to another."""
        query = LOOKS.order_by(None).where(visits.c.id > visit_id, visits.c.id <= until_visit)
        with self._read_engine.begin() as connection:
            rows = _driver_rows(connection, query)
        return _to_measured_looks(rows).in_time_order() if rows else concatenate_looks([])

    def looks_of_page(self, page_id: int, *, until_visit: int) -> MeasuredLooks:
        """Return the looks of a page in time order, without those of visits with a greater id."""
        query = LOOKS.where(visits.c.page_id == page_id, visits.c.id <= until_visit)
        with self._read_engine.begin() as connection:
            rows = _driver_rows(connection, query)
        return _to_measured_looks(rows).in_time_order() if rows else concatenate_looks([])

    def link_totals(self) -> LinkTotals:
        """Return how many links pages that were not removed had at their looks."""
        batches = [np.array(rows) for rows in self._visit_batches(LINK_TOTALS, 0)]
        if not batches:
            return NO_LINK_TOTALS
        ids, times, links = np.concatenate(batches).T
        return LinkTotals(ids.astype(np.int64), times, links)

    def _visit_batches(
        self, visit_query: Select[Any], after_visit_id: int
    ) -> Iterator[Sequence[Sequence[Any]]]:
        """Yield the rows of a query of visits in the order of pages, in batches of whole pages."""
        after_page: int | None = 0
        while after_page is not None:
            with self._read_engine.begin() as connection:
                last_page = _last_page_of_batch(connection, after_page, after_visit_id)
                query = visit_query.where(
                    visits.c.page_id > after_page, visits.c.id > after_visit_id
                )
                if last_page is not None:
                    query = query.where(visits.c.page_id <= last_page)
                rows = _driver_rows(connection, query)
            if rows:
                yield rows
            after_page = last_page

    def cache_validators(self, page_ids: Sequence[int]) -> dict[int, CacheValidators]:
        """Return the validators for conditional requests, of the pages that have any."""
        validators: dict[int, CacheValidators] = {}
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                for page_id, *values in connection.execute(_validator_query(chunk)):
                    validators[page_id] = CacheValidators(*values)
        return validators

    def _setting_by_page(self, name: str) -> dict[int, Any]:
        """Return the values of one setting; a page's own value replaces that of its tags."""
        with self._read_engine.begin() as connection:
            tag_rows = connection.execute(_tag_settings_with(name)).all()
            page_rows = connection.execute(_own_settings_of_live_pages()).all()
        tables = ((page_id, parse_settings(text)) for page_id, text in [*tag_rows, *page_rows])
        return {page: table[name] for page, table in tables if name in table}


def _tag_settings_with(name: str) -> Select[Any]:
    joined = tags.join(tag_settings, tag_settings.c.tag == tags.c.tag)
    query = select(tags.c.page_id, tag_settings.c.settings).select_from(joined)
    query = query.join(pages, pages.c.id == tags.c.page_id)
    query = query.where(tag_settings.c.settings.contains(name))
    return restrict_to_live(query, source="").order_by(tags.c.tag)


def _own_settings_of_live_pages() -> Select[Any]:
    query = select(pages.c.id, pages.c.settings)
    # The value is part of the statement: the index on such pages is used only then.
    return restrict_to_live(query, source="").where(pages.c.settings != literal_column("'{}'"))


def _validator_query(page_ids: Sequence[int]) -> Select[Any]:
    """Return the query for the validators of last looks, and the number of 304 answers since.

    A 304 that names a new ETag or date replaces the validator of the request.
    """
    looks, later = visits.alias("looks"), visits.alias("later")
    last = (
        select(looks.c.id)
        .where(looks.c.page_id == pages.c.id, looks.c.outcome == Outcome.OK.value)
        .order_by(looks.c.time.desc(), looks.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    not_modified = (
        select(func.count())
        .select_from(later)
        .where(later.c.page_id == visits.c.page_id, later.c.time >= visits.c.time)
        .where(later.c.outcome == Outcome.NOT_MODIFIED.value)
    )
    etag, last_modified = (
        func.coalesce(
            not_modified
            .with_only_columns(later.c[name])
            .where(later.c[name].is_not(None))
            .order_by(later.c.time.desc(), later.c.id.desc())
            .limit(1)
            .scalar_subquery(),
            visits.c[name],
        )
        for name in ("etag", "last_modified")
    )
    return (
        select(pages.c.id, etag, last_modified, visits.c.final_url, not_modified.scalar_subquery())
        .select_from(pages)
        .join(visits, visits.c.id == last)
        .where(pages.c.id.in_(page_ids), visits.c.status == HTTP_OK)
        .where(func.coalesce(visits.c.etag, visits.c.last_modified).is_not(None))
    )


def _last_page_of_batch(connection: Connection, after_page: int, after_visit_id: int) -> int | None:
    """Return the page at which a batch has enough visits; None if fewer remain."""
    query = select(visits.c.page_id)
    query = query.where(visits.c.page_id > after_page, visits.c.id > after_visit_id)
    ordered = query.order_by(visits.c.page_id).offset(VISITS_PER_BATCH).limit(1)
    return connection.execute(ordered).scalar()


def _driver_rows(connection: Connection, query: Select[Any]) -> Sequence[Sequence[Any]]:
    """Return rows as the database's own driver gives them, which is much faster."""
    cursor = connection.execute(query).cursor
    return [] if cursor is None else cursor.fetchall()


def _to_visit_table(rows: Sequence[Sequence[Any]]) -> VisitTable:
    page_ids, times, result_flags, new_links = zip(*rows, strict=True)
    flags = np.array(result_flags, np.uint8)
    return VisitTable(
        np.array(page_ids, np.int64),
        np.array(times, np.float64),
        (flags & LOOK) > 0,
        (flags & MEASURED) > 0,
        (flags & CHANGED) > 0,
        np.array(new_links, np.int32),
    )


def _to_measured_looks(rows: Sequence[Sequence[Any]]) -> MeasuredLooks:
    page_ids, times, result_flags, hashes, words, dice, new_links, totals = zip(*rows, strict=True)
    flags = np.array(result_flags, np.uint8)
    links = np.array(new_links, np.float64)
    return MeasuredLooks(
        np.array(page_ids, np.int64),
        np.array(times, np.float64),
        (flags & MEASURED) > 0,
        (flags & CHANGED) > 0,
        np.array([text_hash or 0 for text_hash in hashes], np.int64).view(np.uint64),
        np.array(words, np.float64),
        np.array(dice, np.float64),
        np.where(links < 0, np.nan, links),
        np.array(totals, np.float64),
    )
