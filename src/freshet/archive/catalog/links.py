"""The links of many pages over time, read in batches of whole pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Select, func, select

from freshet.archive.catalog.database import TableStore
from freshet.archive.catalog.packed_links import unpack_links
from freshet.archive.catalog.pages import restrict_to_live
from freshet.archive.catalog.schema import link_events, pages, visits
from freshet.archive.catalog.visit_rows import LOOK_OUTCOME_NAMES
from freshet.core.tables import PageIdArray
from freshet.core.types import FloatArray

PAGES_PER_BATCH = 2_000
PAGES: Select[Any] = select(pages.c.id, pages.c.url, pages.c.site).order_by(pages.c.id)
LINK_EVENTS: Select[Any] = (
    select(link_events.c.page_id, visits.c.time, link_events.c.added, link_events.c.removed)
    .join(visits, visits.c.id == link_events.c.visit_id)
    .order_by(link_events.c.page_id, visits.c.time, visits.c.id)
)
LOOKS: Select[Any] = (
    select(visits.c.page_id, visits.c.time)
    .where(visits.c.outcome.in_(LOOK_OUTCOME_NAMES))
    .order_by(visits.c.page_id, visits.c.time)
)


@dataclass(frozen=True, slots=True)
class LinkEventRow:
    """The links that a visit added to a page and removed from it, as absolute URLs."""

    page: int
    time: float
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageLinkHistories:
    """Some pages with all looks at them up to a time; ``events`` reads their links one by one."""

    ids: PageIdArray
    urls: tuple[str, ...]
    sites: tuple[str, ...]
    look_pages: PageIdArray
    look_times: FloatArray
    events: Iterator[LinkEventRow]


class LinkTables(TableStore):
    """The table link_events, as it is read for many pages."""

    def page_count(self, *, source: str | None = None) -> int:
        """Return the number of pages that were not removed, of all sources or of one."""
        query = restrict_to_live(select(func.count(pages.c.id)), source=source)
        with self._read_engine.begin() as connection:
            return connection.execute(query).scalar() or 0

    def first_look_time(self, *, source: str | None = None) -> float | None:
        """Return the time of the first look at a page in epoch seconds; None without looks."""
        query = select(func.min(visits.c.time)).join(pages, pages.c.id == visits.c.page_id)
        query = query.where(visits.c.outcome.in_(LOOK_OUTCOME_NAMES))
        with self._read_engine.begin() as connection:
            first: float | None = connection.execute(
                restrict_to_live(query, source=source)
            ).scalar()
            return first

    def link_histories(
        self, *, until: float, source: str | None = None
    ) -> Iterator[PageLinkHistories]:
        """Yield the pages that were not removed, by id, with their links up to a time."""
        last_id, query = 0, restrict_to_live(PAGES, source=source)
        while True:
            with self._read_engine.begin() as connection:
                batch = query.where(pages.c.id > last_id).limit(PAGES_PER_BATCH)
                page_rows = connection.execute(batch).all()
                if not page_rows:
                    return
                first_id, last_id = page_rows[0].id, page_rows[-1].id
                by_time = visits.c.time <= until
                looks = LOOKS.where(visits.c.page_id.between(first_id, last_id), by_time)
                events = LINK_EVENTS.where(
                    link_events.c.page_id.between(first_id, last_id), by_time
                )
                look_rows = connection.execute(looks).all()
                event_rows = connection.execute(events).all()
            yield _histories(page_rows, look_rows, event_rows)


def _histories(
    page_rows: Sequence[Sequence[Any]],
    look_rows: Sequence[Sequence[Any]],
    event_rows: Sequence[Sequence[Any]],
) -> PageLinkHistories:
    """Return histories without the looks and links of other pages with ids in the same range."""
    ids, urls, sites = zip(*page_rows, strict=True)
    wanted = frozenset(ids)
    looks = [(page, time) for page, time in look_rows if page in wanted]
    return PageLinkHistories(
        np.array(ids, np.int64),
        urls,
        sites,
        np.array([page for page, _ in looks], np.int64),
        np.array([time for _, time in looks], np.float64),
        (
            LinkEventRow(page, time, unpack_links(added), unpack_links(removed))
            for page, time, added, removed in event_rows
            if page in wanted
        ),
    )
