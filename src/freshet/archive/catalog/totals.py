"""Totals of a collection: counts, growth by day, and totals per page."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import ScalarSelect, Select, bindparam, case, func, select
from sqlalchemy.sql.elements import ColumnElement

from freshet.archive.catalog.database import CHUNK_SIZE, TableStore, optional_time
from freshet.archive.catalog.pages import PAGE_QUERY, read_pages, restrict_to_live
from freshet.archive.catalog.rows import (
    CollectionCounts,
    DailyGrowth,
    HostOutcomeCount,
    PageTotals,
)
from freshet.archive.catalog.schema import changes, pages, visits
from freshet.archive.catalog.visit_rows import LAST_OUTCOME, LOOK_OUTCOME_NAMES
from freshet.core.clock import CYCLE_SECONDS, from_epoch
from freshet.core.types import Outcome, Page

IS_LOOK = visits.c.outcome.in_(LOOK_OUTCOME_NAMES)
STORED_BYTES = func.coalesce(func.sum(visits.c.length), 0)
PAGE_TOTALS: Select[Any] = (
    select(
        visits.c.page_id,
        func.count(),
        func.sum(case((IS_LOOK, 1), else_=0)),
        func.sum(case((changes.c.changed, 1), else_=0)),
        func.max(case((IS_LOOK, visits.c.time))),
        func.max(case((changes.c.changed, visits.c.time))),
    )
    .outerjoin(changes, changes.c.visit_id == visits.c.id)
    .where(visits.c.page_id.in_(bindparam("ids", expanding=True)))
    .group_by(visits.c.page_id)
)
NO_TOTALS = (0, 0, 0, None, None)
LAST_OUTCOME_COUNTS: Select[Any] = (
    restrict_to_live(select(pages.c.host, LAST_OUTCOME, func.count()), source="")
    .where(~pages.c.paused)
    .group_by(pages.c.host, "outcome")
    .order_by(pages.c.host, "outcome")
)


class TotalTables(TableStore):
    """The tables pages, visits and changes, as they are counted."""

    def counts(self) -> CollectionCounts:
        """Return how much the collection holds."""
        live = pages.c.removed.is_(None)
        query = select(
            _count(pages.c.id, live),
            _count(pages.c.id, live, pages.c.paused),
            _count(pages.c.id, ~live),
            _count(visits.c.id),
            _count(visits.c.id, IS_LOOK),
            _count(changes.c.visit_id, changes.c.changed),
            select(func.count(visits.c.file_id.distinct())).scalar_subquery(),
            select(STORED_BYTES).scalar_subquery(),
        )
        with self._read_engine.begin() as connection:
            return CollectionCounts(*map(int, connection.execute(query).one()))

    def daily_growth(self) -> list[DailyGrowth]:
        """Return the visits and stored bytes of each UTC day that has visits, in order."""
        day = self._dialect.whole_part(visits.c.time / CYCLE_SECONDS).label("day")
        query = select(day, func.count(), STORED_BYTES).group_by("day").order_by("day")
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
        return [
            DailyGrowth(from_epoch(int(day_number) * CYCLE_SECONDS).date(), count, int(stored))
            for day_number, count, stored in rows
        ]

    def last_look_time(self) -> datetime | None:
        """Return the time of the last look at any live page; None if there was none."""
        live = select(pages.c.id).where(pages.c.source == "")
        query = select(func.max(visits.c.time)).where(IS_LOOK, visits.c.page_id.in_(live))
        with self._read_engine.begin() as connection:
            return optional_time(connection.execute(query).scalar())

    def last_outcome_counts(self) -> list[HostOutcomeCount]:
        """Count live pages by host and outcome of their last visit; paused ones are left out."""
        with self._read_engine.begin() as connection:
            rows = connection.execute(LAST_OUTCOME_COUNTS).all()
        return [
            HostOutcomeCount(host, Outcome(outcome) if outcome else None, count)
            for host, outcome, count in rows
        ]

    def failing_pages(self, *, tag: str | None = None, source: str | None = None) -> list[Page]:
        """Return the pages, by id, whose last visit showed no content; paused ones are left out."""
        query = restrict_to_live(PAGE_QUERY, tag=tag, source=source)
        query = query.where(~pages.c.paused, LAST_OUTCOME.not_in(LOOK_OUTCOME_NAMES))
        with self._read_engine.begin() as connection:
            rows = connection.execute(query.order_by(pages.c.id)).all()
            return read_pages(connection, rows)

    def page_totals(self, of_pages: Iterable[Page]) -> Iterator[PageTotals]:
        """Yield the totals of pages, in the order of the pages."""
        waiting = iter(of_pages)
        while batch := list(islice(waiting, CHUNK_SIZE)):
            yield from self._page_totals(batch)

    def _page_totals(self, batch: Sequence[Page]) -> list[PageTotals]:
        with self._read_engine.begin() as connection:
            rows = connection.execute(PAGE_TOTALS, {"ids": [page.id for page in batch]}).all()
        totals = {row[0]: row[1:] for row in rows}
        return [_to_totals(page, *totals.get(page.id, NO_TOTALS)) for page in batch]


def _count(column: ColumnElement[Any], *conditions: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count(column)).where(*conditions).scalar_subquery()


def _to_totals(page: Page, *totals: Any) -> PageTotals:
    visit_count, looks, changed, last_look, last_change = totals
    return PageTotals(
        page, visit_count, looks, changed, optional_time(last_look), optional_time(last_change)
    )
