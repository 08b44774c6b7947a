"""robots.txt is asked for before a host's pages, remembered for a day, and obeyed (RFC 9309).

An answer in the 200s is followed; one in the 400s, or a sixth redirect, means that there are no
rules. A host whose robots.txt cannot be had is closed: it is asked again after as long as that has
lasted, and opened when it has lasted for 30 days, as section 2.3.1.4 allows. 429 is no answer, as
it says nothing of the file. What comes through a proxy over plain http holds for that proxy alone.

A request for robots.txt takes its host's turn as any other. The first goes in place of the page
that has the turn; a redirect waits for the turn of the host that it leads to, and meanwhile no page
that waits for the answer holds a turn, so that hosts which redirect to each other do not wait in a
circle.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from freshet.core.clock import Clock, to_epoch
from freshet.core.errors import BadInputError
from freshet.core.types import Outcome
from freshet.crawl.hosts import host_names
from freshet.fetch.network.failures import (
    AddressRefusedError,
    CrawlEndedError,
    RobotsDisallowedError,
    classify_error,
)
from freshet.fetch.network.redirect_target import redirect_target
from freshet.fetch.network.routes import RequestRoute, plain_proxy, verifies_by_default
from freshet.fetch.politeness.robots_rules import (
    MAX_ROBOTS_BYTES,
    ParsedRules,
    decode_robots,
    select_rules,
)
from freshet.fetch.request_context import context_of
from freshet.view.content_coding import decode_content
from freshet.view.url import absolute_url, canonical_url, page_address

PRODUCT_TOKEN = "Freshet"
# What kept a page's own way from reaching the host, or its request from being made at all; another
# page's way may be open.
ROUTE_FAILURES = frozenset({Outcome.UNTRUSTED, Outcome.PROXY_ERROR, Outcome.REFUSED})
ROBOTS_KEY = "freshet_robots"
MAX_REDIRECTS = 5
TOO_MANY_REQUESTS = 429
FIRST_RETRY_SECONDS = 300.0
OPEN_AFTER_SECONDS = 30 * 86_400.0
HOUR_SECONDS = 3_600.0
MAX_DECODED_BYTES = 8 * MAX_ROBOTS_BYTES


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """What a host's robots.txt said, when, and until when that holds; times are epoch seconds.

    ``rules`` are those for us alone. ``status`` is None where no answer came. While the file cannot
    be had, ``failing_since`` is set and ``why`` says what comes instead. ``allow_unverified`` says that
    the server's certificate was not checked: pages that want it checked do not go by that.
    """

    fetched: float
    status: int | None
    rules: str
    expires: float
    failing_since: float | None = None
    why: str = ""
    unverified: bool = False

    @property
    def is_closed(self) -> bool:
        """Whether nothing may be fetched because it is not known what may."""
        return (
            self.failing_since is not None
            and self.fetched - self.failing_since < OPEN_AFTER_SECONDS
        )

    def is_valid(self, now: float, *, allow_unverified: bool = True) -> bool:
        """Whether it can still be gone by; a clock that was set back makes it doubtful."""
        return self.fetched <= now < self.expires and (allow_unverified or not self.unverified)


class RobotsHosts(Protocol):
    """What is remembered of hosts."""

    def add_page(self, host: str) -> None:
        """Note that a host has pages, so that it is not forgotten."""
        ...

    def open_from(self, host: str, now: float) -> float:
        """Return the time from which a host may be asked."""
        ...

    def robots(self, host: str) -> RobotsRecord | None:
        """Return what is remembered of a host's robots.txt."""
        ...

    def set_robots(self, host: str, record: RobotsRecord) -> None:
        """Remember a host's robots.txt."""
        ...

    def set_delay(self, host: str, seconds: float | None) -> None:
        """Take over a host's Crawl-delay."""
        ...

    def start_delay(self, host: str, now: float) -> None:
        """Let a host's delay run from a time on."""
        ...


@dataclass(frozen=True, slots=True)
class RobotsCrawl:
    """What is needed of a crawl: its memory and clock, and how it sends, counts and gives turns.

    ``hand_over`` lets the second request go in place of the first, which has its host's turn;
    ``leave`` ends a turn that was not used; ``asking`` holds back the pages of a host. ``through``
    returns the memory of what came through a proxy over plain http. ``verifies`` says whether
    certificates are verified where a request does not say.
    """

    hosts: RobotsHosts
    clock: Clock
    robots_hours: float
    download: Callable[[Request], Awaitable[Response]]
    count: Callable[[int], None]
    hand_over: Callable[[Request, Request], None]
    leave: Callable[[Request], None]
    asking: Callable[[str], AbstractContextManager[None]]
    through: Callable[[str], RobotsHosts]
    token: str = PRODUCT_TOKEN
    verifies: bool = True

    def now(self) -> float:
        """Return the time in epoch seconds."""
        return to_epoch(self.clock.now())


