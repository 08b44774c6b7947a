"""Turns answers and failures into observations and hands them to the recording loop."""

import logging
from dataclasses import replace
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
from freshet.fetch.network.connections import REQUEST_HEAD_KEY, RESPONSE_HEAD_KEY
from freshet.fetch.network.failures import (
    ROUTE_FAILURES,
    AddressRefusedError,
    BudgetDayOverError,
    CrawlEndedError,
    classify_error,
    is_expected_error,
)
from freshet.fetch.network.routes import plain_proxy
from freshet.fetch.politeness.host_closing import HostClosing
from freshet.fetch.politeness.host_schedule import BUSY_STATUSES, HOST_FAILURES, parse_retry_after
from freshet.fetch.request_context import (
    ROBOTS_KEY,
    context_of,
    final_url,
    observation_without_answer,
    retried_request,
)
from freshet.fetch.runtime import CrawlRuntime, runtime_of
from freshet.view.url import canonical_url

NOT_MODIFIED = 304
SERVER_ERROR = 500

log = logging.getLogger(__name__)


class RecordMiddleware:
    """The downloader middleware next to the downloader; it records every visit."""

    def __init__(self, runtime: CrawlRuntime) -> None:
        self._environment = runtime.environment
        self._writer = runtime.writer
        self._requests = runtime.requests

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "RecordMiddleware":
        """Create the middleware of a crawler."""
        return cls(runtime_of(crawler))

    def process_request(self, request: Request) -> None:
        """Note when a visit's first request is sent."""
        context = context_of(request)
        context.sent_at = context.sent_at or self._environment.clock.now()
        context.is_recorded = False

    def process_response(self, request: Request, response: Response) -> Response:
        """Record an answer; the answer to a robots.txt only counts for the host's schedule."""
        if is_cached(request, response):
            self._return_booking(request)
            return response
        if is_visit(request):
            observation = _observe_answer(request, response, self._environment.clock.now())
            self._requests.record(request, observation)
        context_of(request).is_recorded = True
        retry_after = _header_text(response.headers, "Retry-After")
        self._note_outcome(
            request, _host_outcome(response), f"status {response.status}", retry_after
        )
        return response

    def process_exception(self, request: Request, exception: BaseException) -> Request | None:
        """Record a failure, unless an answer was recorded; the caller still receives the failure.

        A spider's request whose budget day has ended is queued again.
        """
        context = context_of(request)
        if context.is_recorded or isinstance(exception, StorageError):
            return None
        if isinstance(exception, CrawlEndedError):
            context.is_recorded = True
            self._requests.abandon(request)
            return None
        if isinstance(exception, BudgetDayOverError):
            context.is_recorded = True
            self._requests.end_turn(request, was_sent=False)
            if context.job is None:
                return retried_request(request, "")
            self._requests.rebook(request)
            return None
        self._record_failure(request, exception)
        return None

    def _record_failure(self, request: Request, exception: BaseException) -> None:
        context = context_of(request)
        outcome, why = classify_error(exception)
        if not is_expected_error(exception):
            log.warning("%s: %s", request.url, why, exc_info=exception)
            outcome = Outcome.UNREADABLE if REQUEST_HEAD_KEY in request.meta else outcome
        was_answered = bool(context.hops) or REQUEST_HEAD_KEY in request.meta
        was_sent = was_answered or not isinstance(exception, IgnoreRequest)
        is_refused = isinstance(exception, AddressRefusedError)
        if is_refused and self._environment.is_embedded and ROBOTS_KEY not in request.meta:
            self._log_refusal(request, why)
        if is_visit(request):
            now = self._environment.clock.now()
            observation = observation_without_answer(request, outcome, why, now)
            self._requests.record(request, observation, was_sent=was_sent)
        elif not was_sent:
            self._return_booking(request)
        context.is_recorded = True
        if not isinstance(exception, IgnoreRequest) and outcome not in ROUTE_FAILURES:
            self._note_outcome(request, outcome, why)
        self._requests.end_turn(request, was_sent=was_sent)

    def _return_booking(self, request: Request) -> None:
        """End a request that was not sent and is not a visit; it costs no budget."""
        context = context_of(request)
        context.is_recorded = True
        if context.budget_day == utc_day(self._environment.clock.now()):
            self._environment.run_in_background(self._writer.return_requests(1))
        self._requests.end_turn(request, was_sent=False)

    def _log_refusal(self, request: Request, why: str) -> None:
        """Log an address that the guard refused: Scrapy itself would log nothing."""
        host = context_of(request).host
        level = logging.DEBUG if host in self._environment.refused_hosts else logging.WARNING
        self._environment.refused_hosts.add(host)
        log.log(level, "Refused %s: %s", request, why)

    def _note_outcome(
        self, request: Request, outcome: Outcome, why: str, retry_after: str = ""
    ) -> None:
        """Note an outcome in the host's schedule; a host that closes gets its jobs returned.

        In someone's own Scrapy project failures are the spider's affair: only a host that asks for
        a pause is closed.
        """
        environment, now = self._environment, self._environment.clock.now()
        if environment.is_embedded and outcome in HOST_FAILURES - {Outcome.THROTTLED}:
            return
        pause = parse_retry_after(retry_after, now) if outcome in HOST_FAILURES else None
        host, proxy = context_of(request).host, plain_proxy(request)
        if proxy and not environment.is_embedded:
            # The proxy itself may have answered, so only this proxy's schedule is changed.
            proxy_schedule = environment.proxy_schedules.for_proxy(proxy)
            proxy_schedule.note_outcome(host, outcome, pause, to_epoch(now))
            environment.proxy_schedules.forget_unused(to_epoch(now))
        elif environment.host_schedule.note_outcome(host, outcome, pause, to_epoch(now)):
            if environment.is_embedded:
                seconds = environment.host_schedule.closed_until(host) - to_epoch(now)
                log.warning("%s asked for a pause; no requests for %.0f s", host, seconds)
            self._requests.return_host_jobs(host)
            failures, until = environment.host_schedule.failures_and_closing(host)
            why += " for robots.txt" if ROBOTS_KEY in request.meta else ""
            closing = HostClosing(host, now, from_epoch(until), failures, why)
            self._writer.add_host_closing(closing)


