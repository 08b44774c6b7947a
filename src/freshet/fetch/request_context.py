"""Errands as Scrapy requests, and what a request carries through redirects."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from scrapy import Request
from scrapy.http import Response

from freshet.archive.observation import HttpExchange, Observation, RedirectHop
from freshet.core.types import Outcome
from freshet.crawl.fetch_job import FetchJob
from freshet.fetch.network.connections import REQUEST_HEAD_KEY, RESPONSE_HEAD_KEY
from freshet.fetch.network.routes import INSECURE_KEY, VERIFY_KEY, RequestRoute, route_for
from freshet.view.url import canonical_url, page_address

CONTEXT_KEY = "freshet_trip"
DOWNLOAD_META = (RESPONSE_HEAD_KEY, REQUEST_HEAD_KEY, "download_slot", "download_latency")


@dataclass(slots=True)
class RequestContext:
    """One visit on its way: the errand it serves, if any, and the answers that sent it on.

    ``request_url`` is the address of the request that is under way, ``budget_day`` the one whose budget pays;
    ``has_turn`` says that it has waited for its host, ``is_recorded`` that its end is recorded, and
    ``sent_at`` when the first one was sent. One that ``waited_for_robots`` is paid for and comes back from
    asking for robots.txt.
    """

    url: str
    job: FetchJob | None = None
    hops: tuple[RedirectHop, ...] = ()
    has_turn: bool = False
    is_conditional: bool = False
    sent_at: datetime | None = None
    followed_urls: set[str] = field(default_factory=set)
    budget_day: str = ""
    request_url: str = ""
    is_recorded: bool = False
    waited_for_robots: bool = False


def context_of(request: Request) -> RequestContext:
    """Return the trip that a request belongs to; one of someone else's spider begins its own."""
    trip: RequestContext | None = request.meta.get(CONTEXT_KEY)
    return new_context(request) if trip is None or trip.request_url != request.url else trip


def new_context(request: Request) -> RequestContext:
    """Let a request begin a trip of its own, whatever was handed on to it from another one."""
    handed_on = (INSECURE_KEY, VERIFY_KEY) if CONTEXT_KEY in request.meta else ()
    for name in (RESPONSE_HEAD_KEY, REQUEST_HEAD_KEY, *handed_on):
        request.meta.pop(name, None)
    trip = request.meta[CONTEXT_KEY] = RequestContext(
        canonical_url(request.url) or request.url, request_url=request.url
    )
    return trip


def host_of(request: Request) -> str:
    """Return the host with any port that a request goes to."""
    return page_address(canonical_url(request.url) or request.url).host


# What of a Scrapy project's middlewares would stand between a page and its record.
BYPASS_MIDDLEWARES_META = {
    "dont_cache": True,
    "dont_merge_cookies": True,
    "dont_redirect": True,
    "dont_retry": True,
}


def request_for_job(
    errand: FetchJob,
    errback: Callable[..., Any] | None = None,
    callback: Callable[..., Any] | None = None,
) -> Request:
    """Return the request that runs an errand: with the page's headers, cookies and conditions.

    With a callback the answer is its own, whatever its status; without, the spider's.
    """
    headers = dict(errand.settings.headers)
    if errand.settings.cookies:
        pairs = (f"{name}={value}" for name, value in errand.settings.cookies.items())
        headers["Cookie"] = "; ".join(pairs)
    route = route_for(errand.settings)
    # The page's own spelling is sent; Scrapy would escape some characters of it anew.
    meta: dict[str, Any] = {
        "verbatim_url": True,
        "handle_httpstatus_all": callback is not None,
        INSECURE_KEY: errand.settings.insecure_secrets,
        **dict(route.meta),
        **BYPASS_MIDDLEWARES_META,
    }
    request = Request(
        errand.url, callback, headers=headers, meta=meta, dont_filter=True, errback=errback
    )
    request.headers.update(route.headers)
    request.meta[CONTEXT_KEY] = RequestContext(
        errand.url, errand, budget_day=errand.budget_day, request_url=request.url
    )
    add_conditions(request)
    return request


