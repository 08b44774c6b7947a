"""Answers and failures become arrivals, with what went over the wire, and go to the desk."""

import logging
from datetime import datetime
from uuid import uuid4

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.headers import Headers

from freshet.archive.observation import HttpExchange, Observation
from freshet.core.budget import utc_day
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.errors import StorageError
from freshet.core.types import Outcome, Snapshot
from freshet.crawl.fetch_job import FetchResult
from freshet.fetch.network.connections import REQUEST_HEAD_KEY, RESPONSE_HEAD_KEY
from freshet.fetch.network.failures import (
    AddressRefusedError,
    BudgetDayOverError,
    CrawlEndedError,
    classify_error,
    is_expected_error,
)
from freshet.fetch.network.routes import plain_proxy
from freshet.fetch.politeness.host_closing import HostClosing
from freshet.fetch.politeness.host_schedule import BUSY_STATUSES, HOST_FAILURES, parse_retry_after
from freshet.fetch.politeness.robots import ROBOTS_KEY, ROUTE_FAILURES
from freshet.fetch.request_context import (
    context_of,
    final_url,
    host_of,
    observation_without_answer,
    retried_request,
)
from freshet.fetch.runtime import CrawlRuntime, runtime_of
from freshet.view.url import canonical_url

NOT_MODIFIED = 304
SERVER_ERROR = 500

log = logging.getLogger(__name__)


class RecordMiddleware:
    """A downloader middleware, next to the downloader, that lets no visit pass unrecorded."""

    def __init__(self, parts: CrawlRuntime) -> None:
        self._parts = parts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "RecordMiddleware":
        """Make it for a crawler."""
        return cls(runtime_of(crawler))

    def process_request(self, request: Request) -> None:
        """Note when a visit's first request goes out."""
        trip = context_of(request)
        trip.sent_at = trip.sent_at or self._parts.clock.now()
        trip.is_recorded = False

    def process_response(self, request: Request, response: Response) -> Response:
        """Hand an answer over; of a robots.txt only the host's clock hears."""
        if is_cached(request, response):
            self._pass_over(request)
            return response
        if is_visit(request):
            self._hand_over(request, _answered(request, response, self._parts.clock.now()))
        context_of(request).is_recorded = True
        self._hear(request, _rough_outcome(response), f"status {response.status}", response)
        return response

    def process_exception(self, request: Request, exception: BaseException) -> Request | None:
        """Hand a failure over, unless an answer was; whoever made the request still hears of it.

        A request of a spider that a day's end has overtaken is queued again.
        """
        trip = context_of(request)
        if trip.is_recorded or isinstance(exception, StorageError):
            return None
        if isinstance(exception, CrawlEndedError):
            trip.is_recorded = True
            self._parts.abandon(request)
            return None
        if isinstance(exception, BudgetDayOverError):
            return self._put_off(request)
        self._fail(request, exception)
        return None

    def _put_off(self, request: Request) -> Request | None:
        """See to a request that did not go out before its day had ended."""
        trip = context_of(request)
        trip.is_recorded = True
        self._parts.end_turn(request, was_sent=False)
        if trip.job is None:
            return retried_request(request, "")
        self._parts.rebook(request)
        return None

    def _fail(self, request: Request, exception: BaseException) -> None:
        trip = context_of(request)
        outcome, why = classify_error(exception)
        if not is_expected_error(exception):
            log.warning("%s: %s", request.url, why, exc_info=exception)
            outcome = Outcome.UNREADABLE if REQUEST_HEAD_KEY in request.meta else outcome
        was_answered = bool(trip.hops) or REQUEST_HEAD_KEY in request.meta
        went_out = was_answered or not isinstance(exception, IgnoreRequest)
        if (
            isinstance(exception, AddressRefusedError)
            and self._parts.is_embedded
            and ROBOTS_KEY not in request.meta
        ):
            self._tell_refused(request, why)
        if is_visit(request):
            arrival = observation_without_answer(request, outcome, why, self._parts.clock.now())
            self._hand_over(request, arrival, asked=went_out)
        elif not went_out:
            self._pass_over(request)
        trip.is_recorded = True
        if not isinstance(exception, IgnoreRequest) and outcome not in ROUTE_FAILURES:
            self._hear(request, outcome, why)
        self._parts.end_turn(request, was_sent=went_out)

    def _hand_over(self, request: Request, arrival: Observation, *, asked: bool = True) -> None:
        trip = context_of(request)
        trip.is_recorded = True
        page = trip.job.page if trip.job else 0
        self._parts.recording_loop.add_result(FetchResult(arrival, page, trip.budget_day, asked))

    def _pass_over(self, request: Request) -> None:
        """Let a request that did not go out, and is no visit, cost nothing."""
        trip = context_of(request)
        trip.is_recorded = True
        if trip.budget_day == utc_day(self._parts.clock.now()):
            self._parts.run_in_background(self._parts.recording_loop.return_requests(1))
        self._parts.end_turn(request, was_sent=False)

    def _tell_refused(self, request: Request, why: str) -> None:
        """Log an address that the guard refused: Scrapy would pass over it in silence."""
        host = host_of(request)
        level = logging.DEBUG if host in self._parts.refused_hosts else logging.WARNING
        self._parts.refused_hosts.add(host)
        log.log(level, "Refused %s: %s", request, why)

    def _hear(
        self, request: Request, outcome: Outcome, why: str, response: Response | None = None
    ) -> None:
        """Tell the host's clock how it went; a host that closes sends its queue back.

        In someone's own crawl failures are the spider's affair, and none of them makes it wait,
        unless a host asks to be left alone.
        """
        now = self._parts.clock.now()
        if self._parts.is_embedded and outcome in HOST_FAILURES - {Outcome.THROTTLED}:
            return
        wait = None
        if response is not None and outcome in HOST_FAILURES:
            wait = parse_retry_after(_text(response.headers, "Retry-After"), now)
        host, proxy = host_of(request), plain_proxy(request)
        if proxy and not self._parts.is_embedded:
            # The proxy may have said that itself: it is no reason to leave the host alone.
            self._parts.proxy_schedules.for_proxy(proxy).note_outcome(
                host, outcome, wait, to_epoch(now)
            )
            self._parts.proxy_schedules.forget_unused(to_epoch(now))
        elif self._parts.host_schedule.note_outcome(host, outcome, wait, to_epoch(now)):
            if self._parts.is_embedded:
                seconds = self._parts.host_schedule.closed_until(host) - to_epoch(now)
                log.warning("%s asks to be left alone: it is, for %.0f s", host, seconds)
            self._parts.return_host_jobs(host)
            failures, until = self._parts.host_schedule.failures_and_closing(host)
            why += " for robots.txt" if ROBOTS_KEY in request.meta else ""
            self._parts.recording_loop.add_host_closing(
                HostClosing(host, now, from_epoch(until), failures, why)
            )


