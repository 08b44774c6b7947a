"""A snapshot becomes what was seen of it: decoded, viewed and judged."""

from dataclasses import dataclass, replace

from freshet.core.errors import BadInputError
from freshet.core.settings import LimitSettings
from freshet.core.types import Outcome, Snapshot, View
from freshet.measure.outcome import classify_outcome
from freshet.view.bounds import ViewLimits
from freshet.view.content_coding import ContentTooLargeError, decode_content
from freshet.view.parse import parse_snapshot


@dataclass(frozen=True, slots=True)
class ParsedVisit:
    """What a visit showed, and how it ended; the view is there whenever it could be made."""

    outcome: Outcome
    reason: str
    view: View | None


def parse_visit(snapshot: Snapshot, limits: LimitSettings, *, dom: bool = False) -> ParsedVisit:
    """Decode, view and judge a snapshot."""
    try:
        plain = decode_snapshot(snapshot, limits)
    except ContentTooLargeError as error:
        return ParsedVisit(Outcome.TOO_LARGE, str(error), None)
    except BadInputError as error:
        return ParsedVisit(Outcome.UNREADABLE, str(error), None)
    view = parse_snapshot(plain, dom=dom, limits=ViewLimits(max_body_bytes=limits.body_bytes))
    judgement = classify_outcome(plain, view)
    return ParsedVisit(judgement.outcome, judgement.why, view)


def decode_snapshot(snapshot: Snapshot, limits: LimitSettings) -> Snapshot:
    """Undo the content codings of a snapshot as it was received."""
    codings = snapshot.header("content-encoding")
    if not codings:
        return snapshot
    body = decode_content(snapshot.body, codings, limits.decoded_bytes)
    kept = tuple(pair for pair in snapshot.headers if pair[0].lower() != "content-encoding")
    return replace(snapshot, body=body, headers=kept)
