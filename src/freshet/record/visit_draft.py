"""A visit that is stored and parsed, but has no row yet."""

from dataclasses import dataclass

from freshet.archive.catalog.rows import ThreadLook, VisitEntry
from freshet.archive.observation import Observation
from freshet.core.types import Outcome, PageKey, Snapshot, Visit
from freshet.measure.change.compare import MaskedView
from freshet.record.page_state import PageState, is_gone_after
from freshet.record.record_store import StoredBytes
from freshet.view.url import without_credentials

MAX_REASON_CHARS = 200


@dataclass(frozen=True, slots=True)
class VisitDraft:
    """An observation of a page, with its outcome and its stored bytes.

    ``snapshot`` are the bytes that were observed, of a revisit those of its original.
    ``masked_view`` is what they show under the page's mask; None if the visit showed no content.
    ``thread`` is what they show of a thread, if posts are looked for.
    """

    page_id: int
    url: str
    observation: Observation
    outcome: Outcome
    reason: str
    stored: StoredBytes
    snapshot: Snapshot | None
    masked_view: MaskedView | None = None
    thread: ThreadLook | None = None

    @property
    def page_key(self) -> PageKey:
        """Return the identity of the page."""
        return PageKey(self.url, self.observation.source)

    def visit(self) -> Visit:
        """Return the visit that the draft becomes."""
        observation, stored, snapshot = self.observation, self.stored, self.snapshot
        return Visit(
            uid=observation.uid,
            page=self.page_id,
            time=observation.time,
            outcome=self.outcome,
            status=observation.status or (snapshot.status if snapshot else None),
            size=stored.size,
            digest=stored.digest,
            media_type=snapshot.media_type if snapshot else "",
            location=stored.location,
            final_url=self._final_url(),
            why="" if self.outcome.is_look else self.reason[:MAX_REASON_CHARS],
        )

    def next_state(self, before: PageState) -> PageState:
        """Return the state of the page after the visit."""
        time, uid = self.observation.time, self.observation.uid
        if self.masked_view is not None:
            return PageState(before.criteria, time, uid, self.masked_view)
        is_gone = is_gone_after(before.is_gone, self.outcome)
        return PageState(before.criteria, time, before.last_look_uid, before.masked_view, is_gone)

    def validator(self, name: str) -> str | None:
        """Return the ETag or Last-Modified of the answer; a 304 has them in its head alone."""
        if self.snapshot is not None:
            return self.snapshot.header(name) or None
        exchange = self.observation.exchange
        if exchange is None or self.observation.outcome is not Outcome.NOT_MODIFIED:
            return None
        lines = exchange.response_head.decode("latin-1").splitlines()
        fields = (line.partition(":") for line in lines)
        values = (value.strip() for field, _, value in fields if field.lower() == name)
        return next(values, None) or None

    def _final_url(self) -> str | None:
        """Return the URL at which the visit ended, if it is not the page's own."""
        url = self.observation.final_url or self.observation.answering_url
        final_url = without_credentials(url) if url else None
        return None if final_url == self.url else final_url


def is_report_only(observation: Observation) -> bool:
    """Whether an observation only reports what another archive saw, without bytes."""
    has_bytes = (
        observation.snapshot
        or observation.raw_record
        or observation.location
        or observation.original_digest
    )
    return observation.outcome is Outcome.REPORTED and not has_bytes


def reported_entry(page_id: int, observation: Observation) -> VisitEntry:
    """Return the row of a reported observation on a page that has no stored bytes."""
    final_url = observation.final_url
    visit = Visit(
        observation.uid, page_id, observation.time, Outcome.REPORTED, observation.status,
        final_url=without_credentials(final_url) if final_url else None,
    )  # fmt: skip
    return VisitEntry(visit, observation.change)
