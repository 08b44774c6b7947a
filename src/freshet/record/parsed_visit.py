"""A snapshot becomes what was seen of it: decoded, viewed and judged."""

from dataclasses import dataclass, replace

from freshet.core.errors import BadInput
from freshet.core.settings import LimitSettings
from freshet.core.types import Outcome, Snapshot, View
from freshet.measure.outcome import judge
from freshet.view.bounds import Limits
from freshet.view.content_coding import TooLarge, decode
from freshet.view.parse import look


@dataclass(frozen=True, slots=True)
class Sight:
    """What a visit showed, and how it ended; the view is there whenever it could be made."""

    outcome: Outcome
    why: str
    view: View | None


def see(snapshot: Snapshot, limits: LimitSettings, *, dom: bool = False) -> Sight:
    """Decode, view and judge a snapshot."""
    try:
        plain = decoded(snapshot, limits)
    except TooLarge as error:
        return Sight(Outcome.TOO_LARGE, str(error), None)
    except BadInput as error:
        return Sight(Outcome.UNREADABLE, str(error), None)
    view = look(plain, dom=dom, limits=Limits(body_bytes=limits.body_bytes))
    judgement = judge(plain, view)
    return Sight(judgement.outcome, judgement.why, view)


def decoded(snapshot: Snapshot, limits: LimitSettings) -> Snapshot:
    """Undo the content codings of a snapshot as it was received."""
    codings = snapshot.header("content-encoding")
    if not codings:
        return snapshot
    body = decode(snapshot.body, codings, limits.decoded_bytes)
    kept = tuple(pair for pair in snapshot.headers if pair[0].lower() != "content-encoding")
    return replace(snapshot, body=body, headers=kept)