def is_visit(request: Request) -> bool:
    """Whether a request is a visit of a page: forms, HEAD and robots.txt are not."""
    return request.method == "GET" and ROBOTS_KEY not in request.meta


def is_cached(request: Request, response: Response) -> bool:
    """Whether an answer comes from a project's HTTP cache, so that no server was asked."""
    return "cached" in response.flags and REQUEST_HEAD_KEY not in request.meta


def http_exchange(request: Request, response: Response) -> HttpExchange:
    """Return the heads of a request and its answer as they were sent."""
    head = request.meta.get(RESPONSE_HEAD_KEY) or _rebuild_head(response)
    peer = str(response.ip_address or "")
    milliseconds = int(1000 * request.meta.get("download_latency", 0))
    metadata = (("fetchTimeMs", str(milliseconds)), ("ipAddress", peer))
    return HttpExchange(head, request.meta.get(REQUEST_HEAD_KEY) or b"", metadata)


def _observe_answer(request: Request, response: Response, now: datetime) -> Observation:
    """Return the observation of an answer; a 304 to a conditional request means no change."""
    context = context_of(request)
    is_cache_check = "cached" in response.flags
    observation = Observation(
        context.url, "", context.sent_at or now, uuid4().bytes, status=response.status,
        final_url=final_url(request) or _url_after_handler(request, response),
        exchange=http_exchange(request, response), hops=context.hops,
    )  # fmt: skip
    if response.status == NOT_MODIFIED or is_cache_check:
        is_expected = context.is_conditional or is_cache_check
        outcome = Outcome.NOT_MODIFIED if is_expected else Outcome.UNREADABLE
        why = "" if is_expected else "304 to a request without conditions"
        return replace(observation, outcome=outcome, status=NOT_MODIFIED, why=why)
    snapshot_url = observation.final_url or request.url
    headers = _header_pairs(response.headers)
    snapshot = Snapshot(snapshot_url, response.body, response.status, headers)
    return replace(observation, snapshot=snapshot)


def _url_after_handler(request: Request, response: Response) -> str | None:
    """Return the final URL if the download handler followed redirects itself, as a browser does.

    >>> _url_after_handler(Request("http://a.example/go"), Response("http://a.example/there"))
    'http://a.example/there'
    >>> request = Request("http://a.example/[x]#y")
    >>> _url_after_handler(request, Response("http://a.example/%5Bx%5D")) is None
    True
    """
    if response.url == request.url:
        return None
    final = canonical_url(response.url)
    return None if final == canonical_url(request.url) else final


def _host_outcome(response: Response) -> Outcome:
    """Return the outcome that an answer has for its host's schedule."""
    if response.status in BUSY_STATUSES:
        return Outcome.THROTTLED
    return Outcome.SERVER_ERROR if response.status >= SERVER_ERROR else Outcome.OK


def _header_pairs(headers: Headers) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        for value in values
    )


def _rebuild_head(response: Response) -> bytes:
    """Return the head of an answer, rebuilt from its status and headers."""
    lines = [f"HTTP/1.1 {response.status} ".encode()]
    lines += [name + b": " + value for name, values in response.headers.items() for value in values]
    return b"\r\n".join([*lines, b"", b""])


def _header_text(headers: Headers, name: str) -> str:
    return (headers.get(name) or b"").decode("latin-1")
