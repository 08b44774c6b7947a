"""Pages in sorted lists of any length, read a screen at a time, and their latest visits.

A list is continued after the key of its last row (keyset paging), so that every screen takes the
same time. Each order follows an index.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, or_, select, tuple_

from freshet.archive.catalog.database import TableStore, split_chunks
from freshet.archive.catalog.pages import PAGE_QUERY, read_pages, restrict_to_live
from freshet.archive.catalog.rows import DayActivity, HostPages, PageDay, PageListEntry, RecentVisit
from freshet.archive.catalog.schema import changes, facts, masks, pages, visits
from freshet.archive.catalog.visit_rows import LOOK_OUTCOME_NAMES
from freshet.core.clock import CYCLE_SECONDS, from_epoch, to_epoch
from freshet.core.types import Outcome

PAGE_WIDTH = len(PAGE_QUERY.selected_columns)
_last = visits.alias("last")
# The outcome of a page's last visit, also in a query that has other visits.
LAST_OUTCOME = (
    select(_last.c.outcome)
    .where(_last.c.page_id == pages.c.id)
    .order_by(_last.c.time.desc(), _last.c.id.desc())
    .limit(1)
    .correlate(pages)
    .scalar_subquery()
)
IS_LOOK = visits.c.outcome.in_(LOOK_OUTCOME_NAMES)
RECENT_VISITS: Select[Any] = (
    select(
        visits.c.id, visits.c.page_id, pages.c.url, visits.c.time, visits.c.outcome, visits.c.why,
        changes.c.changed, changes.c.words, changes.c.never_seen,
    )
    .join(pages, pages.c.id == visits.c.page_id)
    .outerjoin(changes, changes.c.visit_id == visits.c.id)
)  # fmt: skip


class PageOrder(StrEnum):
    """The order of a list of pages."""

    URL = "url"
    ADDED = "added"
    CHANGED = "changed"


class ListedPageState(StrEnum):
    """Which pages a list has: all that were not removed, or some of them."""

    ALL = "all"
    ACTIVE = "active"
    PAUSED = "paused"
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class PageFilter:
    """What the pages of a list have in common; an empty text restricts nothing.

    ``text`` is a part of the URL. ``source`` is empty for live pages, None for all.
    """

    text: str = ""
    host: str = ""
    tag: str = ""
    source: str | None = None
    state: ListedPageState = ListedPageState.ALL


class ListingTables(TableStore):
    """The tables pages, visits and changes, as lists show them."""

    def listed_pages(
        self,
        page_filter: PageFilter,
        order: PageOrder,
        *,
        after: Sequence[Any] = (),
        limit: int,
    ) -> list[PageListEntry]:
        """Return the pages of a list that come after the key of a row, in order.

        By ``url`` pages are in alphabetical order; by ``added`` the newest is first. By ``changed``
        the one whose change was recorded last is first, and unchanged pages are left out.
        """
        query = _filtered(_ordered(order, after), page_filter).limit(limit)
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
            found = read_pages(connection, rows)
        return [
            PageListEntry(page, tuple(row[PAGE_WIDTH:]))
            for page, row in zip(found, rows, strict=True)
        ]

    def page_days(self, page_ids: Sequence[int], since: datetime) -> list[PageDay]:
        """Return the looks and changes of pages on each UTC day since a time that has looks."""
        day = self._dialect.whole_part(visits.c.time / CYCLE_SECONDS).label("day")
        changed = func.sum(case((changes.c.changed, 1), else_=0))
        query = (
            select(visits.c.page_id, day, func.count(), changed)
            .outerjoin(changes, changes.c.visit_id == visits.c.id)
            .where(visits.c.time >= to_epoch(since), IS_LOOK)
            .group_by(visits.c.page_id, "day")
            .order_by(visits.c.page_id, "day")
        )
        days: list[PageDay] = []
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                for page_id, number, looks, count in connection.execute(
                    query.where(visits.c.page_id.in_(chunk))
                ):
                    date = from_epoch(int(number) * CYCLE_SECONDS).date()
                    days.append(PageDay(page_id, date, looks, int(count)))
        return days

    def daily_activity(self, since: datetime) -> list[DayActivity]:
        """Return the visits, looks and changes of live pages on each UTC day since a time."""
        day = self._dialect.whole_part(visits.c.time / CYCLE_SECONDS).label("day")
        columns: list[ColumnElement[Any]] = [
            day,
            func.count(),
            func.sum(case((IS_LOOK, 1), else_=0)),
            func.sum(case((changes.c.changed, 1), else_=0)),
        ]
        query = (
            select(*columns)
            .join(pages, pages.c.id == visits.c.page_id)
            .outerjoin(changes, changes.c.visit_id == visits.c.id)
            .where(visits.c.time >= to_epoch(since))
        )
        query = restrict_to_live(query, source="").group_by("day").order_by("day")
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
        return [
            DayActivity(from_epoch(int(row[0]) * CYCLE_SECONDS).date(), *map(int, row[1:]))
            for row in rows
        ]

    def visits_after(self, visit_id: int, *, limit: int) -> list[RecentVisit]:
        """Return the visits that were recorded after another, in the order of recording."""
        query = RECENT_VISITS.where(visits.c.id > visit_id).order_by(visits.c.id).limit(limit)
        return self._recent_visits(query)

    def latest_changes(self, *, limit: int) -> list[RecentVisit]:
        """Return the visits that found a change, the one recorded last first."""
        found = RECENT_VISITS.where(changes.c.changed).order_by(changes.c.visit_id.desc())
        return self._recent_visits(found.limit(limit))

    def _recent_visits(self, query: Select[Any]) -> list[RecentVisit]:
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
        return [
            RecentVisit(
                visit_id, page_id, url, from_epoch(time), Outcome(outcome), why or "",
                None if changed is None else bool(changed), words, new_links,
            )
            for visit_id, page_id, url, time, outcome, why, changed, words, new_links in rows
        ]  # fmt: skip

    def listed_hosts(self, text: str, *, after: str = "", limit: int) -> list[HostPages]:
        """Return hosts of live pages in alphabetical order, with the number of their pages.

        Only hosts after ``after`` whose name has ``text`` are returned.
        """
        query = restrict_to_live(select(pages.c.host, func.count()), source="")
        query = query.where(pages.c.host > after)
        if text:
            query = query.where(pages.c.host.contains(text, autoescape=True))
        query = query.group_by(pages.c.host).order_by(pages.c.host).limit(limit)
        with self._read_engine.begin() as connection:
            return [HostPages(host, count) for host, count in connection.execute(query)]

    def received_bytes(self) -> int:
        """Return the bytes of all payloads that visits have brought, repeated ones included."""
        with self._read_engine.begin() as connection:
            query = select(func.coalesce(func.sum(visits.c.size), 0))
            return int(connection.execute(query).scalar_one())

    def titles(self, page_ids: Sequence[int]) -> dict[int, str]:
        """Return the title that each page had at its last look with content, if it had one."""
        looks = visits.alias("looks")
        last = (
            select(looks.c.id)
            .where(looks.c.page_id == pages.c.id, looks.c.outcome == Outcome.OK.value)
            .order_by(looks.c.time.desc(), looks.c.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        query = select(pages.c.id, facts.c.title).select_from(pages)
        query = query.join(facts, facts.c.visit_id == last)
        titles: dict[int, str] = {}
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                rows = connection.execute(query.where(pages.c.id.in_(chunk)))
                titles.update((page_id, title) for page_id, title in rows if title)
        return titles

    def has_mask(self, page_ids: Sequence[int]) -> set[int]:
        """Return those of the pages that have a mask."""
        query = select(masks.c.page_id).distinct()
        with self._read_engine.begin() as connection:
            return {
                page_id
                for chunk in split_chunks(page_ids)
                for page_id in connection.execute(query.where(masks.c.page_id.in_(chunk))).scalars()
            }


def _ordered(order: PageOrder, after: Sequence[Any]) -> Select[Any]:
    """Return the query of a list in an order, from the row after a key on."""
    if order is PageOrder.URL:
        key = (pages.c.url, pages.c.source)
        query = PAGE_QUERY.add_columns(*(column.label(f"key_{column.name}") for column in key))
        return (query.where(tuple_(*key) > tuple(after)) if after else query).order_by(*key)
    if order is PageOrder.ADDED:
        query = PAGE_QUERY.add_columns(pages.c.id.label("key_id"))
        return (query.where(pages.c.id < after[0]) if after else query).order_by(pages.c.id.desc())
    query = PAGE_QUERY.add_columns(changes.c.visit_id).select_from(changes)
    query = query.join(visits, visits.c.id == changes.c.visit_id)
    query = query.join(pages, pages.c.id == visits.c.page_id)
    query = query.where(changes.c.changed, ~_has_later_change())
    query = query.where(changes.c.visit_id < after[0]) if after else query
    return query.order_by(changes.c.visit_id.desc())


def _has_later_change() -> Any:
    """Return the condition that a page has a change after the one of the row."""
    later_visits, later_changes = visits.alias("later"), changes.alias("later_changes")
    joined = later_visits.join(later_changes, later_changes.c.visit_id == later_visits.c.id)
    is_later = or_(
        later_visits.c.time > visits.c.time,
        and_(later_visits.c.time == visits.c.time, later_visits.c.id > visits.c.id),
    )
    of_page = later_visits.c.page_id == visits.c.page_id, later_visits.c.time >= visits.c.time
    return exists().select_from(joined).where(*of_page, is_later, later_changes.c.changed)


def _filtered(query: Select[Any], page_filter: PageFilter) -> Select[Any]:
    query = restrict_to_live(
        query,
        tag=page_filter.tag or None,
        host=page_filter.host or None,
        source=page_filter.source,
    )
    if page_filter.text:
        query = query.where(pages.c.url.contains(page_filter.text, autoescape=True))
    if page_filter.state is ListedPageState.ACTIVE:
        query = query.where(~pages.c.paused)
    elif page_filter.state is ListedPageState.PAUSED:
        query = query.where(pages.c.paused)
    elif page_filter.state is ListedPageState.FAILING:
        query = query.where(~pages.c.paused, LAST_OUTCOME.not_in(LOOK_OUTCOME_NAMES))
    return query
