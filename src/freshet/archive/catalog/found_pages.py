"""Pages that were found as new links of other pages, the links to follow, and those that wait."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, case, delete, func, select

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
    waiting_links,
)
from freshet.archive.catalog.visit_rows import LAST_OUTCOME, LOOK_OUTCOME_NAMES
from freshet.core.clock import to_epoch
from freshet.core.types import ContentKind, Outcome

FOLLOWED_VISIT_NOTE = "last visit whose links were followed"
# A page whose last visit ended so cannot be fetched; other failures pass.
UNFETCHABLE_OUTCOMES = (
    Outcome.REFUSED, Outcome.ROBOTS, Outcome.GONE, Outcome.SOFT_404, Outcome.DENIED,
    Outcome.CLIENT_ERROR, Outcome.UNTRUSTED, Outcome.UNREACHABLE,
)  # fmt: skip
# The answer of a server that has no such page.
GONE_OUTCOMES = (Outcome.GONE, Outcome.SOFT_404, Outcome.CLIENT_ERROR)
MIN_GONE_VISITS = 2
# A link that has waited for so long is given up; further ones are not kept while so many wait.
MAX_WAIT = timedelta(days=7)
MAX_WAITING_PER_TAG = 10_000
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


@dataclass(frozen=True, slots=True)
class WaitingLink:
    """A link that the limits of its tag did not allow when it was found."""

    url: str
    found_on: int
    tag: str
    depth: int


@dataclass(frozen=True, slots=True)
class FoundCounts:
    """How many pages were found in total and since a time, and how many of each are usable.

    Pages that were removed or cannot be fetched are not usable.
    """

    total: int = 0
    recent: int = 0
    usable: int = 0
    usable_recent: int = 0


class FoundPageTables(PageTables):
    """The tables pages, tags, found_pages and waiting_links, as links are followed."""

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

    def found_counts(self, since: datetime, *, tag: str | None = None) -> dict[str, FoundCounts]:
        """Count the pages found in total and since a time, by the tag of their rule."""
        is_recent = found_pages.c.found >= to_epoch(since)
        is_usable = pages.c.removed.is_(None) & func.coalesce(
            LAST_OUTCOME.not_in([outcome.value for outcome in UNFETCHABLE_OUTCOMES]), True
        )
        query = (
            select(
                found_pages.c.tag,
                func.count(),
                func.count(case((is_recent, 1))),
                func.count(case((is_usable, 1))),
                func.count(case((is_recent & is_usable, 1))),
            )
            .join(pages, pages.c.id == found_pages.c.page_id)
            .group_by(found_pages.c.tag)
        )
        if tag is not None:
            query = query.where(found_pages.c.tag == tag)
        with self._read_engine.begin() as connection:
            return {name: FoundCounts(*counts) for name, *counts in connection.execute(query)}

    def refused_found_pages(self) -> list[int]:
        """Return the found pages whose last visit was refused."""
        query = (
            select(found_pages.c.page_id)
            .join(pages, pages.c.id == found_pages.c.page_id)
            .where(pages.c.removed.is_(None), LAST_OUTCOME.in_([Outcome.REFUSED.value]))
            .order_by(found_pages.c.page_id)
        )
        with self._read_engine.begin() as connection:
            return list(connection.execute(query).scalars())

    def gone_found_pages(self, after_visit_id: int) -> list[int]:
        """Return the found pages that visits after another one found gone, and that never were.

        They had two visits at least, all without content, and are not paused or removed.
        """
        of_page = visits.alias()
        looks = func.count(case((of_page.c.outcome.in_(LOOK_OUTCOME_NAMES), 1)))
        query = (
            select(of_page.c.page_id)
            .join(found_pages, found_pages.c.page_id == of_page.c.page_id)
            .where(
                of_page.c.page_id.in_(
                    select(visits.c.page_id)
                    .join(pages, pages.c.id == visits.c.page_id)
                    .where(
                        visits.c.id > after_visit_id,
                        visits.c.outcome.in_([outcome.value for outcome in GONE_OUTCOMES]),
                        ~pages.c.paused,
                        pages.c.removed.is_(None),
                    )
                )
            )
            .group_by(of_page.c.page_id)
            .having(func.count() >= MIN_GONE_VISITS, looks == 0)
            .order_by(of_page.c.page_id)
        )
        with self._read_engine.begin() as connection:
            return list(connection.execute(query).scalars())

    def waiting_counts(self, since: datetime) -> dict[str, int]:
        """Return how many links found since a time wait for the limits of their tag, by tag."""
        query = select(waiting_links.c.tag, func.count()).group_by(waiting_links.c.tag)
        query = query.where(waiting_links.c.found >= to_epoch(since))
        with self._read_engine.begin() as connection:
            return {row.tag: row[1] for row in connection.execute(query)}

    def waiting_links(self, tag: str, limit: int) -> list[WaitingLink]:
        """Return links that wait for the limits of a tag, the latest first.

        Links found on a page that was removed are left out.
        """
        columns = (
            waiting_links.c.url, waiting_links.c.found_on, waiting_links.c.tag,
            waiting_links.c.depth,
        )  # fmt: skip
        query = (
            select(*columns)
            .join(pages, pages.c.id == waiting_links.c.found_on)
            .where(waiting_links.c.tag == tag, pages.c.removed.is_(None))
            .order_by(waiting_links.c.found.desc(), waiting_links.c.url)
            .limit(limit)
        )
        with self._read_engine.begin() as connection:
            return [WaitingLink(*row) for row in connection.execute(query)]

    def give_up_waiting_links(self, links: Sequence[WaitingLink], *, now: datetime) -> None:
        """Delete links that need not wait any longer, and all that have waited for too long."""
        is_old = waiting_links.c.found < to_epoch(now - MAX_WAIT)
        with self._write_engine.begin() as connection:
            connection.execute(delete(waiting_links).where(is_old))
            _delete_waiting(connection, [(link.tag, link.url) for link in links])

    def give_up_waiting_links_of(self, page_ids: Sequence[int]) -> None:
        """Delete the waiting links that were found on some pages."""
        with self._write_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                connection.execute(delete(waiting_links).where(waiting_links.c.found_on.in_(chunk)))

    def find_depths(self, page_ids: Sequence[int]) -> dict[int, int]:
        """Return how many links lead to found pages from one that was not found so."""
        depths: dict[int, int] = {}
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                query = select(found_pages.c.page_id, found_pages.c.depth)
                rows = connection.execute(query.where(found_pages.c.page_id.in_(chunk)))
                depths.update((row.page_id, row.depth) for row in rows)
        return depths

    def found_origins(self, tag: str) -> dict[int, int]:
        """Return the page on which each found page with a tag was found."""
        query = select(found_pages.c.page_id, found_pages.c.found_on)
        with self._read_engine.begin() as connection:
            rows = connection.execute(query.where(found_pages.c.tag == tag)).all()
        return {row.page_id: row.found_on for row in rows}

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
        self,
        found: Sequence[FoundPage],
        last_visit_id: int | None,
        now: datetime,
        waiting: Sequence[WaitingLink] = (),
    ) -> list[int]:
        """Add found pages that are not there yet, and note up to which visit links were followed.

        Nothing is noted if ``last_visit_id`` is None: the pages are no followed links.
        Found pages wait no longer, and links that have to wait are added, if not too many wait
        already. All in one transaction. Pages that were removed stay removed. Returns the new
        pages' ids.
        """
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
            _delete_waiting(connection, [(item.tag, item.page.key.url) for item in found])
            self._add_waiting(connection, waiting, now)
            if last_visit_id is not None:
                self._note_followed(connection, last_visit_id)
        return sorted(new_ids.values())

    def _note_followed(self, connection: Connection, last_visit_id: int) -> None:
        note = self._dialect.insert(meta).values(key=FOLLOWED_VISIT_NOTE, value=str(last_visit_id))
        connection.execute(
            note.on_conflict_do_update(index_elements=["key"], set_={"value": str(last_visit_id)})
        )

    def _add_waiting(
        self, connection: Connection, links: Sequence[WaitingLink], now: datetime
    ) -> None:
        """Add waiting links up to the greatest number of their tag; those there stay."""
        if not links:
            return
        counts = select(waiting_links.c.tag, func.count()).group_by(waiting_links.c.tag)
        waiting = {row.tag: row[1] for row in connection.execute(counts)}
        rows = []
        for link in links:
            waiting[link.tag] = waiting.get(link.tag, 0) + 1
            if waiting[link.tag] <= MAX_WAITING_PER_TAG:
                rows.append({**asdict(link), "found": to_epoch(now)})
        if rows:
            insert = self._dialect.insert(waiting_links)
            connection.execute(insert.on_conflict_do_nothing(index_elements=["tag", "url"]), rows)


def _delete_waiting(connection: Connection, links: Sequence[tuple[str, str]]) -> None:
    """Delete waiting links, given as tag and URL."""
    urls_by_tag: dict[str, list[str]] = {}
    for tag, url in links:
        urls_by_tag.setdefault(tag, []).append(url)
    for tag, urls in urls_by_tag.items():
        of_tag = delete(waiting_links).where(waiting_links.c.tag == tag)
        for chunk in split_chunks(urls):
            connection.execute(of_tag.where(waiting_links.c.url.in_(chunk)))
