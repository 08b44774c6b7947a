"""robots.txt is fetched before a host's pages, kept for a day, and obeyed (RFC 9309).

The rules of an answer in the 200s are followed. An answer in the 400s, or a sixth redirect, means
that there are no rules. A host whose robots.txt is unavailable is closed: it is asked again after
as long as the failure has lasted, and opened after 30 days, as section 2.3.1.4 allows. 429 counts
as unavailable. A record that came through a proxy over plain http is used for that proxy only.

A request for robots.txt waits for its host's turn as any other. The first takes the turn of the
page that needs it. A redirect waits for the turn of the host that it leads to. A page that waits
for the answer holds no turn meanwhile, so that hosts which redirect to each other cannot deadlock.
"""

import asyncio
from dataclasses import replace

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from freshet.core.clock import to_epoch
from freshet.core.types import Outcome
from freshet.fetch.network.failures import (
    ROUTE_FAILURES,
    AddressRefusedError,
    CrawlEndedError,
    RobotsDisallowedError,
    classify_error,
)
from freshet.fetch.network.redirect_target import redirect_target
from freshet.fetch.network.routes import RequestRoute, plain_proxy, verifies_by_default
from freshet.fetch.politeness.robots_record import (
    MAX_DECODED_BYTES,
    RobotsRecord,
    robots_key,
    robots_record,
    unavailable_record,
)
from freshet.fetch.politeness.robots_rules import MAX_ROBOTS_BYTES, ParsedRules
from freshet.fetch.request_context import ROBOTS_KEY, RequestContext, context_of
from freshet.fetch.runtime import CrawlRuntime, runtime_of
from freshet.view.url import absolute_url

PRODUCT_TOKEN = "Freshet"
MAX_REDIRECTS = 5
HOUR_SECONDS = 3_600.0


