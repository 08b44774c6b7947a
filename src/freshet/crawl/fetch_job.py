"""What a crawl and the side that fetches hand each other: plain values."""

from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from uuid import uuid4

from freshet.archive.catalog.rows import Conditions, HostState
from freshet.archive.importers.base import Arrival
from freshet.core.settings import PageSettings
from freshet.core.types import Choice, Outcome, Page


@dataclass(frozen=True, slots=True)
class Errand:
    """A page to be fetched: leased and booked, not to be asked for before ``start``.

    ``etag`` and ``last_modified`` are set where the request may be conditional; they belong to
    ``final_url``, where the page was last found. A sample is a look that a round asks for.
    """

    page: int
    url: str
    host: str
    start: datetime
    day: str
    settings: PageSettings
    reason: str = ""
    etag: str | None = None
    last_modified: str | None = None
    final_url: str | None = None
    is_sample: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of a request: for an errand its page and day, for others neither.

    ``asked`` says whether any request went out.
    """

    arrival: Arrival
    page: int = 0
    day: str = ""
    asked: bool = True


@dataclass(frozen=True, slots=True)
class Drawn:
    """Errands to run, and when it is worth drawing again; None: soon, as hosts come free.

    Where there was room for no more, that is at once. ``failed`` are pages that were leased and
    booked, and of which no errand could be made; ``reopened`` are the hosts whose back-off a person
    has cleared since.
    """

    errands: tuple[Errand, ...]
    again: datetime | None
    failed: tuple["Fetched", ...] = ()
    reopened: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Begun:
    """What a crawl finds when it begins: the hosts' states, and when one was last found dead.

    Until ``died`` any host may have been asked, and nobody knows which; None: none was killed.
    ``without_pages`` are the hosts that only redirects led to.
    """

    hosts: tuple[HostState, ...]
    died: datetime | None
    without_pages: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class DaySpending:
    """A day's budget of page requests, what is spent of it, and for how many pages.

    ``apart`` are the requests that the budget does not count: for robots.txt and sitemaps.
    """

    day: str
    spent: int
    budget: int
    apart: int = 0
    pages: int = 0


def unfetched(page: Page | Errand, day: str, why: str, now: datetime) -> Fetched:
    """Return the failed visit of a page that was leased and booked, and could not be asked for."""
    number = page.id if isinstance(page, Page) else page.page
    arrival = Arrival(page.url, "", now, uuid4().bytes, outcome=Outcome.REFUSED, why=why)
    return Fetched(arrival, number, day, asked=False)


def asked_for(page: int) -> Choice:
    """Return the choice of a page that someone asked for."""
    return Choice(page, inf, "asked for")


def errand_for(page: Page, start: datetime, day: str, settings: PageSettings, why: str) -> Errand:
    """Return the errand that fetches a page."""
    return Errand(page.id, page.url, page.host, start, day, settings, why)


def conditional(errand: Errand, conditions: Conditions, audit_every: int) -> Errand:
    """Return an errand that is conditional, but for the audit that is due now and then."""
    if conditions.unchanged >= audit_every:
        return errand
    return replace(
        errand, etag=conditions.etag, last_modified=conditions.last_modified,
        final_url=conditions.url,
    )  # fmt: skip
