"""A WARC record as a value, its identity, its dates, and its form on disk."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import xxhash

from freshet.archive.warc.gzip_member import compress_member

HeaderFields = tuple[tuple[str, str], ...]

VERSION = "WARC/1.1"
RECORD_END = b"\r\n\r\n"
CAPTURE_TYPES = frozenset({"response", "resource", "revisit"})

# What only Freshet says of a record (docs/decisions/0013-redirects-in-the-archive.md): the page of
# a redirected visit; the visit that a redirecting answer led to; where a visit ended that got no
# last answer; an outcome that the answer itself does not show; and the HTTP header of a 304, whose
# record has the original's (docs/decisions/0031-revisits-replay-the-original.md).
PAGE_FIELD = "WARC-Freshet-Page"
VISIT_FIELD = "WARC-Freshet-Visit"
FINAL_FIELD = "WARC-Freshet-Final"
OUTCOME_FIELD = "WARC-Freshet-Outcome"
NOT_MODIFIED_FIELD = "WARC-Freshet-Not-Modified"

_ODD_DATE = re.compile(
    r"(?P<year>\d{1,4})(-(?P<month>\d\d))?(-(?P<day>\d{2,3}))?"
    r"(T(?P<time>\d\d:\d\d(:\d\d)?)[.\d]*)?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """One WARC record; ``headers`` holds the fields that have no place of their own here."""

    type: str
    id: str
    date: datetime
    target_uri: str = ""
    headers: HeaderFields = ()
    block: bytes = b""
    version: str = VERSION

    def field(self, name: str, default: str = "") -> str:
        """Return the first header of that name, whatever its case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), default)

    @property
    def media_type(self) -> str:
        """Return the block's media type, lower case and without parameters."""
        return self.field("Content-Type").partition(";")[0].strip().lower()

    @property
    def visit_record_id(self) -> str:
        """Return the id of the visit's record that this one only led to; empty where none is."""
        return self.field(VISIT_FIELD).strip().removeprefix("<").removesuffix(">")

    @property
    def is_capture(self) -> bool:
        """Whether the record shows a page, and is not an answer on the way to one."""
        return self.type in CAPTURE_TYPES and not self.visit_record_id


def new_record_id() -> str:
    """Return a record id that no other record has."""
    return uuid4().urn


def uid_of_record_id(record_id: str) -> bytes:
    """Return 16 bytes that stand for a record id: its UUID, or a hash of an id that has none.

    >>> uid_of_record_id("urn:uuid:00000000-0000-0000-0000-0000000000ff").hex()
    '000000000000000000000000000000ff'
    >>> len(uid_of_record_id("http://example.org/record/1"))
    16
    """
    try:
        return UUID(record_id).bytes
    except ValueError:
        return xxhash.xxh3_128_digest(record_id.encode())


def record_id_of_uid(uid: bytes) -> str:
    """Return the record id that a UUID's 16 bytes stand for.

    >>> record_id_of_uid(bytes(16))
    'urn:uuid:00000000-0000-0000-0000-000000000000'
    """
    return UUID(bytes=uid).urn


def format_date(moment: datetime) -> str:
    """Write a WARC-Date with microseconds.

    >>> format_date(datetime(2026, 11, 15, 8, 30, tzinfo=UTC))
    '2026-11-15T08:30:00.000000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_date(text: str) -> datetime | None:
    """Read a WARC-Date in any form seen in the wild; None where there is no date in it.

    >>> parse_date("2016-01-11T23:24:25.412030Z").isoformat()
    '2016-01-11T23:24:25.412030+00:00'
    >>> parse_date("2016").isoformat()
    '2016-01-01T00:00:00+00:00'
    """
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return _parse_odd_date(text)


def _parse_odd_date(text: str) -> datetime | None:
    """Read a date without day or month (WARC 1.1), or with the day of the year (ClueWeb09).

    >>> _parse_odd_date("2008-10-294T05:21:46-0700").isoformat()
    '2008-10-20T12:21:46+00:00'
    """
    found = _ODD_DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day = found["year"].zfill(4), found["month"] or "01", found["day"] or "01"
    of_year = len(day) == len("294")
    start = f"{year}-01-01" if of_year else f"{year}-{month}-{day}"
    try:
        moment = datetime.fromisoformat(f"{start}T{found['time'] or '00:00'}{found['zone'] or 'Z'}")
        return (moment + timedelta(days=int(day) - 1 if of_year else 0)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def encode_record(record: WarcRecord) -> bytes:
    """Return the record as one gzip member."""
    return compress_member(b"".join((_head(record), record.block, RECORD_END)))


def _head(record: WarcRecord) -> bytes:
    lines = [record.version, *(f"{name}: {_one_line(value)}" for name, value in _fields(record))]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + RECORD_END


def _fields(record: WarcRecord) -> Iterable[tuple[str, str]]:
    yield "WARC-Type", record.type
    yield "WARC-Record-ID", f"<{record.id}>"
    yield "WARC-Date", format_date(record.date)
    if record.target_uri:
        yield "WARC-Target-URI", record.target_uri
    yield from record.headers
    yield "Content-Length", str(len(record.block))


def _one_line(value: str) -> str:
    """Keep a value from ending its line, so that no header can smuggle in another.

    >>> _one_line("a\\r\\nWARC-Type: b")
    'a WARC-Type: b'
    """
    return " ".join(value.splitlines()) if not value.isprintable() else value
