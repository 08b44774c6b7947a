"""Pages that were found as new links of other pages, and the links to follow."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, case, func, select

from freshet.archive.catalog.database import split_chunks
from freshet.archive.catalog.packed_links import unpack_links
from freshet.archive.catalog.pages import PageTables
from freshet.archive.catalog.rows import NewPage
from freshet.archive.catalog.schema import (
    changes,
    facts,
    found_pages,
    link_events,
    meta,
    pages,
    tags,
    visits,
)
from freshet.core.clock import to_epoch
from freshet.core.types import ContentKind

FOLLOWED_VISIT_NOTE = "last visit whose links were followed"
NEW_LINKS: Select[Any] = (
    select(link_events.c.visit_id, link_events.c.page_id, facts.c.kind, link_events.c.added)
    .join(visits, visits.c.id == link_events.c.visit_id)
    .join(changes, changes.c.visit_id == link_events.c.visit_id)
    .join(facts, facts.c.visit_id == link_events.c.visit_id)
    .join(pages, pages.c.id == link_events.c.page_id)
    .where(pages.c.source == "", pages.c.removed.is_(None))
    .order_by(link_events.c.visit_id)
)
TURNOVERS: Select[Any] = (
    select(
        visits.c.time,
        changes.c.new_internal + changes.c.new_external,
        facts.c.links_internal + facts.c.links_external,
    )
    .join(changes, changes.c.visit_id == visits.c.id)
    .join(facts, facts.c.visit_id == visits.c.id)
    .order_by(visits.c.time.desc(), visits.c.id.desc())
)


@dataclass(frozen=True, slots=True)
class NewLinkVisit:
    """A compared visit of a live page that found new links."""

    visit: int
    page: int
    is_feed: bool
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinkTurnover:
    """How many of the links that a look showed were new."""

    time: float
    new: int
    total: int


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page to be added because another page links to it, and its number of steps from there."""

    page: NewPage
    found_on: int
    tag: str
    depth: int


class FoundPageTables(PageTables):
    """The tables pages, tags and found_pages, as links are followed."""

    def new_link_visits(
        self, page_ids: Sequence[int] | None, *, after_visit_id: int, since: datetime
    ) -> list[NewLinkVisit]:
        """Return the visits written after another one that found new links, in order.

        Only those of some pages, or of all live pages if ``page_ids`` is None, and none that was
        made before ``since``. A first look finds no new links.
        """
        query = NEW_LINKS.where(
            link_events.c.visit_id > after_visit_id, visits.c.time >= to_epoch(since)
        )
        wanted = None if page_ids is None else frozenset(page_ids)
        with self._read_engine.begin() as connection:
            rows = connection.execute(query).all()
        return [
            NewLinkVisit(visit, page, kind == ContentKind.FEED.value, unpack_links(added))
            for visit, page, kind, added in rows
            if added and (wanted is None or page in wanted)
        ]

    def link_turnovers(self, page_id: int, limit: int) -> list[LinkTurnover]:
        """Return how many links of a page were new at its last compared looks, latest first."""
        query = TURNOVERS.where(visits.c.page_id == page_id).limit(limit)
        with self._read_engine.begin() as connection:
            return [LinkTurnover(*row) for row in connection.execute(query) if None not in row]

    def found_counts(self, tag: str, since: datetime) -> tuple[int, int]:
        """Return how many pages with a tag were found since a time, and in total."""
        total = func.count(found_pages.c.page_id)
        query = select(total).where(found_pages.c.tag == tag)
        with self._read_engine.begin() as connection:
            recent = connection.execute(
                query.where(found_pages.c.found >= to_epoch(since))
            ).scalar_one()
            return recent, connection.execute(query).scalar_one()

    def found_counts_by_tag(self, since: datetime) -> dict[str, tuple[int, int]]:
        """Return how many pages were found since a time and in total, by the tag of their rule."""
        tag, total = found_pages.c.tag, func.count(found_pages.c.page_id)
        recent = func.count(case((found_pages.c.found >= to_epoch(since), 1)))
        query = select(tag, recent, total).group_by(tag).order_by(tag)
        with self._read_engine.begin() as connection:
            return {name: (today, count) for name, today, count in connection.execute(query)}

    def find_depths(self, page_ids: Sequence[int]) -> dict[int, int]:
        """Return how many links lead to found pages from one that was not found so."""
        depths: dict[int, int] = {}
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                query = select(found_pages.c.page_id, found_pages.c.depth)
                rows = connection.execute(query.where(found_pages.c.page_id.in_(chunk)))
                depths.update((row.page_id, row.depth) for row in rows)
        return depths

    def found_on(self, page_id: int) -> str | None:
        """Return the URL of the page on which a page was found; None if it was not found so."""
        query = (
            select(pages.c.url)
            .join(found_pages, found_pages.c.found_on == pages.c.id)
            .where(found_pages.c.page_id == page_id)
        )
        with self._read_engine.begin() as connection:
            return connection.execute(query).scalar()

    def add_found_pages(
        self, found: Sequence[FoundPage], last_visit_id: int, now: datetime
    ) -> list[int]:
        """Add found pages that are not there yet, and note up to which visit links were followed.

        All in one transaction. Pages that were removed stay removed. Returns the new pages' ids.
        """
        note = self._dialect.insert(meta).values(key=FOLLOWED_VISIT_NOTE, value=str(last_visit_id))
        with self._write_engine.begin() as connection:
            new_ids = self._insert_missing(connection, [item.page for item in found], now)[1]
            added = {item.page.key: item for item in reversed(found) if item.page.key in new_ids}
            found_rows = [
                {"page_id": new_ids[key], "found_on": item.found_on, "tag": item.tag,
                 "depth": item.depth, "found": to_epoch(now)}
                for key, item in added.items()
            ]  # fmt: skip
            if found_rows:
                connection.execute(found_pages.insert(), found_rows)
                tag_rows = [{"page_id": row["page_id"], "tag": row["tag"]} for row in found_rows]
                connection.execute(tags.insert(), tag_rows)
            connection.execute(
                note.on_conflict_do_update(
                    index_elements=["key"], set_={"value": str(last_visit_id)}
                )
            )
        return sorted(new_ids.values())
