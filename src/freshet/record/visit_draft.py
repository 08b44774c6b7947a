"""An arrival on its way to a row: what was seen of it and where its bytes lie."""

from dataclasses import dataclass, replace

from freshet.archive.catalog.rows import Entry
from freshet.archive.importers.base import Arrival
from freshet.archive.warc.digest import sha1
from freshet.core.types import Outcome, Snapshot, Visit
from freshet.record.page_state import Seen
from freshet.record.record_store import Stored
from freshet.view.url import without_credentials

LONGEST_WHY = 200


@dataclass(frozen=True, slots=True)
class Draft:
    """An arrival on its way to a row."""

    arrival: Arrival
    page: int
    url: str
    seen: Seen
    stored: Stored
    snapshot: Snapshot | None
    why: str = ""


def with_payload(stored: Stored, snapshot: Snapshot) -> Stored:
    """Return where bytes lie with what they are, where that is not known yet."""
    if stored.digest is not None:
        return stored
    return replace(stored, digest=sha1(snapshot.body), size=len(snapshot.body))


def visit_of(draft: Draft) -> Visit:
    """Return the visit that a draft becomes."""
    arrival, stored, snapshot = draft.arrival, draft.stored, draft.snapshot
    return Visit(
        uid=arrival.uid,
        page=draft.page,
        time=arrival.time,
        outcome=draft.seen.outcome,
        status=arrival.status or (snapshot.status if snapshot else None),
        size=stored.size,
        digest=stored.digest,
        media_type=snapshot.media_type if snapshot else "",
        location=stored.location,
        final_url=_final_url(draft),
        why="" if draft.seen.outcome.is_look else draft.why[:LONGEST_WHY],
    )


def _final_url(draft: Draft) -> str | None:
    """Return where a visit ended, if that is elsewhere than at its page."""
    final = draft.arrival.final_url or draft.arrival.answered_by
    clean = without_credentials(final) if final else None
    return None if clean == draft.url else clean


def is_told(arrival: Arrival) -> bool:
    """Whether an arrival only says what somebody else observed."""
    has_bytes = arrival.snapshot or arrival.raw or arrival.location or arrival.earlier
    return arrival.outcome is Outcome.REPORTED and not has_bytes


def told_entry(page: int, arrival: Arrival) -> Entry:
    """Return the row of an observation without bytes, on a page of which no bytes are kept."""
    visit = Visit(
        arrival.uid, page, arrival.time, Outcome.REPORTED, arrival.status,
        final_url=without_credentials(arrival.final_url) if arrival.final_url else None,
    )  # fmt: skip
    return Entry(visit, arrival.change)
