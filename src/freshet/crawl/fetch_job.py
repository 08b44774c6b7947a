"""The values that a crawl session and the fetching side exchange."""

from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from uuid import uuid4

from freshet.archive.catalog.rows import CacheValidators, HostState
from freshet.archive.observation import Observation, RequestBooking
from freshet.core.settings import PageSettings
from freshet.core.types import Outcome, Page, PageChoice


@dataclass(frozen=True, slots=True)
class FetchJob:
    """A leased and booked page to be fetched, not before ``not_before``.

    ``etag`` and ``last_modified`` are set if the request may be conditional; they belong to
    ``final_url``, the last final URL of the page. A sample is a look of a burst.
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
class JobBatch:
    """Drawn jobs and the time of the next draw; None means soon, when hosts are free again.

    ``failures`` are the failed visits of leased pages whose jobs could not be made.
    ``reopened_hosts`` are the hosts whose back-off a person has cleared since the last draw.
    """

    jobs: tuple[FetchJob, ...]
    next_draw: datetime | None
    failures: tuple[Observation, ...] = ()
    reopened_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CrawlStartState:
    """The saved state of hosts at the start of a crawl, and when a killed crawl was last found.

    Any host may have been asked until ``last_kill_time``; None if no crawl was killed.
    ``hosts_without_pages`` are hosts that only redirects led to.
    """

    host_states: tuple[HostState, ...]
    last_kill_time: datetime | None
    hosts_without_pages: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CrawlDaySpending:
    """A day's budget of page requests, the spent part of it, and the number of pages.

    ``apart`` counts the requests outside the budget: for robots.txt and sitemaps.
    """

    day: str
    spent: int
    budget: int
    apart: int = 0
    pages: int = 0


def unsent_observation(page: int, url: str, day: str, why: str, now: datetime) -> Observation:
    """Return the failed visit of a leased and booked page whose request could not be built."""
    booking = RequestBooking(page, day, was_sent=False)
    return Observation(
        url, "", now, uuid4().bytes, outcome=Outcome.REFUSED, why=why, booking=booking
    )


def choice_on_request(page: int) -> PageChoice:
    """Return the choice of a requested page."""
    return PageChoice(page, inf, "asked for")


def job_for_page(
    page: Page, start: datetime, day: str, settings: PageSettings, why: str
) -> FetchJob:
    """Return the fetch job of a page."""
    return FetchJob(page.id, page.url, page.host, start, day, settings, why)


def with_conditions(job: FetchJob, conditions: CacheValidators, audit_every: int) -> FetchJob:
    """Return a job with its conditions, unless an unconditional audit is due."""
    if conditions.not_modified_count >= audit_every:
        return job
    return replace(
        job, etag=conditions.etag, last_modified=conditions.last_modified,
        final_url=conditions.url,
    )  # fmt: skip