def is_visit(request: Request) -> bool:
    """Whether a request is for a page: forms and HEAD are not, and robots.txt is kept elsewhere."""
    return request.method == "GET" and ROBOTS_KEY not in request.meta


def is_cached(request: Request, response: Response) -> bool:
    """Whether an answer comes from a project's HTTP cache, and no server was asked."""
    return "cached" in response.flags and REQUEST_HEAD_KEY not in request.meta


def http_exchange(request: Request, response: Response) -> HttpExchange:
    """Return what went over the wire beside the body."""
    head = request.meta.get(RESPONSE_HEAD_KEY) or _head(response)
    peer = str(response.ip_address or "")
    milliseconds = int(1000 * request.meta.get("download_latency", 0))
    facts = (("fetchTimeMs", str(milliseconds)), ("ipAddress", peer))
    return HttpExchange(head, request.meta.get(REQUEST_HEAD_KEY) or b"", facts)


def _answered(request: Request, response: Response, now: datetime) -> Observation:
    """Return the arrival of an answer: 304 to a conditional request shows that nothing changed."""
    trip, http, uid = context_of(request), http_exchange(request, response), uuid4().bytes
    final, time = final_url(request) or _found_at(request, response), trip.sent_at or now
    is_checked = "cached" in response.flags
    if response.status == NOT_MODIFIED or is_checked:
        is_expected = trip.is_conditional or is_checked
        outcome = Outcome.NOT_MODIFIED if is_expected else Outcome.UNREADABLE
        why = "" if is_expected else "304 to a request without conditions"
        return Observation(
            trip.url, "", time, uid, outcome=outcome, status=NOT_MODIFIED, final_url=final,
            exchange=http, hops=trip.hops, why=why,
        )  # fmt: skip
    snapshot = Snapshot(
        final or request.url, response.body, response.status, _pairs(response.headers)
    )
    return Observation(
        trip.url, "", time, uid, snapshot, status=response.status, final_url=final, exchange=http,
        hops=trip.hops,
    )  # fmt: skip


def _found_at(request: Request, response: Response) -> str | None:
    """Return where a page was found by a handler that follows redirects itself, as a browser's.

    >>> _found_at(Request("http://a.example/go"), Response("http://a.example/there"))
    'http://a.example/there'
    >>> _found_at(Request("http://a.example/[x]#y"), Response("http://a.example/%5Bx%5D")) is None
    True
    """
    if response.url == request.url:
        return None
    found = canonical_url(response.url)
    return None if found == canonical_url(request.url) else found


def _rough_outcome(response: Response) -> Outcome:
    """Return what an answer says of its host's health."""
    if response.status in BUSY_STATUSES:
        return Outcome.THROTTLED
    return Outcome.SERVER_ERROR if response.status >= SERVER_ERROR else Outcome.OK


def _pairs(headers: Headers) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        for value in values
    )


def _head(response: Response) -> bytes:
    """Return the head of an answer, written anew from what was read of it."""
    lines = [f"HTTP/1.1 {response.status} ".encode()]
    lines += [name + b": " + value for name, values in response.headers.items() for value in values]
    return b"\r\n".join([*lines, b"", b""])


def _text(headers: Headers, name: str) -> str:
    return (headers.get(name) or b"").decode("latin-1")
