"""Fetch jobs as Scrapy requests, and the context that a request keeps through redirects."""

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

CONTEXT_KEY = "freshet_context"
# Marks a request for a robots.txt; the value is the number of bytes received.
ROBOTS_KEY = "freshet_robots"
DOWNLOAD_META = (RESPONSE_HEAD_KEY, REQUEST_HEAD_KEY, "download_slot", "download_latency")
# These keep the middlewares of a Scrapy project from changing or answering a page's request.
BYPASS_MIDDLEWARES_META = {
    "dont_cache": True,
    "dont_merge_cookies": True,
    "dont_redirect": True,
    "dont_retry": True,
}


@dataclass(slots=True)
class RequestContext:
    """The state of one visit while its requests are under way.

    ``url`` is the visited page, ``job`` its fetch job (None for a spider's own request), ``hops``
    are the redirecting answers so far. ``request_url``, ``target_url`` (canonical) and ``host``
    belong to the present request. ``budget_day`` is the day whose budget pays for it. ``has_turn``
    says that the request has its host's turn, ``is_recorded`` that its end was handed to the
    recording loop, ``sent_at`` when the visit's first request was sent. ``waited_for_robots`` marks
    a booked request that comes back after its host's robots.txt was fetched.
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
    target_url: str = ""
    host: str = ""
    is_recorded: bool = False
    waited_for_robots: bool = False

    def attach(self, request: Request) -> None:
        """Make this the context of a request."""
        self.request_url = request.url
        self.target_url = canonical_url(request.url) or request.url
        self.host = page_address(self.target_url).host
        request.meta[CONTEXT_KEY] = self

    def after_redirect(self, hop: RedirectHop, budget_day: str) -> "RequestContext":
        """Return the context of the request that follows a redirect."""
        return replace(
            self, hops=(*self.hops, hop), has_turn=False, budget_day=budget_day,
            followed_urls=self.followed_urls | {hop.url},
        )  # fmt: skip


def context_of(request: Request) -> RequestContext:
    """Return the context of a request; a spider's own request gets a new one."""
    context: RequestContext | None = request.meta.get(CONTEXT_KEY)
    if context is None or context.request_url != request.url:
        return new_context(request)
    return context


def new_context(request: Request) -> RequestContext:
    """Give a request a context of its own, even if its meta was copied from another request."""
    copied_keys = (INSECURE_KEY, VERIFY_KEY) if CONTEXT_KEY in request.meta else ()
    for name in (RESPONSE_HEAD_KEY, REQUEST_HEAD_KEY, *copied_keys):
        request.meta.pop(name, None)
    context = RequestContext(canonical_url(request.url) or request.url)
    context.attach(request)
    return context


def request_for_job(
    job: FetchJob,
    errback: Callable[..., Any] | None = None,
    callback: Callable[..., Any] | None = None,
) -> Request:
    """Return the request of a fetch job, with the page's headers, cookies and conditions.

    A callback receives answers of every status. Without one the spider receives the answer.
    """
    headers = dict(job.settings.headers)
    if job.settings.cookies:
        pairs = (f"{name}={value}" for name, value in job.settings.cookies.items())
        headers["Cookie"] = "; ".join(pairs)
    route = route_for(job.settings)
    # The URL is sent as the page spells it; Scrapy would escape some characters again.
    meta: dict[str, Any] = {
        "verbatim_url": True,
        "handle_httpstatus_all": callback is not None,
        INSECURE_KEY: job.settings.insecure_secrets,
        **dict(route.meta),
        **BYPASS_MIDDLEWARES_META,
    }
    request = Request(
        job.url, callback, headers=headers, meta=meta, dont_filter=True, errback=errback
    )
    request.headers.update(route.headers)
    RequestContext(job.url, job, budget_day=job.budget_day).attach(request)
    add_conditions(request)
    return request


def add_conditions(request: Request) -> None:
    """Make a request conditional if the last answer from its URL had a validator."""
    context = context_of(request)
    job = context.job
    for name in ("If-None-Match", "If-Modified-Since"):
        request.headers.pop(name, None)
    context.is_conditional = False
    if job is None or request.url != (job.final_url or job.url):
        return
    if job.etag:
        request.headers["If-None-Match"] = _encode_header(job.etag)
    elif job.last_modified:
        request.headers["If-Modified-Since"] = _encode_header(job.last_modified)
    context.is_conditional = bool(job.etag or job.last_modified)


def _encode_header(value: str) -> bytes:
    """Encode a header value as Latin-1, as it was received, or else as UTF-8."""
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode()


def observation_without_answer(
    request: Request, outcome: Outcome, why: str, now: datetime
) -> Observation:
    """Return the observation of a visit that ended without an answer."""
    context = context_of(request)
    return Observation(
        context.url, "", context.sent_at or now, uuid4().bytes, outcome=outcome, why=why,
        final_url=final_url(request), hops=context.hops,
    )  # fmt: skip


def final_url(request: Request) -> str | None:
    """Return the URL where a visit ended, None if that is the page's own URL."""
    return request.url if context_of(request).hops else None


def redirected_request(
    request: Request, url: str, answer: Response, exchange: HttpExchange, day: str
) -> Request:
    """Return the request that follows a redirect, booked on a day's budget.

    Headers and cookies of the page are not sent to another host or over a plain connection.
    """
    context = context_of(request)
    hop = RedirectHop(request.url, exchange, answer.body)
    headers = request.headers.copy()
    route = RequestRoute.of(request)
    if page_address(url).host != context.host or _loses_encryption(request.url, url):
        for name in (*(context.job.settings.headers if context.job else ()), "Cookie"):
            headers.pop(name, None)
        headers.pop("Authorization", None)
        headers.update(route.headers)
    meta = {name: value for name, value in request.meta.items() if name not in DOWNLOAD_META}
    next_request = request.replace(url=url, method="GET", body=b"", headers=headers, meta=meta)
    context.after_redirect(hop, day).attach(next_request)
    add_conditions(next_request)
    return next_request


def continue_visit(
    request: Request, next_request: Request, answer: Response, exchange: HttpExchange
) -> Request:
    """Attach the visit of a redirected request to the request that Scrapy made to follow it."""
    for name in (RESPONSE_HEAD_KEY, REQUEST_HEAD_KEY):
        next_request.meta.pop(name, None)
    hop = RedirectHop(request.url, exchange, answer.body)
    context_of(request).after_redirect(hop, "").attach(next_request)
    return next_request


def retried_request(request: Request, day: str) -> Request:
    """Return a copy of a request that was not sent, booked on another day's budget."""
    context = replace(context_of(request), budget_day=day, has_turn=False, is_recorded=False)
    meta = {name: value for name, value in request.meta.items() if name not in DOWNLOAD_META}
    retry = request.replace(meta=meta, dont_filter=True)
    context.attach(retry)
    return retry


def _loses_encryption(url: str, next_url: str) -> bool:
    """Whether a redirect leads from https to a plain connection."""
    return url.startswith("https:") and not next_url.startswith("https:")
