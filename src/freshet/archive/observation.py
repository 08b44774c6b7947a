"""Observations of pages: what a fetch or an importer hands over for recording."""

from dataclasses import dataclass
from datetime import datetime

from freshet.core.types import Change, Outcome, RecordLocation, Snapshot


@dataclass(frozen=True, slots=True)
class HttpExchange:
    """The HTTP messages of a fetch: request, and response header as received.

    ``metadata`` is stored with them, for example the duration and the server's address.
    """

    response_head: bytes
    request: bytes = b""
    metadata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RedirectHop:
    """A redirect on the way to a page: its URL and its HTTP exchange."""

    url: str
    exchange: HttpExchange
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class RequestBooking:
    """How a crawl paid for an observation.

    ``page`` is the leased page, 0 for a spider's own request. ``day`` is the day whose budget
    pays, empty if the request was not booked. ``was_sent`` says whether a request was sent.
    """

    page: int = 0
    day: str = ""
    was_sent: bool = True


NOT_BOOKED = RequestBooking()


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation of a page, from a fetch or from an imported history.

    ``outcome`` is None if the snapshot still has to be classified, and ``why`` is a short
    explanation. A 304 has no snapshot and the outcome "not modified". ``change`` is the change
    reported by a history without stored content. ``exchange`` is set for a fetch over HTTP.
    ``hops`` are the redirects before it, in order; ``final_url`` is their target, and
    ``answering_url`` is the URL of the last answer if the target did not answer. ``location`` is
    set if the record is already in our archive. ``raw_record`` is a gzip member to copy without
    change, ``companion_records`` are the members of its request and metadata, and
    ``original_digest`` is the payload digest of the capture that a revisit refers to. ``place`` is
    the position in the input, for messages. A crawl sets ``booking``.
    """

    url: str
    source: str
    time: datetime
    uid: bytes
    snapshot: Snapshot | None = None
    change: Change | None = None
    outcome: Outcome | None = None
    status: int | None = None
    final_url: str | None = None
    location: RecordLocation | None = None
    raw_record: bytes | None = None
    companion_records: tuple[bytes, ...] = ()
    original_digest: str | None = None
    importance: float | None = None
    place: str = ""
    exchange: HttpExchange | None = None
    hops: tuple[RedirectHop, ...] = ()
    answering_url: str | None = None
    why: str = ""
    booking: RequestBooking = NOT_BOOKED
