"""Totals of a collection: counts, growth by day, and a summary per page."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import Integer, ScalarSelect, Select, bindparam, case, func, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.functions import GenericFunction

from freshet.archive.catalog.rows import CollectionCounts, DailyGrowth, HostOutcomeCount, PageTotals
from freshet.archive.catalog.schema import changes, pages, visits
from freshet.archive.catalog.sql.history import LOOK_OUTCOME_NAMES
from freshet.archive.catalog.sql.pages import PAGE_QUERY, read_pages, restrict_to_live
from freshet.archive.catalog.sql.store import CHUNK_SIZE, TableStore, optional_time
from freshet.core.clock import CYCLE_SECONDS, from_epoch
from freshet.core.types import Outcome, Page


class whole(GenericFunction[int]):
    """The whole part of a number; the two databases spell it differently."""

    type = Integer()
    inherit_cache = True


@compiles(whole)
def _floor(element: whole, compiler: SQLCompiler, **options: Any) -> str:
    return f"floor({compiler.process(element.clauses, **options)})"


@compiles(whole, "sqlite")
def _truncate(element: whole, compiler: SQLCompiler, **options: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **options)} AS INTEGER)"


IS_LOOK = visits.c.outcome.in_(LOOK_OUTCOME_NAMES)
STORED_BYTES = func.coalesce(func.sum(visits.c.length), 0)
DAY = whole(visits.c.time / CYCLE_SECONDS).label("day")
SUMMARY: Select[Any] = (
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
LAST_OUTCOME = (
    select(visits.c.outcome)
    .where(visits.c.page_id == pages.c.id)
    .order_by(visits.c.time.desc(), visits.c.id.desc())
    .limit(1)
    .scalar_subquery()
    .label("outcome")
)
LAST_OUTCOMES: Select[Any] = (
    restrict_to_live(select(pages.c.host, LAST_OUTCOME, func.count()), source="")
    .where(~pages.c.paused)
    .group_by(pages.c.host, "outcome")
    .order_by(pages.c.host, "outcome")
)


class TotalTables(TableStore):
    """All tables, as they are counted."""

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
        with self._engine.begin() as connection:
            return CollectionCounts(*map(int, connection.execute(query).one()))

    def daily_growth(self) -> list[DailyGrowth]:
        """Return the visits of each UTC day that has any, with the bytes stored, in order."""
        query = select(DAY, func.count(), STORED_BYTES).group_by("day").order_by("day")
        with self._engine.begin() as connection:
            rows = connection.execute(query).all()
        return [
            DailyGrowth(from_epoch(int(day) * CYCLE_SECONDS).date(), number, int(stored))
            for day, number, stored in rows
        ]

    def last_look_time(self) -> datetime | None:
        """Return when a live page was last looked at, None where none ever was."""
        live = select(pages.c.id).where(pages.c.source == "")
        query = select(func.max(visits.c.time)).where(IS_LOOK, visits.c.page_id.in_(live))
        with self._engine.begin() as connection:
            return optional_time(connection.execute(query).scalar())

    def last_outcome_counts(self) -> list[HostOutcomeCount]:
        """Return how the last visits of live pages ended, counted by host; not of paused ones."""
        with self._engine.begin() as connection:
            rows = connection.execute(LAST_OUTCOMES).all()
        return [
            HostOutcomeCount(host, Outcome(outcome) if outcome else None, number)
            for host, outcome, number in rows
        ]

    def failing_pages(self, *, tag: str | None = None, source: str | None = None) -> list[Page]:
        """Return pages whose last visit showed no content, by id; not paused ones."""
        query = restrict_to_live(PAGE_QUERY, tag=tag, source=source)
        query = query.where(~pages.c.paused, LAST_OUTCOME.not_in(LOOK_OUTCOME_NAMES))
        with self._engine.begin() as connection:
            rows = connection.execute(query.order_by(pages.c.id)).all()
            return read_pages(connection, rows)

    def page_totals(self, of_pages: Iterable[Page]) -> Iterator[PageTotals]:
        """Yield the totals of pages, in the order in which the pages come."""
        waiting = iter(of_pages)
        while batch := list(islice(waiting, CHUNK_SIZE)):
            yield from self._summaries(batch)

    def _summaries(self, batch: Sequence[Page]) -> list[PageTotals]:
        ids = [page.id for page in batch]
        with self._engine.begin() as connection:
            rows = connection.execute(SUMMARY, {"ids": ids}).all()
        found = {row[0]: row[1:] for row in rows}
        return [_summary(page, *found.get(page.id, (0, 0, 0, None, None))) for page in batch]


def _count(column: ColumnElement[Any], *where: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count(column)).where(*where).scalar_subquery()


def _summary(page: Page, *totals: Any) -> PageTotals:
    number, looks, changed, last_look, last_change = totals
    return PageTotals(
        page, number, looks, changed, optional_time(last_look), optional_time(last_change)
    )
