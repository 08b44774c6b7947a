"""The list of pages: search, filters, order, and cursors that go on after the last row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from freshet.archive.catalog.listing import ListedPageState, PageFilter, PageOrder
from freshet.archive.catalog.rows import PageDay, PageTotals
from freshet.collection.outlook import CrawlOutlook, NextChange
from freshet.core.types import Page
from freshet.serve.dashboard import Dashboard
from freshet.serve.parameters import (
    ParameterValues,
    QueryParameter,
    decode_cursor,
    encode_cursor,
)

STRIP_DAYS = 60
LIVE_SOURCE = "live"
PAGE_LIST_PARAMETERS = (
    QueryParameter("q", "Part of the URL that pages must have."),
    QueryParameter("host", "Host of the pages, with its port if it has one."),
    QueryParameter("tag", "Tag of the pages."),
    QueryParameter("source", "Import source of the pages; 'live' selects pages that are crawled."),
    QueryParameter("state", "State of the pages.", "all", tuple(ListedPageState)),
    QueryParameter(
        "sort",
        "Order: alphabetical, last added first, or last change first (only changed pages).",
        "url",
        tuple(PageOrder),
    ),
    QueryParameter("cursor", "The 'next' of the previous part of the list."),
    QueryParameter("limit", "Number of pages.", 50, low=1, high=200),
)


@dataclass(frozen=True, slots=True)
class DayStrip:
    """The looks of every day from the first one on, and how many of them found a change."""

    first_day: date
    looks: list[int]
    changes: list[int]


@dataclass(frozen=True, slots=True)
class PageListRow:
    """A page of the list; ``next_change`` and ``next_check`` are None where none is known."""

    id: int
    url: str
    title: str
    host: str
    source: str
    tags: tuple[str, ...]
    paused: bool
    looks: int
    changes: int
    last_look: datetime | None
    last_change: datetime | None
    next_change: NextChange | None
    next_check: datetime | None
    has_mask: bool
    strip: DayStrip


@dataclass(frozen=True, slots=True)
class PageListDocument:
    """A part of the list of pages; ``next`` is the cursor of the next part, None at the end."""

    made: datetime
    rows: list[PageListRow]
    next: str | None


def read_page_list(dashboard: Dashboard, values: ParameterValues) -> PageListDocument:
    """Return a part of the list of pages."""
    collection, catalog = dashboard.collection, dashboard.collection.catalog
    order, now = PageOrder(values["sort"]), collection.clock.now()
    listed = catalog.listed_pages(
        _page_filter(values),
        order,
        after=decode_cursor(values["cursor"], order),
        limit=values["limit"] + 1,
    )
    shown = listed[: values["limit"]]
    pages = [item.page for item in shown]
    rows = _rows(dashboard, pages, now)
    has_more = len(listed) > len(shown)
    return PageListDocument(now, rows, encode_cursor(order, shown[-1].key) if has_more else None)


def _page_filter(values: ParameterValues) -> PageFilter:
    source = {"": None, LIVE_SOURCE: ""}.get(values["source"], values["source"])
    return PageFilter(
        values["q"], values["host"], values["tag"], source, ListedPageState(values["state"])
    )


def _rows(dashboard: Dashboard, pages: Sequence[Page], now: datetime) -> list[PageListRow]:
    catalog, ids = dashboard.collection.catalog, [page.id for page in pages]
    titles, masked = catalog.titles(ids), catalog.has_mask(ids)
    strips = page_strips(catalog.page_days(ids, strip_start(now)), ids, now)
    with dashboard.outlook() as outlook:
        next_changes = outlook.next_changes([page for page in pages if not page.paused])
    return [
        PageListRow(
            id=totals.page.id,
            url=totals.page.url,
            title=titles.get(totals.page.id, ""),
            host=totals.page.host,
            source=totals.page.source,
            tags=totals.page.tags,
            paused=totals.page.paused,
            looks=totals.looks,
            changes=totals.changes,
            last_look=totals.last_look,
            last_change=totals.last_change,
            next_change=next_changes.get(totals.page.id),
            next_check=_next_check(outlook, totals),
            has_mask=totals.page.id in masked,
            strip=strips[totals.page.id],
        )
        for totals in catalog.page_totals(pages)
    ]


def _next_check(outlook: CrawlOutlook, totals: PageTotals) -> datetime | None:
    visit = outlook.planned_by_page.get(totals.page.id)
    return None if visit is None or totals.page.paused else visit.expected


def strip_start(now: datetime, days: int = STRIP_DAYS) -> datetime:
    """Return the start of the first UTC day of a strip that ends today."""
    return (now - timedelta(days=days - 1)).replace(hour=0, minute=0, second=0, microsecond=0)


def page_strips(
    page_days: Iterable[PageDay], ids: Iterable[int], now: datetime, days: int = STRIP_DAYS
) -> dict[int, DayStrip]:
    """Return the strip of each page: one entry for every day, also without looks."""
    first_day = strip_start(now, days).date()
    strips = {page_id: DayStrip(first_day, [0] * days, [0] * days) for page_id in ids}
    for item in page_days:
        index = (item.day - first_day).days
        if index < days:  # a wrong clock may have left visits of the future
            strips[item.page].looks[index] = item.looks
            strips[item.page].changes[index] = item.changes
    return strips
