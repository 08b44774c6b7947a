"""Begin to watch pages: what a first visit showed, and what is expected from here on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.errors import BadInput
from freshet.core.types import Page, Visit
from freshet.flow.add import add_pages
from freshet.flow.check_now import check_now
from freshet.flow.collection import Collection, live_key
from freshet.flow.forecast import PageForecast, forecasts
from freshet.flow.why import Why, reasons


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a visit of a page showed, and what is expected of it; no visit where none was made."""

    page: Page
    visit: Visit | None
    title: str
    words: int | None
    links: int | None
    forecast: PageForecast
    why: Why

    @property
    def is_look(self) -> bool:
        """Whether the page was looked at."""
        return self.visit is not None and self.visit.outcome.is_look


def enlist(
    collection: Collection, urls: Sequence[str], *, tags: tuple[str, ...] = ()
) -> list[Page]:  # fmt: skip
    """Add live pages and ask for a visit of each, now; nothing is done where one is no URL."""
    keys = list(dict.fromkeys(live_key(url) for url in urls))
    if not keys:
        raise BadInput("no page to watch; give a URL such as https://example.org/")
    add_pages(collection, [key.url for key in keys], tags=tags)
    pages: list[Page] = [collection.page(key.url, source="") for key in keys]
    check_now(collection, pages)
    return pages


def sightings(
    collection: Collection, pages: Sequence[Page], *, since: datetime
) -> list[Sighting]:  # fmt: skip
    """Return what visits since a time showed of pages, and what is expected of them."""
    ids = [page.id for page in pages]
    visits, looks = collection.catalog.last_visits(ids), collection.catalog.last_looks(ids)
    now = collection.clock.now()
    expected = forecasts(collection.catalog, collection.settings, pages, now)
    return [
        Sighting(page, _since(visits.get(page.id), since), *_shown(looks.get(page.id)), then, why)
        for page, then, why in zip(pages, expected, reasons(collection, pages), strict=True)
    ]


def _since(row: HistoryRow | None, moment: datetime) -> Visit | None:
    return row.visit if row is not None and row.visit.time >= moment else None


def _shown(look: HistoryRow | None) -> tuple[str, int | None, int | None]:
    """Return the title, the words and the links of the last look with content."""
    if look is None or look.view is None:
        return "", None, None
    facts = look.view.facts
    return look.view.title, facts.words, facts.links_internal + facts.links_external
