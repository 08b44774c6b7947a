"""Answers and failures become arrivals, with what went over the wire, and go to the desk."""

import logging
from datetime import datetime
from uuid import uuid4

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.headers import Headers

from freshet.archive.importers.base import Arrival, Http
from freshet.core.budget import day_of
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.errors import StorageError
from freshet.core.types import Outcome, Snapshot
from freshet.crawl.fetch_job import Fetched
from freshet.fetch.network.connections import HEAD, SENT
from freshet.fetch.network.failures import CrawlEnded, DayOver, Refused, is_known, outcome_of
from freshet.fetch.network.routes import plain_proxy
from freshet.fetch.politeness.host_closing import HostClosing
from freshet.fetch.politeness.host_schedule import BUSY, HOST_FAULTS, retry_after
from freshet.fetch.politeness.robots import OF_THE_ROUTE, ROBOTS
from freshet.fetch.request_context import final_url, host_of, repeated, trip_of, unanswered
from freshet.fetch.runtime import Parts, parts_of
from freshet.view.url import canonical

NOT_MODIFIED = 304
SERVER_ERROR = 500

log = logging.getLogger(__name__)


class Record:
    """A downloader middleware, next to the downloader, that lets no visit pass unrecorded."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Record":
        """Make it for a crawler."""
        return cls(parts_of(crawler))

    def process_request(self, request: Request) -> None:
        """Note when a visit's first request goes out."""
        trip = trip_of(request)
        trip.sent = trip.sent or self._parts.clock.now()
        trip.is_told = False

    def process_response(self, request: Request, response: Response) -> Response:
        """Hand an answer over; of a robots.txt only the host's clock hears."""
        if is_cached(request, response):
            self._pass_over(request)
            return response
        if is_visit(request):
            self._hand_over(request, _answered(request, response, self._parts.clock.now()))
        trip_of(request).is_told = True
        self._hear(request, _rough_outcome(response), f"status {response.status}", response)
        return response

    def process_exception(self, request: Request, exception: BaseException) -> Request | None:
        """Hand a failure over, unless an answer was; whoever made the request still hears of it.

        A request of a spider that a day's end has overtaken is queued again.
        """
        trip = trip_of(request)
        if trip.is_told or isinstance(exception, StorageError):
            return None
        if isinstance(exception, CrawlEnded):
            trip.is_told = True
            self._parts.give_up(request)
            return None
        if isinstance(exception, DayOver):
            return self._put_off(request)
        self._fail(request, exception)
        return None

    def _put_off(self, request: Request) -> Request | None:
        """See to a request that did not go out before its day had ended."""
        trip = trip_of(request)
        trip.is_told = True
        self._parts.leave(request, was_sent=False)
        if trip.errand is None:
            return repeated(request, "")
        self._parts.pay_anew(request)
        return None

    def _fail(self, request: Request, exception: BaseException) -> None:
        trip = trip_of(request)
        outcome, why = outcome_of(exception)
        if not is_known(exception):
            log.warning("%s: %s", request.url, why, exc_info=exception)
            outcome = Outcome.UNREADABLE if SENT in request.meta else outcome
        was_answered = bool(trip.hops) or SENT in request.meta
        went_out = was_answered or not isinstance(exception, IgnoreRequest)
        if isinstance(exception, Refused) and self._parts.is_guest and ROBOTS not in request.meta:
            self._tell_refused(request, why)
        if is_visit(request):
            arrival = unanswered(request, outcome, why, self._parts.clock.now())
            self._hand_over(request, arrival, asked=went_out)
        elif not went_out:
            self._pass_over(request)
        trip.is_told = True
        if not isinstance(exception, IgnoreRequest) and outcome not in OF_THE_ROUTE:
            self._hear(request, outcome, why)
        self._parts.leave(request, was_sent=went_out)

    def _hand_over(self, request: Request, arrival: Arrival, *, asked: bool = True) -> None:
        trip = trip_of(request)
        trip.is_told = True
        page = trip.errand.page if trip.errand else 0
        self._parts.desk.finished(Fetched(arrival, page, trip.day, asked))

    def _pass_over(self, request: Request) -> None:
        """Let a request that did not go out, and is no visit, cost nothing."""
        trip = trip_of(request)
        trip.is_told = True
        if trip.day == day_of(self._parts.clock.now()):
            self._parts.later(self._parts.desk.return_requests(1))
        self._parts.leave(request, was_sent=False)

    def _tell_refused(self, request: Request, why: str) -> None:
        """Log an address that the guard refused: Scrapy would pass over it in silence."""
        host = host_of(request)
        level = logging.DEBUG if host in self._parts.refused else logging.WARNING
        self._parts.refused.add(host)
        log.log(level, "Refused %s: %s", request, why)

    def _hear(
        self, request: Request, outcome: Outcome, why: str, response: Response | None = None
    ) -> None:
        """Tell the host's clock how it went; a host that closes sends its queue back.

        In someone's own crawl failures are the spider's affair, and none of them makes it wait,
        unless a host asks to be left alone.
        """
        now = self._parts.clock.now()
        if self._parts.is_guest and outcome in HOST_FAULTS - {Outcome.THROTTLED}:
            return
        wait = None
        if response is not None and outcome in HOST_FAULTS:
            wait = retry_after(_text(response.headers, "Retry-After"), now)
        host, proxy = host_of(request), plain_proxy(request)
        if proxy and not self._parts.is_guest:
            # The proxy may have said that itself: it is no reason to leave the host alone.
            self._parts.proxied.through(proxy).hear(host, outcome, wait, to_epoch(now))
            self._parts.proxied.forget_unused(to_epoch(now))
        elif self._parts.hosts.hear(host, outcome, wait, to_epoch(now)):
            if self._parts.is_guest:
                seconds = self._parts.hosts.closed_until(host) - to_epoch(now)
                log.warning("%s asks to be left alone: it is, for %.0f s", host, seconds)
            self._parts.send_back(host)
            failures, until = self._parts.hosts.back_off(host)
            why += " for robots.txt" if ROBOTS in request.meta else ""
            self._parts.desk.host_closed(HostClosing(host, now, from_epoch(until), failures, why))


