"""What a crawl and the side that fetches hand each other: plain values."""

from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from uuid import uuid4

from freshet.archive.catalog.rows import CacheValidators, HostState
from freshet.archive.observation import Observation
from freshet.core.settings import PageSettings
from freshet.core.types import Outcome, Page, PageChoice


@dataclass(frozen=True, slots=True)
class FetchJob:
    """A page to be fetched: leased and booked, not to be asked for before ``not_before``.

    ``etag`` and ``last_modified`` are set where the request may be conditional; they belong to
    ``final_url``, where the page was last found. A sample is a look that a round asks for.
    """

    page: int
    url: str
    host: str
    not_before: datetime
    budget_day: str
    settings: PageSettings
    reason: str = ""
    etag: str | None = None
    last_modified: str | None = None
    final_url: str | None = None
    is_sample: bool = False


@dataclass(frozen=True, slots=True)
class FetchResult:
    """What came of a request: for an errand its page and day, for others neither.

    ``was_sent`` says whether any request went out.
    """

    observation: Observation
    page: int = 0
    budget_day: str = ""
    was_sent: bool = True


@dataclass(frozen=True, slots=True)
class JobBatch:
    """Errands to run, and when it is worth drawing again; None: soon, as hosts come free.

    Where there was room for no more, that is at once. ``failures`` are pages that were leased and
    booked, and of which no errand could be made; ``reopened_hosts`` are the hosts whose back-off a person
    has cleared since.
    """

    jobs: tuple[FetchJob, ...]
    next_draw: datetime | None
    failures: tuple["FetchResult", ...] = ()
    reopened_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CrawlStartState:
    """What a crawl finds when it begins: the hosts' states, and when one was last found dead.

    Until ``last_death`` any host may have been asked, and nobody knows which; None: none was killed.
    ``hosts_without_pages`` are the hosts that only redirects led to.
    """

    host_states: tuple[HostState, ...]
    last_death: datetime | None
    hosts_without_pages: frozenset[str] = frozenset()


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


def unsent_result(page: Page | FetchJob, day: str, why: str, now: datetime) -> FetchResult:
    """Return the failed visit of a page that was leased and booked, and could not be asked for."""
    number = page.id if isinstance(page, Page) else page.page
    arrival = Observation(page.url, "", now, uuid4().bytes, outcome=Outcome.REFUSED, why=why)
    return FetchResult(arrival, number, day, was_sent=False)


def choice_on_request(page: int) -> PageChoice:
    """Return the choice of a page that someone asked for."""
    return PageChoice(page, inf, "asked for")


def job_for_page(
    page: Page, start: datetime, day: str, settings: PageSettings, why: str
) -> FetchJob:
    """Return the errand that fetches a page."""
    return FetchJob(page.id, page.url, page.host, start, day, settings, why)


def with_conditions(job: FetchJob, conditions: CacheValidators, audit_every: int) -> FetchJob:
    """Return an errand that is conditional, but for the audit that is due now and then."""
    if conditions.not_modified_count >= audit_every:
        return job
    return replace(
        job, etag=conditions.etag, last_modified=conditions.last_modified,
        final_url=conditions.url,
    )  # fmt: skip
