"""Responses of the simulated web: a page with its validators, or an error while trouble lasts."""

from collections.abc import Set
from dataclasses import dataclass
from email.utils import formatdate
from random import Random

from freshet.world import documents
from freshet.world.noise import random_token
from freshet.world.page_kinds import PageTrouble
from freshet.world.site_specs import HostSpec

Headers = tuple[tuple[str, str], ...]

RETRY_AFTER = 1800
MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "feed": "application/rss+xml; charset=utf-8",
    "script": "text/html; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class PageResponse:
    """Response to one visit; an error response does not show the version."""

    status: int
    headers: Headers
    body: bytes
    version: int
    etag: str | None = None
    last_modified: float | None = None
    is_error: bool = False


def error_response(troubles: Set[PageTrouble], version: int, rng: Random) -> PageResponse | None:
    """Return the error response for one of these troubles, None if there is none."""
    content_type = ("Content-Type", MEDIA_TYPES["html"])
    if "down" in troubles:
        headers = (content_type, ("Retry-After", str(RETRY_AFTER)))
        body = documents.render_unavailable()
        return PageResponse(503, headers, body.encode(), version, is_error=True)
    if "gone" in troubles:
        return PageResponse(
            404, (content_type,), documents.render_not_found().encode(), version, is_error=True
        )
    if "captcha" in troubles:
        body = documents.render_captcha(random_token(rng))
        return PageResponse(200, (content_type,), body.encode(), version, is_error=True)
    return None


def page_response(
    body: str, medium: str, version: int, *, etag: str | None, last_modified: float | None
) -> PageResponse:
    """Return a page with the validators that its host sends."""
    headers = [("Content-Type", MEDIA_TYPES[medium])]
    if etag is not None:
        headers.append(("ETag", etag))
    if last_modified is not None:
        headers.append(("Last-Modified", formatdate(last_modified, usegmt=True)))
    return PageResponse(200, tuple(headers), body.encode(), version, etag, last_modified)


def claimed_last_modified(host: HostSpec, changed: float, epoch: float) -> float | None:
    """Return the Last-Modified time that a host claims, in whole seconds."""
    claims = {"none": None, "honest": float(int(changed)), "lying": float(int(epoch))}
    return claims[host.last_modified]
