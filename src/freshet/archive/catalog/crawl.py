"""What every catalog does for a crawl: what it remembers, and the columns that it plans by."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from freshet.archive.catalog.rows import (
    CacheValidators,
    DailySpending,
    HistoryRow,
    HostState,
    InactivePages,
    Lease,
    PageColumns,
)
from freshet.core.bursts import BurstProgress, BurstSample, PendingSample
from freshet.core.tables import VisitTable


class CrawlCatalog(Protocol):
    """What a crawl remembers between visits: leases, spending, requests by persons, hosts."""

    def lease_pages(
        self,
        worker: str,
        page_ids: Sequence[int],
        now: datetime,
        until: datetime,
        *,
        day: str | None = None,
    ) -> list[int]:
        """Lend pages to a worker until a time; return those that no other worker holds.

        With a day, one request is booked for each page that the worker did not hold before.
        """
        ...

    def release_pages(
        self, worker: str, page_ids: Sequence[int] | None = None, *, day: str | None = None
    ) -> None:
        """Take back pages from a worker, all of its pages when none are named.

        With a day, the requests booked for those of them that were lent on it are given back.
        """
        ...

    def leases(self) -> list[Lease]:
        """Return every lease, by page."""
        ...

    def release_all_pages(self) -> list[int]:
        """Take back every page, as who holds the archive's lock may do, and return them.

        Their requests stay booked: a dead worker may have made them.
        """
        ...

    def book_requests(
        self, day: str, requests: int, other_requests: int = 0, burst_requests: int = 0
    ) -> None:
        """Add to what was spent on a day; less than nothing gives back."""
        ...

    def spending(self, day: str) -> DailySpending:
        """Return what was spent on a day."""
        ...

    def request_visits(self, page_ids: Sequence[int], now: datetime) -> None:
        """Note that a person wants these pages visited now."""
        ...

    def requested_pages(self) -> list[int]:
        """Return the pages that a person wants visited, the longest waiting first."""
        ...

    def host_state(self, name: str) -> HostState | None:
        """Return what is remembered of a host, if anything is."""
        ...

    def host_states(self) -> list[HostState]:
        """Return what is remembered of all hosts, by name."""
        ...

    def set_host_states(self, states: Sequence[HostState]) -> None:
        """Replace what is remembered of hosts, many at once; those with a blank state are gone."""
        ...

    def hosts_without_pages(self, *, idle_by: datetime | None = None) -> list[str]:
        """Return the remembered hosts that no live page lies on, by name.

        A name with port 80 has the robots.txt of a host's plain pages. With a time, only hosts come
        that could be asked by then.
        """
        ...

    def reopen_hosts(self, names: Sequence[str]) -> None:
        """Clear the back-off of hosts and what failed of their robots.txt.

        A crawl that runs holds its hosts in memory; it takes this up by ``take_reopened_hosts``.
        """
        ...

    def take_reopened_hosts(self) -> list[str]:
        """Return the hosts that were reopened since this was last asked, by name."""
        ...

    def count_host_pages(self, host: str) -> int:
        """Return how many live pages lie on a host; removed ones left out."""
        ...


class RoundCatalog(Protocol):
    """How far pages are in their rounds, and which visits were samples of which round.

    A visit of a page of which samples are out is one of them: it is noted in the transaction that
    writes the visit, so that no crash parts the two.
    """

    def burst_progress(self) -> dict[int, BurstProgress]:
        """Return how far pages are in their rounds, of live pages that had any."""
        ...

    def set_burst_progress(self, courses: Mapping[int, BurstProgress]) -> None:
        """Replace how far pages are in their rounds, all that their samples showed considered."""
        ...

    def start_samples(
        self, lease: Lease, samplings: Sequence[PendingSample], *, day: str
    ) -> list[int]:
        """Lend pages as a lease says, book their requests, and note which samples are out.

        Return the pages that were lent: those that no other worker holds.
        """
        ...

    def cancel_samples(self, worker: str, page_ids: Sequence[int], *, day: str) -> None:
        """Take back samples whose requests never went out, and give back what was booked for them.

        A page is named once for each request; it stays lent as long as another of them is out.
        """
        ...

    def cancel_all_samples(self) -> dict[int, int]:
        """Take back every sample, as after a crash; return how many requests were out by page.

        The requests stay booked: a dead worker may have made them.
        """
        ...

    def unprocessed_samples(self) -> list[HistoryRow]:
        """Return the last samples of pages whose courses were not set since."""
        ...

    def burst_samples(self, page_id: int) -> list[BurstSample]:
        """Return the visits of a page that were samples, in the order of their times."""
        ...

    def pages_with_samples(self) -> list[int]:
        """Return the pages that had samples, by id; removed ones left out."""
        ...

    def count_pages_in_bursts(self, since: datetime) -> int:
        """Return how many live pages are between the first and the last sample of a round.

        Rounds whose next sample was due before a time are no longer under way.
        """
        ...


class PlanCatalog(Protocol):
    """The live pages and their visits as columns, which policies learn and plan by."""

    def live_page_columns(self, *, after_id: int = 0) -> Iterator[PageColumns]:
        """Yield the live pages that were not removed, by id, in batches."""
        ...

    def inactive_pages(self) -> InactivePages:
        """Return which live pages are paused, and which were removed."""
        ...

    def importance_by_page(self) -> dict[int, float]:
        """Return the importance of live pages that their tags or their own settings give one."""
        ...

    def active_hours_by_page(self) -> dict[int, str]:
        """Return the hours of live pages that their tags or their own settings give any."""
        ...

    def unvisited_pages(self) -> list[int]:
        """Return the live pages that were never visited, or only refused."""
        ...

    def live_visit_tables(self, *, after_visit_id: int = 0) -> Iterator[VisitTable]:
        """Yield the visits of live pages, by page and time, in batches of whole pages.

        Refused visits are left out: settings refused them, and those may be others by now.
        With ``after_visit_id`` only visits with a greater id come: those written later.
        """
        ...

    def cache_validators(self, page_ids: Sequence[int]) -> dict[int, CacheValidators]:
        """Return by what pages can be asked for conditionally; none where a server gave nothing."""
        ...
