"""HTTP responses of the simulated hosts, and their log of every request."""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from operator import attrgetter

from freshet.core.clock import Clock, to_epoch
from freshet.world.simulated_web import PageResponse, SimulatedWeb

ROBOTS_PATH = "/robots.txt"
SITEMAP_PATH = "/sitemap.xml"
RETRY_AFTER = "Retry-After"
SCRIPT_KIND = "script"
TEXT_HEADERS = (("Content-Type", "text/plain; charset=utf-8"),)
XML_HEADERS = (("Content-Type", "application/xml; charset=utf-8"),)

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class HostResponse:
    """An HTTP response."""

    status: int
    headers: Headers = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request as its host logged it; ``page`` is None if the path is not a page's.

    ``time`` is in epoch seconds; ``retry_after`` is the value of that header. ``shows_content``
    says whether the response contained the page's content, and ``version`` which version.
    """

    time: float
    host: int
    path: str
    status: int
    page: int | None = None
    version: int = 0
    shows_content: bool = False
    retry_after: float | None = None


class RequestLog:
    """All requests in order, and the requests for each page."""

    def __init__(self) -> None:
        self.requests: list[LoggedRequest] = []
        self._by_page: defaultdict[int, list[LoggedRequest]] = defaultdict(list)

    def add(self, request: LoggedRequest) -> None:
        """Add a request."""
        self.requests.append(request)
        if request.page is not None:
            self._by_page[request.page].append(request)

    def requests_for(self, page: int) -> Sequence[LoggedRequest]:
        """Return the requests for a page."""
        return self._by_page[page]

    def response_to(self, page: int, sent: float) -> LoggedRequest | None:
        """Return the logged request for a page that was sent at a moment."""
        requests = self._by_page[page]
        index = bisect_left(requests, sent, key=attrgetter("time"))
        return requests[index] if index < len(requests) else None

    def response_times(self, page: int, sent_times: Sequence[float]) -> list[float]:
        """Return when requests for a page were answered, given when they were sent, in order.

        Two requests may be sent before the first of them is answered; each has its own response.
        The time of sending stands for a response that was not logged.
        """
        requests = self._by_page[page]
        times, next_index = [], 0
        for sent in sent_times:
            index = max(next_index, bisect_left(requests, sent, key=attrgetter("time")))
            times.append(requests[index].time if index < len(requests) else sent)
            next_index = index + 1
        return times


class SimulatedHosts:
    """The hosts of a simulated web at the time of a clock; ``log`` holds every request."""

    def __init__(self, web: SimulatedWeb, clock: Clock, origins: Sequence[str]) -> None:
        self.log = RequestLog()
        self._web = web
        self._clock = clock
        self._origins = origins
        self._admitted_times: list[deque[float]] = [deque() for _ in web.hosts]

    def respond(
        self, host: int, method: str, path: str, headers: Mapping[str, str]
    ) -> HostResponse:
        """Respond to a request to a host; header names are in lower case."""
        now = to_epoch(self._clock.now())
        page = self._web.find_page(host, path)
        if method != "GET":
            return self._log_response(
                now, host, path, HostResponse(HTTPStatus.METHOD_NOT_ALLOWED, (("Allow", "GET"),))
            )
        if page is None:
            return self._log_response(now, host, path, self._other_response(host, path, now))
        retry_after = self._throttle_wait(host, now)
        if retry_after is not None:
            return self._throttled_response(now, page, retry_after)
        return self._page_response(now, page, headers)

    def _log_response(self, now: float, host: int, path: str, answer: HostResponse) -> HostResponse:
        self.log.add(LoggedRequest(now, host, path, answer.status))
        return answer

    def _other_response(self, host: int, path: str, now: float) -> HostResponse:
        """Return the response for a path that is not a page's."""
        if path == ROBOTS_PATH:
            return HostResponse(
                HTTPStatus.OK, TEXT_HEADERS, self._web.robots(host, self._origins).encode()
            )
        sitemap = self._web.sitemap(host, now, self._origins) if path == SITEMAP_PATH else None
        if sitemap is not None:
            return HostResponse(HTTPStatus.OK, XML_HEADERS, sitemap.encode())
        return HostResponse(HTTPStatus.NOT_FOUND, TEXT_HEADERS, b"Not found\n")

    def _throttle_wait(self, host: int, now: float) -> float | None:
        """Return the seconds that a throttled host asks to wait; None if it admits the request."""
        throttle = self._web.hosts[host].throttle
        if throttle is None:
            return None
        admitted = self._admitted_times[host]
        while admitted and admitted[0] <= now - throttle.seconds:
            admitted.popleft()
        if len(admitted) >= throttle.requests:
            return throttle.retry_after
        admitted.append(now)
        return None

    def _throttled_response(self, now: float, page: int, retry_after: float) -> HostResponse:
        spec = self._web.pages[page]
        self.log.add(
            LoggedRequest(
                now,
                spec.host,
                spec.path,
                HTTPStatus.TOO_MANY_REQUESTS,
                page,
                retry_after=retry_after,
            )
        )
        return HostResponse(
            HTTPStatus.TOO_MANY_REQUESTS,
            (*TEXT_HEADERS, (RETRY_AFTER, f"{retry_after:.0f}")),
            b"Too many requests\n",
        )

    def _page_response(self, now: float, page: int, headers: Mapping[str, str]) -> HostResponse:
        spec = self._web.pages[page]
        response = self._web.render(page, now, len(self.log.requests), self._origins)
        is_unmodified = not response.is_error and is_unchanged(response, headers)
        status = HTTPStatus.NOT_MODIFIED if is_unmodified else response.status
        retry_after = dict(response.headers).get(RETRY_AFTER)
        self.log.add(
            LoggedRequest(
                now, spec.host, spec.path, status, page, response.version,
                shows_content=not (is_unmodified or response.is_error or spec.kind == SCRIPT_KIND),
                retry_after=float(retry_after) if retry_after else None,
            )
        )  # fmt: skip
        return HostResponse(status, response.headers, b"" if is_unmodified else response.body)


def is_unchanged(response: PageResponse, headers: Mapping[str, str]) -> bool:
    """Return whether the client's copy is current, by RFC 9110, section 13.1."""
    tags = headers.get("if-none-match")
    if tags is not None:
        return response.etag is not None and _strip_weak(response.etag) in map(
            _strip_weak, tags.split(",")
        )
    since = headers.get("if-modified-since")
    if since is None or response.last_modified is None:
        return False
    return response.last_modified <= to_epoch(parsedate_to_datetime(since))


def _strip_weak(tag: str) -> str:
    """Return an entity tag for the weak comparison."""
    return tag.strip().removeprefix("W/")