def add_conditions(request: Request) -> None:
    """Ask only for a page that changed, where the last answer from this address allows it."""
    trip = context_of(request)
    errand = trip.job
    for name in ("If-None-Match", "If-Modified-Since"):
        request.headers.pop(name, None)
    trip.is_conditional = False
    if errand is None or request.url != (errand.final_url or errand.url):
        return
    if errand.etag:
        request.headers["If-None-Match"] = _as_received(errand.etag)
    elif errand.last_modified:
        request.headers["If-Modified-Since"] = _as_received(errand.last_modified)
    trip.is_conditional = bool(errand.etag or errand.last_modified)


def _as_received(value: str) -> bytes:
    """Return the bytes of a header that was read as Latin-1, and UTF-8 of one that was not."""
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode()


def observation_without_answer(
    request: Request, outcome: Outcome, why: str, now: datetime
) -> Observation:
    """Return the arrival of a visit that ended without an answer of its own."""
    trip = context_of(request)
    return Observation(
        trip.url, "", trip.sent_at or now, uuid4().bytes, outcome=outcome, why=why,
        final_url=final_url(request), hops=trip.hops,
    )  # fmt: skip


def final_url(request: Request) -> str | None:
    """Return where a visit ended, None where that is the page's own address."""
    return request.url if context_of(request).hops else None


def redirected_request(
    request: Request, url: str, answer: Response, http: HttpExchange, day: str
) -> Request:
    """Return the request that follows a redirect, paid for by a day's budget.

    What was set for one host stays there.
    """
    trip = context_of(request)
    hop = RedirectHop(request.url, http, answer.body)
    following = replace(
        trip,
        hops=(*trip.hops, hop),
        has_turn=False,
        followed_urls=trip.followed_urls | {request.url},
        budget_day=day,
    )
    headers = request.headers.copy()
    meta = {**request.meta}
    route = RequestRoute.of(request)
    if page_address(url).host != host_of(request) or _is_laid_open(request.url, url):
        for name in (*(trip.job.settings.headers if trip.job else ()), "Cookie"):
            headers.pop(name, None)
        headers.pop("Authorization", None)
        headers.update(route.headers)
    for name in DOWNLOAD_META:
        meta.pop(name, None)
    next_one = request.replace(url=url, method="GET", body=b"", headers=headers, meta=meta)
    following.request_url = next_one.url
    next_one.meta[CONTEXT_KEY] = following
    add_conditions(next_one)
    return next_one


def continue_visit(
    request: Request, following: Request, answer: Response, http: HttpExchange
) -> Request:
    """Let a request that Scrapy made to follow a redirect go on with the visit that met it."""
    trip = context_of(request)
    for name in (RESPONSE_HEAD_KEY, REQUEST_HEAD_KEY):
        following.meta.pop(name, None)
    following.meta[CONTEXT_KEY] = replace(
        trip,
        hops=(*trip.hops, RedirectHop(request.url, http, answer.body)),
        has_turn=False,
        followed_urls=trip.followed_urls | {request.url},
        budget_day="",
        request_url=following.url,
    )
    return following


def retried_request(request: Request, day: str) -> Request:
    """Return a request that did not go out once more, paid for by another day's budget."""
    trip = replace(context_of(request), budget_day=day, has_turn=False, is_recorded=False)
    meta = {name: value for name, value in request.meta.items() if name not in DOWNLOAD_META}
    again = request.replace(meta=meta, dont_filter=True)
    again.meta[CONTEXT_KEY] = trip
    return again


def _is_laid_open(before: str, after: str) -> bool:
    """Whether a redirect leads from an encrypted connection to one that anyone can read."""
    return before.startswith("https:") and not after.startswith("https:")