def is_visit(request: Request) -> bool:
    """Whether a request is for a page: forms and HEAD are not, and robots.txt is kept elsewhere."""
    return request.method == "GET" and ROBOTS not in request.meta


def is_cached(request: Request, response: Response) -> bool:
    """Whether an answer comes from a project's HTTP cache, and no server was asked."""
    return "cached" in response.flags and SENT not in request.meta


def http_of(request: Request, response: Response) -> Http:
    """Return what went over the wire beside the body."""
    head = request.meta.get(HEAD) or _head(response)
    peer = str(response.ip_address or "")
    milliseconds = int(1000 * request.meta.get("download_latency", 0))
    facts = (("fetchTimeMs", str(milliseconds)), ("ipAddress", peer))
    return Http(head, request.meta.get(SENT) or b"", facts)


def _answered(request: Request, response: Response, now: datetime) -> Arrival:
    """Return the arrival of an answer: 304 to a conditional request shows that nothing changed."""
    trip, http, uid = trip_of(request), http_of(request, response), uuid4().bytes
    final, time = final_url(request) or _found_at(request, response), trip.sent or now
    is_checked = "cached" in response.flags
    if response.status == NOT_MODIFIED or is_checked:
        is_expected = trip.is_conditional or is_checked
        outcome = Outcome.NOT_MODIFIED if is_expected else Outcome.UNREADABLE
        why = "" if is_expected else "304 to a request without conditions"
        return Arrival(
            trip.url, "", time, uid, outcome=outcome, status=NOT_MODIFIED, final_url=final,
            http=http, hops=trip.hops, why=why,
        )  # fmt: skip
    snapshot = Snapshot(
        final or request.url, response.body, response.status, _pairs(response.headers)
    )
    return Arrival(
        trip.url, "", time, uid, snapshot, status=response.status, final_url=final, http=http,
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
    found = canonical(response.url)
    return None if found == canonical(request.url) else found


def _rough_outcome(response: Response) -> Outcome:
    """Return what an answer says of its host's health."""
    if response.status in BUSY:
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
