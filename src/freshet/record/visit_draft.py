"""An arrival on its way to a row: what was seen of it and where its bytes lie."""

from dataclasses import dataclass, replace

from freshet.archive.catalog.rows import VisitEntry
from freshet.archive.observation import Observation
from freshet.archive.warc.digest import sha1
from freshet.core.types import Outcome, Snapshot, Visit
from freshet.record.page_state import VisitContent
from freshet.record.record_store import StoredBytes
from freshet.view.url import without_credentials

MAX_REASON_CHARS = 200


@dataclass(frozen=True, slots=True)
class VisitDraft:
    """An arrival on its way to a row."""

    observation: Observation
    page: int
    url: str
    content: VisitContent
    stored: StoredBytes
    snapshot: Snapshot | None
    reason: str = ""


def with_payload(stored: StoredBytes, snapshot: Snapshot) -> StoredBytes:
    """Return where bytes lie with what they are, where that is not known yet."""
    if stored.digest is not None:
        return stored
    return replace(stored, digest=sha1(snapshot.body), size=len(snapshot.body))


def visit_from_draft(draft: VisitDraft) -> Visit:
    """Return the visit that a draft becomes."""
    arrival, stored, snapshot = draft.observation, draft.stored, draft.snapshot
    return Visit(
        uid=arrival.uid,
        page=draft.page,
        time=arrival.time,
        outcome=draft.content.outcome,
        status=arrival.status or (snapshot.status if snapshot else None),
        size=stored.size,
        digest=stored.digest,
        media_type=snapshot.media_type if snapshot else "",
        location=stored.location,
        final_url=_final_url(draft),
        why="" if draft.content.outcome.is_look else draft.reason[:MAX_REASON_CHARS],
    )


def _final_url(draft: VisitDraft) -> str | None:
    """Return where a visit ended, if that is elsewhere than at its page."""
    final = draft.observation.final_url or draft.observation.answering_url
    clean = without_credentials(final) if final else None
    return None if clean == draft.url else clean


def is_report_only(arrival: Observation) -> bool:
    """Whether an arrival only says what somebody else observed."""
    has_bytes = (
        arrival.snapshot or arrival.raw_record or arrival.location or arrival.original_digest
    )
    return arrival.outcome is Outcome.REPORTED and not has_bytes


def reported_entry(page: int, arrival: Observation) -> VisitEntry:
    """Return the row of an observation without bytes, on a page of which no bytes are kept."""
    visit = Visit(
        arrival.uid, page, arrival.time, Outcome.REPORTED, arrival.status,
        final_url=without_credentials(arrival.final_url) if arrival.final_url else None,
    )  # fmt: skip
    return VisitEntry(visit, arrival.change)
