"""Begin to watch pages: what a first visit showed, and what is expected from here on."""

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
from freshet.record.store import CollectionStore, live_page_key

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WatchNews:
    """What a visit found against the look before it, which was at ``since``.

    ``added`` and ``removed`` count words, ``snippet`` tells the most telling part of what is new.
    """

    since: datetime
    changed: bool
    dice: float | None = None
    added: int = 0
    removed: int = 0
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class WatchResult:
    """What a visit of a page showed, and what is expected of it; no visit where none was made.

    ``news`` tells what differs from the look before; None where there is none to compare with.
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
        """Say what can be done about the visit's outcome, empty where nothing is known to help."""
        return "" if self.visit is None else advice_for(self.visit.outcome)

    @property
    def is_look(self) -> bool:
        """Whether the page was looked at."""
        return self.visit is not None and self.visit.outcome.is_look


def add_and_request(
    collection: CollectionStore, urls: Sequence[str], *, tags: tuple[str, ...] = ()
) -> list[CollectionPage]:  # fmt: skip
    """Add live pages and ask for a visit of each, now; nothing is done where one is no URL."""
    keys = list(dict.fromkeys(map(live_page_key, urls)))
    if not keys:
        raise BadInputError("no page to watch; give a URL such as https://example.org/")
    for note in add_pages(collection, urls, tags=tags).notes:
        log.warning("%s", note)
    pages = [CollectionPage(collection.find_page(key.url, source=""), collection) for key in keys]
    check_now(collection, pages)
    return pages


def watch_results(
    collection: CollectionStore, pages: Sequence[CollectionPage], *, since: datetime
) -> list[WatchResult]:  # fmt: skip
    """Return what visits since a time showed of pages, and what is expected of them."""
    ids = [page.id for page in pages]
    visits, looks = collection.catalog.last_visits(ids), collection.catalog.last_looks(ids)
    now = collection.clock.now()
    expected = forecasts(collection.catalog, collection.settings, pages, now)
    recent = {page: row for page, row in visits.items() if row.visit.time >= since}
    return [
        WatchResult(
            page, _visit(recent.get(page.id)), *_shown(looks.get(page.id)), then, why,
            _news(collection, page, recent.get(page.id)),
        )
        for page, then, why in zip(pages, expected, explain_pages(collection, pages), strict=True)
    ]  # fmt: skip


def _visit(row: HistoryRow | None) -> Visit | None:
    return None if row is None else row.visit


def _news(
    collection: CollectionStore, page: CollectionPage, row: HistoryRow | None
) -> WatchNews | None:
    """Compare a visit with the look before it; None where there is none, or nothing was seen."""
    if row is None or not row.visit.outcome.is_look:
        return None
    just_before = {page.id: row.visit.time - timedelta(microseconds=1)}
    earlier = collection.catalog.last_looks([page.id], just_before, with_content=False).get(page.id)
    if earlier is None:
        return None
    if row.change is None or not row.change.changed:
        return WatchNews(earlier.visit.time, changed=False)
    try:
        compared, news = page.difference(-2, -1), page.news(-2)
    except NotFoundError:
        return WatchNews(earlier.visit.time, changed=True, dice=row.change.dice)
    return WatchNews(
        earlier.visit.time, True, row.change.dice, _words(compared, DiffKind.ADDED),
        _words(compared, DiffKind.REMOVED), news.text,
    )  # fmt: skip


def _words(compared: VersionDifference, fate: DiffKind) -> int:
    return sum(len(piece.text.split()) for piece in compared.words if piece.kind is fate)


def _shown(look: HistoryRow | None) -> tuple[str, int | None, int | None]:
    """Return the title, the words and the links of the last look with content."""
    if look is None or look.view is None:
        return "", None, None
    facts = look.view.facts
    return look.view.title, facts.words, facts.links_internal + facts.links_external
