"""The detail of a page: forecast, explanation, calendar, visits, posts, new links and mask."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from freshet.archive.catalog.rows import HistoryRow
from freshet.collection.masks import MaskRuleEffect, mask_rule_effects
from freshet.collection.outlook import CrawlOutlook, NextChange
from freshet.collection.page import CollectionPage
from freshet.collection.settings import ResolvedSetting
from freshet.core.clock import from_epoch
from freshet.core.types import Outcome, Page
from freshet.crawl.forecast import PageForecast
from freshet.serve.dashboard import Dashboard
from freshet.serve.documents.page_list import DayStrip, page_strips, strip_start
from freshet.serve.parameters import ParameterValues

CALENDAR_DAYS = 371
READ_VISITS, SHOWN_VISITS = 1_000, 25
SHOWN_POSTS, SHOWN_LINKS = 20, 25
HOURS, WEEKDAYS = 24, 7


@dataclass(frozen=True, slots=True)
class PageVisitRow:
    """A visit of the page's history; ``version`` is the number of its version if it is one.

    ``changed`` is None if nothing was compared.
    """

    id: int
    time: datetime
    outcome: Outcome
    why: str
    status: int | None
    version: int | None
    is_stored: bool
    changed: bool | None
    words: int | None
    dice: float | None
    new_links: int | None


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link that a look found for the first time or again."""

    url: str
    time: datetime


@dataclass(frozen=True, slots=True)
class PostRow:
    """A post of a thread, and when a visit found it."""

    time: datetime
    author: str | None
    found: datetime


@dataclass(frozen=True, slots=True)
class HourCell:
    """An hour of the week (UTC, Monday is 0): the looks in it, and those that found a change."""

    weekday: int
    hour: int
    looks: int
    changes: int


@dataclass(frozen=True, slots=True)
class ExplanationLine:
    """A line of the explanation of a page's next visit."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class PageDocument:
    """Everything about a page that the catalog knows.

    ``forecast`` and ``next_change`` are None for imported pages, and for pages that were added
    after the outlook was made. ``version_count`` is the number of looks with content.
    """

    made: datetime
    page: Page
    title: str
    visits: int
    looks: int
    changes: int
    version_count: int
    last_look: datetime | None
    last_change: datetime | None
    next_check: str
    next_change: NextChange | None
    forecast: PageForecast | None
    forecast_text: str
    explanation: list[ExplanationLine]
    calendar: DayStrip
    hours: list[HourCell]
    latest_visits: list[PageVisitRow]
    posts: list[PostRow]
    new_links: list[FoundLink]
    mask: list[MaskRuleEffect]
    settings: list[ResolvedSetting]


def read_page(dashboard: Dashboard, values: ParameterValues) -> PageDocument:
    """Return the detail of a page."""
    page, collection = dashboard.page(values["page_id"]), dashboard.collection
    now, catalog = collection.clock.now(), collection.catalog
    totals = next(iter(catalog.page_totals([page])))
    with dashboard.outlook() as outlook:
        why = outlook.why(page)
        forecast = _forecast(outlook, page)
        next_change = outlook.next_changes([page]).get(page.id)
    history = page.history(limit=READ_VISITS)
    days = catalog.page_days([page.id], strip_start(now, CALENDAR_DAYS))
    return PageDocument(
        made=now,
        page=page,
        title=catalog.titles([page.id]).get(page.id, ""),
        visits=totals.visits,
        looks=totals.looks,
        changes=totals.changes,
        version_count=len(page.versions),
        last_look=totals.last_look,
        last_change=totals.last_change,
        next_check=why.next_check,
        next_change=next_change,
        forecast=forecast,
        forecast_text=forecast.sentence if forecast else "",
        explanation=[ExplanationLine(name, str(text)) for name, text in why.lines()],
        calendar=page_strips(days, [page.id], now, CALENDAR_DAYS)[page.id],
        hours=hour_cells(history),
        latest_visits=visit_rows(page, history[-SHOWN_VISITS:])[::-1],
        posts=_posts(dashboard, page),
        new_links=_new_links(history),
        mask=mask_rule_effects(page, collection.mask(page)),
        settings=collection.resolved_settings(page),
    )


def _forecast(outlook: CrawlOutlook, page: Page) -> PageForecast | None:
    return outlook.forecast(page) if outlook.knows(page) else None


def visit_rows(page: CollectionPage, history: Sequence[HistoryRow]) -> list[PageVisitRow]:
    """Return visits as rows, with the numbers of their versions."""
    numbers = {version.row.visit.id: version.number for version in page.versions}
    return [
        PageVisitRow(
            id=row.visit.id or 0,
            time=row.visit.time,
            outcome=row.visit.outcome,
            why=row.visit.why,
            status=row.visit.status,
            version=numbers.get(row.visit.id),
            is_stored=row.visit.location is not None,
            changed=row.change.changed if row.change else None,
            words=row.change.words if row.change else None,
            dice=row.change.dice if row.change else None,
            new_links=row.change.fresh_link_count if row.change else None,
        )
        for row in history
    ]


def hour_cells(history: Sequence[HistoryRow]) -> list[HourCell]:
    """Return every hour of the week with the looks and changes in it."""
    looks = [[0] * HOURS for _ in range(WEEKDAYS)]
    changes = [[0] * HOURS for _ in range(WEEKDAYS)]
    for row in history:
        if row.visit.outcome.is_look:
            time = row.visit.time
            looks[time.weekday()][time.hour] += 1
            changes[time.weekday()][time.hour] += bool(row.change and row.change.changed)
    return [
        HourCell(weekday, hour, looks[weekday][hour], changes[weekday][hour])
        for weekday in range(WEEKDAYS)
        for hour in range(HOURS)
    ]


def _new_links(history: Sequence[HistoryRow]) -> list[FoundLink]:
    """Return the links that the latest looks found; the first look has only new ones."""
    found = [
        FoundLink(url, row.visit.time)
        for row in reversed(history)
        if row.change is not None
        for url in row.change.new_links
    ]
    return found[:SHOWN_LINKS]


def _posts(dashboard: Dashboard, page: Page) -> list[PostRow]:
    posts = dashboard.collection.catalog.posts_of_page(page.id, latest=SHOWN_POSTS)
    return [
        PostRow(from_epoch(post.time), post.author, from_epoch(post.found))
        for post in reversed(posts)
    ]
