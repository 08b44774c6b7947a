"""What the hosts of the living web say to a request, and their own log of every one of them."""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from operator import attrgetter

from freshet.core.clock import Clock, to_epoch
from freshet.world.simulated_web import LivingWeb, Rendered

ROBOTS = "/robots.txt"
SITEMAP = "/sitemap.xml"
RETRY_AFTER = "Retry-After"
NEEDS_SCRIPTS = "script"
TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
XML = (("Content-Type", "application/xml; charset=utf-8"),)

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back over the wire."""

    status: int
    headers: Headers = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as its host saw it; ``page`` is None where the address is no page's.

    ``time`` is in epoch seconds, ``wait`` what Retry-After said. ``shows`` says whether the answer
    held the page's content, and ``version`` which.
    """

    time: float
    host: int
    path: str
    status: int
    page: int | None = None
    version: int = 0
    shows: bool = False
    wait: float | None = None


class Log:
    """Every request that came, in order, and for each page those that asked for it."""

    def __init__(self) -> None:
        self.requests: list[Asked] = []
        self._of_pages: defaultdict[int, list[Asked]] = defaultdict(list)

    def note(self, asked: Asked) -> None:
        """Add a request."""
        self.requests.append(asked)
        if asked.page is not None:
            self._of_pages[asked.page].append(asked)

    def of_page(self, page: int) -> Sequence[Asked]:
        """Return the requests for a page."""
        return self._of_pages[page]

    def answer_to(self, page: int, sent: float) -> Asked | None:
        """Return how a request for a page that went out at a moment was answered."""
        asked = self._of_pages[page]
        place = bisect_left(asked, sent, key=attrgetter("time"))
        return asked[place] if place < len(asked) else None


class Hosts:
    """The hosts of a living web at the time of a clock; ``log`` has every request."""

    def __init__(self, web: LivingWeb, clock: Clock, origins: Sequence[str]) -> None:
        self.log = Log()
        self._web = web
        self._clock = clock
        self._origins = origins
        self._admitted: list[deque[float]] = [deque() for _ in web.hosts]

    def answer(self, host: int, method: str, path: str, headers: Mapping[str, str]) -> Answer:
        """Answer a request to a host; header names are in lower case."""
        now = to_epoch(self._clock.now())
        page = self._web.find(host, path)
        if method != "GET":
            return self._say(
                now, host, path, Answer(HTTPStatus.METHOD_NOT_ALLOWED, (("Allow", "GET"),))
            )
        if page is None:
            return self._say(now, host, path, self._other(host, path, now))
        wait = self._impatience(host, now)
        if wait is not None:
            return self._refuse(now, page, wait)
        return self._show(now, page, headers)

    def _say(self, now: float, host: int, path: str, answer: Answer) -> Answer:
        self.log.note(Asked(now, host, path, answer.status))
        return answer

    def _other(self, host: int, path: str, now: float) -> Answer:
        """Answer for an address that is no page's."""
        if path == ROBOTS:
            return Answer(HTTPStatus.OK, TEXT, self._web.robots(host, self._origins).encode())
        sitemap = self._web.sitemap(host, now, self._origins) if path == SITEMAP else None
        if sitemap is not None:
            return Answer(HTTPStatus.OK, XML, sitemap.encode())
        return Answer(HTTPStatus.NOT_FOUND, TEXT, b"Not found\n")

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

    def _refuse(self, now: float, page: int, wait: float) -> Answer:
        asked = self._web.pages[page]
        self.log.note(
            Asked(now, asked.host, asked.path, HTTPStatus.TOO_MANY_REQUESTS, page, wait=wait)
        )
        return Answer(
            HTTPStatus.TOO_MANY_REQUESTS,
            (*TEXT, (RETRY_AFTER, f"{wait:.0f}")),
            b"Too many requests\n",
        )

    def _show(self, now: float, page: int, headers: Mapping[str, str]) -> Answer:
        asked = self._web.pages[page]
        made = self._web.render(page, now, len(self.log.requests), self._origins)
        unchanged = not made.is_error and is_unchanged(made, headers)
        status = HTTPStatus.NOT_MODIFIED if unchanged else made.status
        wait = dict(made.headers).get(RETRY_AFTER)
        self.log.note(
            Asked(
                now, asked.host, asked.path, status, page, made.version,
                shows=not (unchanged or made.is_error or asked.kind == NEEDS_SCRIPTS),
                wait=float(wait) if wait else None,
            )
        )  # fmt: skip
        return Answer(status, made.headers, b"" if unchanged else made.body)


def is_unchanged(made: Rendered, headers: Mapping[str, str]) -> bool:
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
