"""Writes to the collection in its own thread, with retries while the disk is full."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from freshet.archive.catalog.rows import HostState
from freshet.archive.observation import Observation
from freshet.core.errors import LockedError, NoSpaceError
from freshet.crawl.fetch_job import FetchJob
from freshet.crawl.session import CrawlSession
from freshet.fetch.environment import CrawlEnvironment
from freshet.fetch.politeness.host_closing import HostClosing

RETRY_SECONDS = 2.0

log = logging.getLogger(__name__)

T = TypeVar("T")


class CollectionWriter:
    """Queues observations for the recording loop, and writes bookings and returned jobs.

    ``wake`` is set whenever there is something to record or to report.
    """

    def __init__(self, environment: CrawlEnvironment) -> None:
        self._environment = environment
        self.observations: deque[Observation] = deque()
        self.host_closings: list[HostClosing] = []
        self.unbudgeted_requests = 0
        self.wake = asyncio.Event()
        self.is_closing = False
        self.failure: BaseException | None = None

    @property
    def session(self) -> CrawlSession:
        """Return the crawl session, which belongs to the collection's thread."""
        return self._environment.collection_thread.session

    def add_observation(self, observation: Observation) -> None:
        """Queue an observation for recording."""
        self.observations.append(observation)
        self.wake.set()

    def add_host_closing(self, closing: HostClosing) -> None:
        """Queue the closing of a host for the next event."""
        self.host_closings.append(closing)
        self.wake.set()

    def book_unbudgeted(self, requests: int) -> None:
        """Count requests outside the budget; the loop saves them together."""
        self.unbudgeted_requests += requests
        self.wake.set()

    async def book_requests(self, requests: int) -> bool:
        """Book further requests for a job; return False if the day's budget has too few left."""
        return await self.write(partial(self.session.book_requests, requests))

    async def book_up_to(self, requests: int) -> int:
        """Book requests of someone's own spider; return how many the budget granted."""
        return await self.write(partial(self.session.book_up_to, requests))

    async def return_requests(self, requests: int) -> None:
        """Return bookings whose requests were not sent."""
        if requests:
            await self.write(partial(self.session.return_requests, requests))

    async def return_jobs(self, jobs: Sequence[FetchJob]) -> None:
        """Return jobs whose requests were not sent."""
        if jobs:
            await self.write(partial(self.session.return_jobs, list(jobs)))

    async def write(self, work: Callable[[], T]) -> T:
        """Run work in the collection's thread, after saving the unsaved host states there.

        On a full disk or a locked catalog, wait and try again.
        """
        host_schedule = self._environment.host_schedule
        while True:
            host_states = host_schedule.take_unsaved()
            try:
                return await self._environment.collection_thread.run(
                    self._save_and_run, host_states, work
                )
            except Exception as error:
                host_schedule.mark_unsaved(host_states)
                is_ending = self.is_closing or self._environment.is_ending
                if is_ending or not isinstance(error, NoSpaceError | LockedError):
                    self.fail(error)
                    raise
                log.warning("%s; trying again, nothing is fetched meanwhile", error)
            await asyncio.sleep(RETRY_SECONDS)

    def _save_and_run(self, host_states: Sequence[HostState], work: Callable[[], T]) -> T:
        self.session.save_host_states(host_states)
        return work()

    def fail(self, error: Exception) -> None:
        """Stop the crawl because of an error."""
        self.failure = self.failure or error
        self._environment.stop("failed")
