"""Serves recorded pages at the time of a clock: a host for each site, with entity tags."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from experiments.wild.page_history import PageHistory
from experiments.wild.replay_score import ServedRequest
from freshet.core.clock import to_epoch
from freshet.demo.clock import DeferredClock
from freshet.demo.hosts import ROBOTS_PATH, TEXT_HEADERS, HostResponse

ROBOTS = b"User-agent: *\nAllow: /\n"
MARKDOWN, HTML = "text/markdown; charset=utf-8", "text/html; charset=utf-8"


class ReplayHosts:
    """The hosts of recorded pages; ``requests`` logs those for pages, the first starts the clock.

    ``robots_requests`` counts the requests for robots.txt.
    """

    def __init__(self, histories: Sequence[PageHistory], clock: DeferredClock) -> None:
        self.sites = sorted({history.site for history in histories})
        self.requests: list[ServedRequest] = []
        self.robots_requests = 0
        self._histories = histories
        self._clock = clock
        self.paths = [page_path(history, page) for page, history in enumerate(histories)]
        self.hosts = [self.sites.index(history.site) for history in histories]
        self._pages = {
            (host, path): page
            for page, (host, path) in enumerate(zip(self.hosts, self.paths, strict=True))
        }
        self._entity_tags = [
            [f'"{sha256(body).hexdigest()[:16]}"' for body in history.bodies]
            for history in histories
        ]

    def respond(
        self, host: int, method: str, path: str, headers: Mapping[str, str]
    ) -> HostResponse:
        """Respond to a request to a host; header names are in lower case."""
        if path == ROBOTS_PATH:
            self.robots_requests += 1
            return HostResponse(HTTPStatus.OK, TEXT_HEADERS, ROBOTS)
        page = self._pages.get((host, path))
        if page is None or method != "GET":
            return HostResponse(HTTPStatus.NOT_FOUND, TEXT_HEADERS, b"Not found\n")
        self._clock.begin()
        return self._page_response(page, to_epoch(self._clock.now()), headers)

    def _page_response(self, page: int, now: float, headers: Mapping[str, str]) -> HostResponse:
        history = self._histories[page]
        version = history.version_at(now)
        entity_tag = self._entity_tags[page][version]
        is_unmodified = headers.get("if-none-match") == entity_tag
        status = HTTPStatus.NOT_MODIFIED if is_unmodified else HTTPStatus.OK
        self.requests.append(ServedRequest(now, page, version, int(status)))
        response_headers = (
            ("ETag", entity_tag),
            ("Content-Type", MARKDOWN if history.is_markdown else HTML),
        )
        return HostResponse(
            status, response_headers, b"" if is_unmodified else history.bodies[version]
        )


def page_path(history: PageHistory, page: int) -> str:
    """Return the path at which a page is served; the page's number makes it unique.

    >>> page_path(PageHistory("docs", "https://example.org/a b", (), ()), 7)
    '/example.org/a%20b?i=7'
    """
    name = history.name if "://" in history.name else f"http://x/{history.name}"
    address = urlsplit(name)
    return f"/{address.netloc}{quote(address.path) or '/'}?i={page}"