class RobotsMiddleware:
    """The downloader middleware that stops pages which their host's robots.txt disallows.

    ``verifies`` says whether certificates are verified for requests that do not say so themselves.
    """

    def __init__(
        self, runtime: CrawlRuntime, *, token: str = PRODUCT_TOKEN, verifies: bool = True
    ) -> None:
        self._runtime = runtime
        self._environment = runtime.environment
        self._token = token
        self._verifies = verifies
        self._parsed_rules = ParsedRules()
        self._fetches: dict[tuple[str, RequestRoute], asyncio.Task[RobotsRecord]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "RobotsMiddleware":
        """Create the middleware of a crawler."""
        robots = cls(
            runtime_of(crawler),
            token=crawler.settings.get("ROBOTSTXT_USER_AGENT") or PRODUCT_TOKEN,
            verifies=verifies_by_default(crawler.settings),
        )
        crawler.signals.connect(robots.limit_size, signals.bytes_received)
        return robots

    async def process_request(self, request: Request) -> Request | None:
        """Let a request pass, or raise RobotsDisallowedError.

        If the host's robots.txt had to be fetched first, the request is queued again.
        """
        if ROBOTS_KEY in request.meta or request.meta.get("dont_obey_robotstxt"):
            return None
        context = context_of(request)
        route = RequestRoute.of(request, verifies=self._verifies)
        self._require_open_proxy(request, context)
        record = self._valid_record(request, context, route)
        if record is not None:
            self._require_allowed(record, context)
            return None
        with self._runtime.requests.awaiting_robots(context.host):
            record = await self._fetch_once(request, route)
        self._require_allowed(record, context)
        context.waited_for_robots = True
        return request.copy()

    def limit_size(self, data: bytes, request: Request) -> None:
        """Stop reading a robots.txt that is longer than its parsed part."""
        if ROBOTS_KEY not in request.meta:
            return
        request.meta[ROBOTS_KEY] += len(data)
        # Any length was accepted so far; from here on Scrapy's decompression is bounded.
        request.meta["download_maxsize"] = MAX_DECODED_BYTES
        if request.meta[ROBOTS_KEY] > MAX_ROBOTS_BYTES:
            raise StopDownload(fail=False)

    def _now(self) -> float:
        return to_epoch(self._environment.clock.now())

    def _require_open_proxy(self, request: Request, context: RequestContext) -> None:
        """Raise RobotsDisallowedError if a host is closed as seen through the page's proxy."""
        proxy, host, now = plain_proxy(request), context.host, self._now()
        if not proxy:
            return
        schedule = self._environment.proxy_schedules.for_proxy(proxy)
        if not context.hops:
            schedule.add_page(host)
        if schedule.open_from(host, now) > now:
            why = f"{host} is closed for requests through {proxy}"
            raise RobotsDisallowedError(why, Outcome.THROTTLED)

    def _valid_record(
        self, request: Request, context: RequestContext, route: RequestRoute
    ) -> RobotsRecord | None:
        """Return the valid record of a page's host, else that of its proxy."""
        key, now, proxy = robots_key(context.target_url), self._now(), plain_proxy(request)
        record = self._environment.host_schedule.robots(key)
        if record and record.is_valid(now, allow_unverified=route.is_unverified):
            return record
        if not proxy:
            return None
        proxy_record = self._environment.proxy_schedules.for_proxy(proxy).robots(key)
        return proxy_record if proxy_record and proxy_record.is_valid(now) else None

    def _require_allowed(self, record: RobotsRecord, context: RequestContext) -> None:
        """Raise RobotsDisallowedError if a record disallows a page."""
        host = context.host
        if record.is_closed:
            outcome = Outcome.UNREACHABLE if record.status is None else Outcome.ROBOTS
            raise RobotsDisallowedError(
                f"robots.txt of {host} is unavailable: {record.why}", outcome
            )
        if not self._parsed_rules.allows(record.rules, context.target_url):
            raise RobotsDisallowedError(f"robots.txt of {host} disallows it")

    async def _fetch_once(self, page_request: Request, route: RequestRoute) -> RobotsRecord:
        """Fetch a host's robots.txt, or wait for a fetch that is under way."""
        key = robots_key(context_of(page_request).target_url), route
        task = self._fetches.get(key)
        if task is None:
            task = self._fetches[key] = asyncio.ensure_future(self._fetch(page_request, route))
            task.add_done_callback(lambda _: self._fetches.pop(key))
        else:
            self._runtime.requests.end_turn(page_request, was_sent=False)
        return await asyncio.shield(task)

    async def _fetch(self, page_request: Request, route: RequestRoute) -> RobotsRecord:
        """Fetch and keep a robots.txt; raise AddressRefusedError if the host may not be asked.

        A failure of this route is not a failure of the host.
        """
        context, requests = context_of(page_request), self._runtime.requests
        key = robots_key(context.target_url)
        lifetime = self._environment.settings.politeness.robots_hours * HOUR_SECONDS
        url = absolute_url(context.target_url, "/robots.txt") or context.target_url
        robots_request = _robots_request(url, route)
        proxy = plain_proxy(robots_request)
        host_schedule = self._environment.host_schedule
        schedule = self._environment.proxy_schedules.for_proxy(proxy) if proxy else host_schedule
        previous = schedule.robots(key)
        try:
            requests.pass_turn(page_request, robots_request)
            response = await self._follow(robots_request, route)
            record = robots_record(response, self._token, previous, self._now(), lifetime)
        except (AddressRefusedError, CrawlEndedError):
            raise
        except Exception as error:  # (every other error means that there is no robots.txt)
            outcome, why = classify_error(error)
            if outcome in ROUTE_FAILURES:
                raise RobotsDisallowedError(why, outcome) from error
            record = unavailable_record(None, why, previous, self._now(), lifetime)
        finally:
            requests.end_turn(page_request, was_sent=False)
        record = replace(record, unverified=route.is_unverified)
        schedule.set_robots(key, record)
        if record.failing_since is None:
            # The Crawl-delay holds from this request on.
            host_schedule.set_delay(context.host, self._parsed_rules.delay(record.rules))
            host_schedule.start_delay(context.host, record.fetched)
        return record

    async def _follow(self, robots_request: Request, route: RequestRoute) -> Response:
        """Return the answer to a request for robots.txt after its redirects."""
        response = await self._send(robots_request)
        for _ in range(MAX_REDIRECTS):
            target = redirect_target(response)
            if target is None:
                break
            try:
                response = await self._send(_robots_request(target, route))
            except (AddressRefusedError, RobotsDisallowedError) as error:
                raise RobotsDisallowedError(f"its redirect failed: {error}") from error
        return response

    async def _send(self, request: Request) -> Response:
        self._runtime.writer.book_unbudgeted(1)
        return await self._environment.download(request)


def _robots_request(url: str, route: RequestRoute) -> Request:
    """Return a request that no other middleware redirects, retries, caches or counts."""
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
