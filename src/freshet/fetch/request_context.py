"""Errands as Scrapy requests, and what a request carries through redirects."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from scrapy import Request
from scrapy.http import Response

from freshet.archive.importers.base import Arrival, Hop, Http
from freshet.core.types import Outcome
from freshet.crawl.fetch_job import Errand
from freshet.fetch.network.connections import HEAD, SENT
from freshet.fetch.network.routes import INSECURE, VERIFY, Route, route_for
from freshet.view.url import canonical, place

TRIP = "freshet_trip"
OF_ONE_DOWNLOAD = (HEAD, SENT, "download_slot", "download_latency")


@dataclass(slots=True)
class Trip:
    """One visit on its way: the errand it serves, if any, and the answers that sent it on.

    ``at`` is the address of the request that is under way, ``day`` the one whose budget pays;
    ``is_ready`` says that it has waited for its host, ``is_told`` that its end is recorded, and
    ``sent`` when the first one was sent. One that ``waits_again`` is paid for and comes back from
    asking for robots.txt.
    """

    url: str
    errand: Errand | None = None
    hops: tuple[Hop, ...] = ()
    is_ready: bool = False
    is_conditional: bool = False
    sent: datetime | None = None
    passed: set[str] = field(default_factory=set)
    day: str = ""
    at: str = ""
    is_told: bool = False
    waits_again: bool = False


def trip_of(request: Request) -> Trip:
    """Return the trip that a request belongs to; one of someone else's spider begins its own."""
    trip: Trip | None = request.meta.get(TRIP)
    return begin_trip(request) if trip is None or trip.at != request.url else trip


def begin_trip(request: Request) -> Trip:
    """Let a request begin a trip of its own, whatever was handed on to it from another one."""
    handed_on = (INSECURE, VERIFY) if TRIP in request.meta else ()
    for name in (HEAD, SENT, *handed_on):
        request.meta.pop(name, None)
    trip = request.meta[TRIP] = Trip(canonical(request.url) or request.url, at=request.url)
    return trip


def host_of(request: Request) -> str:
    """Return the host with any port that a request goes to."""
    return place(canonical(request.url) or request.url).host


# What of a Scrapy project's middlewares would stand between a page and its record.
ALONE = {
    "dont_cache": True,
    "dont_merge_cookies": True,
    "dont_redirect": True,
    "dont_retry": True,
}


def request_of(
    errand: Errand,
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
        INSECURE: errand.settings.insecure_secrets,
        **dict(route.meta),
        **ALONE,
    }
    request = Request(
        errand.url, callback, headers=headers, meta=meta, dont_filter=True, errback=errback
    )
    request.headers.update(route.headers)
    request.meta[TRIP] = Trip(errand.url, errand, day=errand.day, at=request.url)
    add_conditions(request)
    return request


def add_conditions(request: Request) -> None:
    """Ask only for a page that changed, where the last answer from this address allows it."""
    trip = trip_of(request)
    errand = trip.errand
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


def unanswered(request: Request, outcome: Outcome, why: str, now: datetime) -> Arrival:
    """Return the arrival of a visit that ended without an answer of its own."""
    trip = trip_of(request)
    return Arrival(
        trip.url, "", trip.sent or now, uuid4().bytes, outcome=outcome, why=why,
        final_url=final_url(request), hops=trip.hops,
    )  # fmt: skip


def final_url(request: Request) -> str | None:
    """Return where a visit ended, None where that is the page's own address."""
    return request.url if trip_of(request).hops else None


def onward(request: Request, url: str, answer: Response, http: Http, day: str) -> Request:
    """Return the request that follows a redirect, paid for by a day's budget.

    What was set for one host stays there.
    """
    trip = trip_of(request)
    hop = Hop(request.url, http, answer.body)
    following = replace(
        trip, hops=(*trip.hops, hop), is_ready=False, passed=trip.passed | {request.url}, day=day
    )
    headers = request.headers.copy()
    meta = {**request.meta}
    route = Route.of(request)
    if place(url).host != host_of(request) or _is_laid_open(request.url, url):
        for name in (*(trip.errand.settings.headers if trip.errand else ()), "Cookie"):
            headers.pop(name, None)
        headers.pop("Authorization", None)
        headers.update(route.headers)
    for name in OF_ONE_DOWNLOAD:
        meta.pop(name, None)
    next_one = request.replace(url=url, method="GET", body=b"", headers=headers, meta=meta)
    following.at = next_one.url
    next_one.meta[TRIP] = following
    add_conditions(next_one)
    return next_one


def carry_on(request: Request, following: Request, answer: Response, http: Http) -> Request:
    """Let a request that Scrapy made to follow a redirect go on with the visit that met it."""
    trip = trip_of(request)
    for name in (HEAD, SENT):
        following.meta.pop(name, None)
    following.meta[TRIP] = replace(
        trip,
        hops=(*trip.hops, Hop(request.url, http, answer.body)),
        is_ready=False,
        passed=trip.passed | {request.url},
        day="",
        at=following.url,
    )
    return following


def repeated(request: Request, day: str) -> Request:
    """Return a request that did not go out once more, paid for by another day's budget."""
    trip = replace(trip_of(request), day=day, is_ready=False, is_told=False)
    meta = {name: value for name, value in request.meta.items() if name not in OF_ONE_DOWNLOAD}
    again = request.replace(meta=meta, dont_filter=True)
    again.meta[TRIP] = trip
    return again


def _is_laid_open(before: str, after: str) -> bool:
    """Whether a redirect leads from an encrypted connection to one that anyone can read."""
    return before.startswith("https:") and not after.startswith("https:")
