"""Starts to watch pages: adds them, requests a visit of each, and reports what was found."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from freshet.archive.catalog.rows import HistoryRow
from freshet.collection.add import add_pages
from freshet.collection.check_now import check_now
from freshet.collection.page import CollectionPage, VersionDifference
from freshet.core.errors import BadInputError, NotFoundError
from freshet.core.types import Page, Visit
from freshet.crawl.forecast import PageForecast, forecasts
from freshet.crawl.obstacles import advice_for
from freshet.crawl.why import ScheduleExplanation, explain_pages
from freshet.measure.change.word_diff import DiffKind
from freshet.record.collection_store import CollectionStore, live_page_key

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WatchNews:
    """The comparison of a visit with the look before it, which was at ``since``.

    ``added`` and ``removed`` count words; ``snippet`` is the most important part of the new text.
    """

    since: datetime
    changed: bool
    dice: float | None = None
    added: int = 0
    removed: int = 0
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class WatchResult:
    """The result of a visit to a page, and its forecast; ``visit`` is None if there was none.

    ``news`` compares the visit with the look before it; None if there is nothing to compare.
    """

    page: Page
    visit: Visit | None
    title: str
    words: int | None
    links: int | None
    forecast: PageForecast
    why: ScheduleExplanation
    news: WatchNews | None = None

    @property
    def advice(self) -> str:
        """Return what can be done about the visit's outcome; empty if nothing is known to help."""
        return "" if self.visit is None else advice_for(self.visit.outcome)

    @property
    def is_look(self) -> bool:
        """Whether the visit was a look at the page."""
        return self.visit is not None and self.visit.outcome.is_look


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What is set for pages to watch: their tags, and whether posts are looked for on them."""

    tags: tuple[str, ...] = ()
    thread: bool = False


def add_and_request(
    collection: CollectionStore, urls: Sequence[str], options: WatchOptions
) -> list[CollectionPage]:
    """Add live pages and request a visit of each; nothing is done if one is no http(s) URL."""
    keys = list(dict.fromkeys(map(live_page_key, urls)))
    if not keys:
        raise BadInputError("no page to watch; give a URL such as https://example.org/")
    for note in add_pages(collection, urls, tags=options.tags).notes:
        log.warning("%s", note)
    pages = [CollectionPage(collection.find_page(key.url, source=""), collection) for key in keys]
    if options.thread:
        collection.catalog.update_page_settings({page.id: {"thread": "yes"} for page in pages})
    check_now(collection, pages)
    return pages


def watch_results(
    collection: CollectionStore, pages: Sequence[CollectionPage], *, since: datetime
) -> list[WatchResult]:
    """Return the results of the visits to pages since a time, and their forecasts."""
    page_ids = [page.id for page in pages]
    last_visits = collection.catalog.last_visits(page_ids)
    last_looks = collection.catalog.last_looks(page_ids)
    now = collection.clock.now()
    page_forecasts = forecasts(collection, pages, now)
    explanations = explain_pages(collection, pages)
    results = []
    for page, forecast, why in zip(pages, page_forecasts, explanations, strict=True):
        row = last_visits.get(page.id)
        if row is not None and row.visit.time < since:
            row = None
        visit, news = (None, None) if row is None else (row.visit, _news(collection, page, row))
        title, words, links = _content_totals(last_looks.get(page.id))
        results.append(WatchResult(page, visit, title, words, links, forecast, why, news))
    return results


def _news(collection: CollectionStore, page: CollectionPage, row: HistoryRow) -> WatchNews | None:
    """Compare a visit with the look before it; None if either is missing."""
    if not row.visit.outcome.is_look:
        return None
    until = {page.id: row.visit.time - timedelta(microseconds=1)}
    look = collection.catalog.last_looks([page.id], until, with_content=False).get(page.id)
    if look is None:
        return None
    if row.change is None or not row.change.changed:
        return WatchNews(look.visit.time, changed=False)
    try:
        difference, news = page.difference(-2, -1), page.news(-2)
    except NotFoundError:
        return WatchNews(look.visit.time, changed=True, dice=row.change.dice)
    added, removed = (_count_words(difference, kind) for kind in (DiffKind.ADDED, DiffKind.REMOVED))
    return WatchNews(look.visit.time, True, row.change.dice, added, removed, news.text)


def _count_words(difference: VersionDifference, kind: DiffKind) -> int:
    return sum(len(piece.text.split()) for piece in difference.words if piece.kind is kind)


def _content_totals(look: HistoryRow | None) -> tuple[str, int | None, int | None]:
    """Return the title, the number of words and the number of links of a look."""
    if look is None or look.view is None:
        return "", None, None
    facts = look.view.facts
    return look.view.title, facts.words, facts.links_internal + facts.links_external
