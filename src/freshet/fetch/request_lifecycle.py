"""The life of one request: queued, given its host's turn, sent, and ended.

Methods are in the order in which they are called for a request.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from scrapy import Request

from freshet.archive.observation import Observation, RequestBooking
from freshet.core.budget import utc_day
from freshet.core.clock import from_epoch, monotonic_seconds, to_epoch
from freshet.core.types import Outcome
from freshet.crawl.fetch_job import FetchJob, unsent_observation
from freshet.fetch.collection_writer import CollectionWriter
from freshet.fetch.environment import CrawlEnvironment
from freshet.fetch.network.failures import (
    BudgetDayOverError,
    CrawlEndedError,
    RobotsDisallowedError,
)
from freshet.fetch.politeness.request_queue import RequestQueue
from freshet.fetch.request_context import (
    ROBOTS_KEY,
    context_of,
    observation_without_answer,
    request_for_job,
    retried_request,
)
from freshet.fetch.spider_requests import SpiderRequestFeed
from freshet.record.fault_isolation import describe_fault
from freshet.view.url import canonical_web_url

# A robots.txt that redirects to a host which stays busy for longer than this is unavailable.
MAX_ROBOTS_WAIT_SECONDS = 60.0
ENDING_CHECK_SECONDS = 0.5

log = logging.getLogger(__name__)


class RequestLifecycle:
    """Moves requests from their fetch jobs to their observations.

    ``request_queue`` holds the requests that wait for their hosts, ``spider_requests`` those of
    someone's own spider. ``ready_requests`` have their host's turn and wait for Scrapy to take
    them. ``pages_awaiting_robots`` counts the pages that wait for a robots.txt.
    """

    def __init__(self, environment: CrawlEnvironment, writer: CollectionWriter) -> None:
        self._environment = environment
        self._writer = writer
        self.request_queue = RequestQueue(
            environment.host_schedule,
            environment.clock,
            environment.settings.politeness.per_host,
            self.release,
        )
        self.spider_requests = SpiderRequestFeed(environment, writer, self.request_queue)
        self.ready_requests: deque[Request] = deque()
        self.pages_awaiting_robots = 0

    def start_job(self, job: FetchJob) -> None:
        """Queue the request of a fetch job; if it cannot be built, record a failed visit."""
        self._environment.host_schedule.add_page(job.host)
        callback = None if self._environment.pages_mode == "parse" else _ignore_result
        try:
            canonical_web_url(job.url)
        except ValueError as error:
            self._record_unsent(job, job.budget_day, f"its URL {error}")
            return
        try:
            request = request_for_job(job, _ignore_result, callback)
        except Exception as error:
            log.exception("%s: building its request failed", job.url)
            why = describe_fault(error, "while its request was built")
            self._record_unsent(job, job.budget_day, why)
            return
        self.request_queue.add(request, job.host, job.not_before)

    def release(self, request: Request) -> bool:
        """Send a request whose turn has come; return False if its budget day is over."""
        context = context_of(request)
        context.has_turn = True
        if self._is_day_over(request):
            self.end_turn(request, was_sent=False)
            self.rebook(request)
            return False
        if not context.hops:
            context.sent_at = self._environment.clock.now()
        if context.job is None:
            self.ready_requests.append(request)
            self._environment.wake_engine()
        elif self._environment.crawler.engine is not None:
            self._environment.crawler.engine.crawl(request)
        return True

    async def take_turn(self, request: Request) -> None:
        """Wait for the turn of a request's host, unless the request already has it.

        Every download calls this, so no request goes around its host's delay.
        """
        context = context_of(request)
        if context.has_turn:
            return
        queue = self.request_queue
        turn = asyncio.ensure_future(queue.wait_turn(context.host))
        wait_start = monotonic_seconds()
        try:
            while not turn.done():
                self._check_wait(request, context.host, monotonic_seconds() - wait_start)
                await asyncio.wait({turn}, timeout=ENDING_CHECK_SECONDS)
        except BaseException:
            if not turn.cancel():
                queue.finish(context.host)
            raise
        context.has_turn = True

    def _check_wait(self, request: Request, host: str, waited_seconds: float) -> None:
        """Raise an error if a request must not wait for its host any longer."""
        environment = self._environment
        if environment.is_ending:
            raise CrawlEndedError("the crawl ended before the request was sent")
        opening = environment.host_schedule.open_from(host, to_epoch(environment.clock.now()))
        wait_seconds = environment.clock.seconds_until(from_epoch(opening))
        is_robots = ROBOTS_KEY in request.meta
        max_delay = environment.settings.politeness.longest_delay
        max_seconds = MAX_ROBOTS_WAIT_SECONDS if is_robots else max_delay
        if wait_seconds > max_seconds or (is_robots and waited_seconds > max_seconds):
            raise RobotsDisallowedError(f"{host} is closed for now")

    def pass_turn(self, page_request: Request, robots_request: Request) -> None:
        """Give the turn of a page's request to the request for its host's robots.txt."""
        page_context, robots_context = context_of(page_request), context_of(robots_request)
        if page_context.host == robots_context.host:
            robots_context.has_turn, page_context.has_turn = page_context.has_turn, False

    @contextmanager
    def awaiting_robots(self, host: str) -> Iterator[None]:
        """Hold back a host's pages while its robots.txt is fetched.

        A page that waits for the robots.txt does not count as a concurrent request.
        """
        self.pages_awaiting_robots += 1
        try:
            with self.request_queue.hold(host):
                yield
        finally:
            self.pages_awaiting_robots -= 1

    def require_budget_day(self, request: Request) -> None:
        """Raise BudgetDayOverError if the day that pays for a request has ended.

        This is called when the connection is ready and the request is about to be written. Since
        its release the request may have waited for a free slot, a robots.txt or the connection.
        """
        if self._is_day_over(request):
            raise BudgetDayOverError("the day whose budget pays for the request has ended")

    def _is_day_over(self, request: Request) -> bool:
        day = context_of(request).budget_day
        return bool(day) and day != utc_day(self._environment.clock.now())

    def record(self, request: Request, observation: Observation, *, was_sent: bool = True) -> None:
        """Hand the observation of a request to the recording loop, with how it was paid for."""
        context = context_of(request)
        page = context.job.page if context.job else 0
        booking = RequestBooking(page, context.budget_day, was_sent)
        self._writer.add_observation(replace(observation, booking=booking))
        context.is_recorded = True

    def end_turn(self, request: Request, *, was_sent: bool = True) -> None:
        """End the turn of a request, whatever its outcome.

        The host's delay starts here: the request may have been sent later than it was released.
        """
        context = context_of(request)
        if context.has_turn:
            context.has_turn = False
            if was_sent:
                now = to_epoch(self._environment.clock.now())
                self._environment.host_schedule.start_delay(context.host, now)
            self.request_queue.finish(context.host)

    def fail(self, request: Request, error: Exception) -> None:
        """Record a failed visit for a request whose end could not be recorded."""
        context = context_of(request)
        if context.job is not None and not context.is_recorded:
            why = describe_fault(error, "with its request")
            self._record_unsent(context.job, context.budget_day, why)
            context.is_recorded = True

    def _record_unsent(self, job: FetchJob, day: str, why: str) -> None:
        now = self._environment.clock.now()
        observation = unsent_observation(job.page, job.url, day, why, now)
        self._writer.add_observation(observation)

    def rebook(self, request: Request) -> None:
        """Book a request again that was not sent before its budget day ended.

        A job's first request is returned. A request that follows a redirect is booked on today's
        budget; if that is spent, the visit ends at the redirect. A spider's request is booked
        when the budget allows it.
        """
        job = context_of(request).job
        if job is not None:
            self._environment.run_in_background(self._rebook_job(request, job))
        else:
            self.spider_requests.book_request(request)

    async def _rebook_job(self, request: Request, job: FetchJob) -> None:
        if not context_of(request).hops:
            await self._writer.return_jobs([job])
        elif await self._writer.book_requests(1):
            self.request_queue.enqueue(
                retried_request(request, utc_day(self._environment.clock.now()))
            )
        else:
            self.end_at_redirect(request, "the day's budget has nothing left to follow it")

    def abandon(self, request: Request) -> None:
        """Return the job of a request that the end of the crawl stopped."""
        context = context_of(request)
        if context.job and not context.hops:
            self._environment.run_in_background(self._writer.return_jobs([context.job]))
        else:
            self.end_at_redirect(request, "the crawl ended before it was followed")

    def end_at_redirect(self, request: Request, why: str) -> None:
        """Record the redirect that led to a request as the end of its visit, if there is one."""
        if context_of(request).hops:
            now = self._environment.clock.now()
            observation = observation_without_answer(request, Outcome.REDIRECT, why, now)
            self.record(request, observation, was_sent=False)

    def return_host_jobs(self, host: str) -> None:
        """Return the jobs that wait for a host which has closed; other requests keep waiting."""
        waiting_requests = self.request_queue.withdraw(host)
        for request in waiting_requests:
            context = context_of(request)
            if context.job is None or context.hops:
                self.request_queue.add(request, host)
            if context.job is None and self._environment.is_embedded:
                self.spider_requests.put_aside(request)
        jobs = unsent_jobs(waiting_requests)
        self._environment.run_in_background(self._writer.return_jobs(jobs))

    def stop(self) -> list[Request]:
        """Release no more requests; return all that wait."""
        requests = [*self.request_queue.stop(), *self.ready_requests]
        self.ready_requests.clear()
        return requests


def unsent_jobs(requests: Iterable[Request]) -> list[FetchJob]:
    """Return the jobs of waiting requests, without those that follow a redirect."""
    contexts = map(context_of, requests)
    return [context.job for context in contexts if context.job and not context.hops]


def _ignore_result(result: object) -> None:
    """Ignore an answer or a failure: the record middleware has recorded it."""