class RobotsMiddleware:
    """A downloader middleware that lets no page pass which its host's robots.txt closes."""

    def __init__(self, crawl: RobotsCrawl) -> None:
        self._crawl = crawl
        self._rulebook = ParsedRules()
        self._asking: dict[tuple[str, RequestRoute], asyncio.Task[RobotsRecord]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "RobotsMiddleware":
        """Make it for a crawler, with the parts that it has."""
        parts = crawler.freshet  # type: ignore[attr-defined]
        robots = cls(
            RobotsCrawl(
                hosts=parts.host_schedule,
                clock=parts.clock,
                robots_hours=parts.settings.politeness.robots_hours,
                download=partial(_download, crawler),
                count=parts.recording_loop.book_unbudgeted,
                hand_over=parts.pass_turn,
                leave=partial(parts.end_turn, was_sent=False),
                asking=parts.awaiting_robots,
                through=parts.proxy_schedules.for_proxy,
                token=crawler.settings.get("ROBOTSTXT_USER_AGENT") or PRODUCT_TOKEN,
                verifies=verifies_by_default(crawler.settings),
            )
        )
        crawler.signals.connect(robots.limit_size, signals.bytes_received)
        return robots

    async def process_request(self, request: Request) -> Request | None:
        """Let a request pass, or raise Disallowed; if its host was asked first, it waits again."""
        if ROBOTS_KEY in request.meta or request.meta.get("dont_obey_robotstxt"):
            return None
        url = canonical_url(request.url) or request.url
        route = RequestRoute.of(request, verifies=self._crawl.verifies)
        self._require_open(request, url)
        record = self._known(request, url, route)
        if record is not None:
            self._require(record, url)
            return None
        with self._crawl.asking(page_address(url).host):
            record = await self._ask_once(request, url, route)
        self._require(record, url)
        context_of(request).waited_for_robots = True
        return request.copy()

    def limit_size(self, data: bytes, request: Request) -> None:
        """Stop reading a robots.txt that is longer than what is parsed of it."""
        if ROBOTS_KEY not in request.meta:
            return
        request.meta[ROBOTS_KEY] += len(data)
        # It was read whatever its length; what Scrapy may unpack of it is bounded from here.
        request.meta["download_maxsize"] = MAX_DECODED_BYTES
        if request.meta[ROBOTS_KEY] > MAX_ROBOTS_BYTES:
            raise StopDownload(fail=False)

    def _require_open(self, request: Request, url: str) -> None:
        """Raise Disallowed where a host is left alone as it is seen through the page's proxy."""
        proxy, host, now = plain_proxy(request), page_address(url).host, self._crawl.now()
        if not proxy:
            return
        hosts = self._crawl.through(proxy)
        if not context_of(request).hops:
            hosts.add_page(host)
        if hosts.open_from(host, now) > now:
            why = f"{host}, asked through {proxy}, is to be left alone for now"
            raise RobotsDisallowedError(why, Outcome.THROTTLED)

    def _known(self, request: Request, url: str, route: RequestRoute) -> RobotsRecord | None:
        """Return the record that a page goes by: the host's own, else what its proxy gave."""
        key, now, proxy = robots_key(url), self._crawl.now(), plain_proxy(request)
        own = self._crawl.hosts.robots(key)
        if own and own.is_valid(now, allow_unverified=route.is_unverified):
            return own
        given = self._crawl.through(proxy).robots(key) if proxy else None
        return given if given and given.is_valid(now) else None

    def _require(self, record: RobotsRecord, url: str) -> None:
        host = page_address(url).host
        if record.is_closed:
            outcome = Outcome.UNREACHABLE if record.status is None else Outcome.ROBOTS
            raise RobotsDisallowedError(
                f"robots.txt of {host} cannot be had: {record.why}", outcome
            )
        if not self._rulebook.allows(record.rules, url):
            raise RobotsDisallowedError(f"robots.txt of {host} closes it")

    async def _ask_once(self, page: Request, url: str, route: RequestRoute) -> RobotsRecord:
        """Ask for a host's robots.txt, or wait for the answer where that is under way."""
        key = robots_key(url), route
        task = self._asking.get(key)
        if task is None:
            task = self._asking[key] = asyncio.ensure_future(self._ask(page, url, route))
            task.add_done_callback(lambda _: self._asking.pop(key))
        else:
            self._crawl.leave(page)
        return await asyncio.shield(task)

    async def _ask(self, page: Request, url: str, route: RequestRoute) -> RobotsRecord:
        """Ask and remember; a host that may not be asked at all raises Refused.

        What fails on the way to the host, for the sake of this route, is not the host's failure.
        """
        crawl, key = self._crawl, robots_key(url)
        lifetime = crawl.robots_hours * HOUR_SECONDS
        first = _request(absolute_url(url, "/robots.txt") or url, route)
        proxy = plain_proxy(first)
        hosts = crawl.through(proxy) if proxy else crawl.hosts
        before = hosts.robots(key)
        try:
            crawl.hand_over(page, first)
            response = await self._follow(first, route)
            record = robots_record(response, crawl.token, before, crawl.now(), lifetime)
        except (AddressRefusedError, CrawlEndedError):
            raise
        except Exception as error:  # (whatever happens, there is no robots.txt)
            outcome, why = classify_error(error)
            if outcome in ROUTE_FAILURES:
                raise RobotsDisallowedError(why, outcome) from error
            record = unavailable_record(None, why, before, crawl.now(), lifetime)
        finally:
            crawl.leave(page)
        record = replace(record, unverified=route.is_unverified)
        hosts.set_robots(key, record)
        if record.failing_since is None:
            self._set_delay(page_address(url).host, record)
        return record

    def _set_delay(self, host: str, record: RobotsRecord) -> None:
        """Take over a Crawl-delay; it holds from this request on, which went by the old one."""
        self._crawl.hosts.set_delay(host, self._rulebook.delay(record.rules))
        self._crawl.hosts.start_delay(host, record.fetched)

    async def _follow(self, first: Request, route: RequestRoute) -> Response:
        response = await self._send(first)
        for _ in range(MAX_REDIRECTS):
            target = redirect_target(response)
            if target is None:
                break
            try:
                response = await self._send(_request(target, route))
            except (AddressRefusedError, RobotsDisallowedError) as error:
                raise RobotsDisallowedError(f"it was sent on, and {error}") from error
        return response

    async def _send(self, request: Request) -> Response:
        self._crawl.count(1)
        return await self._crawl.download(request)


def robots_record(
    response: Response, token: str, before: RobotsRecord | None, now: float, lifetime: float
) -> RobotsRecord:
    """Return what an answer means: rules, none where there is no file, or that it cannot be had."""
    status = response.status
    if status < 200 or status >= 500 or status == TOO_MANY_REQUESTS:
        return unavailable_record(status, f"status {status}", before, now, lifetime)
    if status >= 300:
        return RobotsRecord(now, status, "", now + lifetime)
    codings = (response.headers.get("Content-Encoding") or b"").decode("latin-1")
    try:
        body = decode_content(response.body, codings, MAX_DECODED_BYTES)
    except BadInputError as error:
        return unavailable_record(status, str(error), before, now, lifetime)
    return RobotsRecord(now, status, select_rules(decode_robots(body), token), now + lifetime)


def unavailable_record(
    status: int | None, why: str, before: RobotsRecord | None, now: float, lifetime: float
) -> RobotsRecord:
    """Return the record of a robots.txt that cannot be had, asked for again ever more seldom."""
    since = before.failing_since if before else None
    since = now if since is None else min(since, now)
    wait = min(max(now - since, FIRST_RETRY_SECONDS), lifetime)
    return RobotsRecord(now, status, "", now + wait, since, why)


def robots_key(url: str) -> str:
    """Return the name under which a page's robots.txt is remembered: that of http is another's.

    >>> robots_key("https://a.example/b"), robots_key("http://a.example/"), robots_key("http://a.example:81/")
    ('a.example', 'a.example:80', 'a.example:81')
    """
    host = page_address(url).host
    return host if url.startswith("https:") else host_names(host)[-1]


def _request(url: str, route: RequestRoute) -> Request:
    """Return a request that no other middleware redirects, repeats, keeps or counts."""
    meta: dict[str, object] = {
        ROBOTS_KEY: 0,
        "download_maxsize": 0,
        "dont_redirect": True,
        "dont_retry": True,
        "dont_cache": True,
        "dont_merge_cookies": True,
        "dont_obey_robotstxt": True,
        **dict(route.meta),
    }
    headers = {"Accept-Encoding": "identity", **route.headers}
    return Request(url, headers=headers, meta=meta, callback=NO_CALLBACK, dont_filter=True)


async def _download(crawler: Crawler, request: Request) -> Response:
    if crawler.engine is None:
        raise CrawlEndedError("the crawl has ended")
    return await crawler.engine.download_async(request)
