"""What the hosts of the living web say to a request, and their own log of every one of them."""

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
    """What goes back over the wire."""

    status: int
    headers: Headers = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request as its host saw it; ``page`` is None where the address is no page's.

    ``time`` is in epoch seconds, ``retry_after`` what Retry-After said. ``shows_content`` says whether the answer
    held the page's content, and ``version`` which.
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
    """Every request that came, in order, and for each page those that asked for it."""

    def __init__(self) -> None:
        self.requests: list[LoggedRequest] = []
        self._of_pages: defaultdict[int, list[LoggedRequest]] = defaultdict(list)

    def add(self, asked: LoggedRequest) -> None:
        """Add a request."""
        self.requests.append(asked)
        if asked.page is not None:
            self._of_pages[asked.page].append(asked)

    def requests_for(self, page: int) -> Sequence[LoggedRequest]:
        """Return the requests for a page."""
        return self._of_pages[page]

    def response_to(self, page: int, sent: float) -> LoggedRequest | None:
        """Return how a request for a page that went out at a moment was answered."""
        asked = self._of_pages[page]
        place = bisect_left(asked, sent, key=attrgetter("time"))
        return asked[place] if place < len(asked) else None


class SimulatedHosts:
    """The hosts of a living web at the time of a clock; ``log`` has every request."""

    def __init__(self, web: SimulatedWeb, clock: Clock, origins: Sequence[str]) -> None:
        self.log = RequestLog()
        self._web = web
        self._clock = clock
        self._origins = origins
        self._admitted: list[deque[float]] = [deque() for _ in web.hosts]

    def respond(
        self, host: int, method: str, path: str, headers: Mapping[str, str]
    ) -> HostResponse:
        """Answer a request to a host; header names are in lower case."""
        now = to_epoch(self._clock.now())
        page = self._web.find_page(host, path)
        if method != "GET":
            return self._say(
                now, host, path, HostResponse(HTTPStatus.METHOD_NOT_ALLOWED, (("Allow", "GET"),))
            )
        if page is None:
            return self._say(now, host, path, self._other(host, path, now))
        wait = self._impatience(host, now)
        if wait is not None:
            return self._refuse(now, page, wait)
        return self._show(now, page, headers)

    def _say(self, now: float, host: int, path: str, answer: HostResponse) -> HostResponse:
        self.log.add(LoggedRequest(now, host, path, answer.status))
        return answer

    def _other(self, host: int, path: str, now: float) -> HostResponse:
        """Answer for an address that is no page's."""
        if path == ROBOTS_PATH:
            return HostResponse(
                HTTPStatus.OK, TEXT_HEADERS, self._web.robots(host, self._origins).encode()
            )
        sitemap = self._web.sitemap(host, now, self._origins) if path == SITEMAP_PATH else None
        if sitemap is not None:
            return HostResponse(HTTPStatus.OK, XML_HEADERS, sitemap.encode())
        return HostResponse(HTTPStatus.NOT_FOUND, TEXT_HEADERS, b"Not found\n")

    def _impatience(self, host: int, now: float) -> float | None:
        """Return how long a host wants to be left alone; None where it lets a request in."""
        throttle = self._web.hosts[host].throttle
        if throttle is None:
            return None
        admitted = self._admitted[host]
        while admitted and admitted[0] <= now - throttle.seconds:
            admitted.popleft()
        if len(admitted) >= throttle.requests:
            return throttle.retry_after
        admitted.append(now)
        return None

    def _refuse(self, now: float, page: int, wait: float) -> HostResponse:
        asked = self._web.pages[page]
        self.log.add(
            LoggedRequest(
                now, asked.host, asked.path, HTTPStatus.TOO_MANY_REQUESTS, page, retry_after=wait
            )
        )
        return HostResponse(
            HTTPStatus.TOO_MANY_REQUESTS,
            (*TEXT_HEADERS, (RETRY_AFTER, f"{wait:.0f}")),
            b"Too many requests\n",
        )

    def _show(self, now: float, page: int, headers: Mapping[str, str]) -> HostResponse:
        asked = self._web.pages[page]
        made = self._web.render(page, now, len(self.log.requests), self._origins)
        unchanged = not made.is_error and is_unchanged(made, headers)
        status = HTTPStatus.NOT_MODIFIED if unchanged else made.status
        wait = dict(made.headers).get(RETRY_AFTER)
        self.log.add(
            LoggedRequest(
                now, asked.host, asked.path, status, page, made.version,
                shows_content=not (unchanged or made.is_error or asked.kind == SCRIPT_KIND),
                retry_after=float(wait) if wait else None,
            )
        )  # fmt: skip
        return HostResponse(status, made.headers, b"" if unchanged else made.body)


def is_unchanged(made: PageResponse, headers: Mapping[str, str]) -> bool:
    """Whether a page is still what the one who asks has, by RFC 9110, section 13.1."""
    tags = headers.get("if-none-match")
    if tags is not None:
        return made.etag is not None and _bare(made.etag) in map(_bare, tags.split(","))
    since = headers.get("if-modified-since")
    if since is None or made.last_modified is None:
        return False
    return made.last_modified <= to_epoch(parsedate_to_datetime(since))


def _bare(tag: str) -> str:
    """Return an entity tag for the weak comparison."""
    return tag.strip().removeprefix("W/")
