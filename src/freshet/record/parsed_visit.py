"""Decode, parse and classify a snapshot."""

from dataclasses import dataclass, replace
from datetime import datetime

from freshet.core.errors import BadInputError
from freshet.core.settings import LimitSettings
from freshet.core.types import Outcome, Snapshot, View
from freshet.measure.outcome import classify_outcome
from freshet.view.bounds import ViewLimits
from freshet.view.content_coding import ContentTooLargeError, decode_content
from freshet.view.parse import parse_snapshot
from freshet.view.posts.page_posts import PagePosts, find_posts


@dataclass(frozen=True, slots=True)
class ParsedVisit:
    """The outcome of a visit with its reason, and the view where one could be made."""

    outcome: Outcome
    reason: str
    view: View | None


def parse_visit(snapshot: Snapshot, limits: LimitSettings, *, dom: bool = False) -> ParsedVisit:
    """Decode, parse and classify a snapshot; ``dom`` adds DOM rows to the view."""
    try:
        decoded = decode_snapshot(snapshot, limits)
    except ContentTooLargeError as error:
        return ParsedVisit(Outcome.TOO_LARGE, str(error), None)
    except BadInputError as error:
        return ParsedVisit(Outcome.UNREADABLE, str(error), None)
    view = parse_snapshot(decoded, dom=dom, limits=ViewLimits(max_body_bytes=limits.body_bytes))
    verdict = classify_outcome(decoded, view)
    return ParsedVisit(verdict.outcome, verdict.why, view)


def read_posts(snapshot: Snapshot, visited: datetime, limits: LimitSettings) -> PagePosts:
    """Decode a snapshot that was parsed before, and return the posts that it shows."""
    view_limits = ViewLimits(max_body_bytes=limits.body_bytes)
    return find_posts(decode_snapshot(snapshot, limits), visited, limits=view_limits)


def decode_snapshot(snapshot: Snapshot, limits: LimitSettings) -> Snapshot:
    """Return a snapshot with its content codings undone."""
    codings = snapshot.header("content-encoding")
    if not codings:
        return snapshot
    body = decode_content(snapshot.body, codings, limits.decoded_bytes)
    headers = tuple(pair for pair in snapshot.headers if pair[0].lower() != "content-encoding")
    return replace(snapshot, body=body, headers=headers)
