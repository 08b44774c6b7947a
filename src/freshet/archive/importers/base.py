"""What every importer gives: arrivals, and the rows that could not be read."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from xxhash import xxh3_128_digest

from freshet.core.clock import to_epoch
from freshet.core.types import BadRow, Change, Outcome, RecordLocation, Snapshot

MAX_BODY_BYTES = 64_000_000
MAX_LINK_COUNT = 1_000_000_000
NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?")
# A date in digits alone (ISO 8601 basic format), also with the time as web archives write it.
DIGIT_DATE = re.compile(r"((?:19|20|21)[0-9]{6})([0-9]{6})?")


@dataclass(frozen=True, slots=True)
class HttpExchange:
    """What went over the wire beside the body: the request, the response's head as received.

    ``metadata`` are kept beside them as metadata: how long it took, from which address, and the like.
    """

    response_head: bytes
    request: bytes = b""
    metadata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RedirectHop:
    """A redirecting answer on the way to a page: who gave it, and what it was."""

    url: str
    exchange: HttpExchange
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation of a page, fetched or told by an outside history.

    ``outcome`` is None where the snapshot is still to be judged, and ``why`` says in a few words
    how it came about; a 304 has no snapshot and the outcome "not modified". ``change`` is what the
    history says where it kept no bytes. ``exchange`` is what a fetch over HTTP hands over; an arrival
    without it came otherwise. ``hops`` are the redirecting answers that came before it, in order;
    ``final_url`` is where they led, and ``answering_url`` who gave the last answer where that did
    not answer. ``location`` is set where the record lies in our archive already; ``raw_record`` is
    a gzip member to be copied byte for byte, ``companion_records`` are the members of its request and
    metadata, and ``original_digest`` is the digest of the capture whose bytes a revisit shares.
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


class HistoryReader(ABC):
    """An outside history, read once as a stream; ``done`` of ``total`` tells how far it is.

    ``source`` is that of its arrivals, ``notes`` what a person should know about the whole input.
    """

    def __init__(self, total: int, source: str) -> None:
        self.total = total
        self.source = source
        self.notes: list[str] = []

    @property
    @abstractmethod
    def done(self) -> int:
        """Return how much of ``total`` has been read."""

    @abstractmethod
    def __iter__(self) -> Iterator[Observation | BadRow]:
        """Yield arrivals and bad rows in the order of the input."""


def row_uid(kind: str, source: str, url: str, time: datetime, commit: str = "") -> bytes:
    """Return the same 16 bytes whenever the same row is read, so that no visit is doubled.

    >>> noon = datetime.fromisoformat("2024-01-01T12:00:00+00:00")
    >>> row_uid("csv", "shop", "a", noon) == row_uid("csv", "shop", "a", noon)
    True
    """
    row = "\0".join((kind, source, url, str(to_epoch(time)), commit))
    return xxh3_128_digest(row.encode("utf-8", "surrogatepass"))


def input_name(path: Path) -> str:
    """Return the name of an input, without its last suffix and without ``.gz``.

    >>> input_name(Path("prices.csv.gz"))
    'prices'
    """
    return Path(path.name.removesuffix(".gz")).stem


def parse_time(text: str) -> datetime:
    """Read a time in ISO 8601 or as epoch seconds; without a zone it is UTC.

    Eight digits that form a date from 1900 to 2199 are that date, and six more digits its time of
    day. Other numbers are epoch seconds.

    >>> parse_time("2024-01-01T02:00:00+02:00").isoformat()
    '2024-01-01T00:00:00+00:00'
    >>> parse_time("86400").isoformat()
    '1970-01-02T00:00:00+00:00'
    >>> parse_time("20240101").isoformat(), parse_time("20240101120000").isoformat()
    ('2024-01-01T00:00:00+00:00', '2024-01-01T12:00:00+00:00')
    """
    text = text.strip()
    try:
        if NUMBER.fullmatch(text):
            return _digit_date(text) or datetime.fromtimestamp(float(text), UTC)
        time = datetime.fromisoformat(text)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"time {text[:100]!r} is neither ISO 8601 nor epoch seconds") from None


def _digit_date(text: str) -> datetime | None:
    """Read YYYYMMDD or YYYYMMDDhhmmss; None where the digits form no date."""
    match = DIGIT_DATE.fullmatch(text)
    if match is None:
        return None
    try:
        return datetime.fromisoformat(f"{match[1]}T{match[2] or '000000'}+00:00")
    except ValueError:
        return None
