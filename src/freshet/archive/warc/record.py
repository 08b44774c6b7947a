"""A WARC record: its fields, its id, its date and its encoding."""

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

# Fields that only Freshet writes (docs/decisions/0013-redirects-in-the-archive.md): the page of a
# redirected visit; the visit that a redirect led to; the final URL of a visit without last answer;
# an outcome that the answer itself does not show; and the HTTP header of a 304, because its record
# has the original's header (docs/decisions/0031-revisits-replay-the-original.md).
PAGE_FIELD = "WARC-Freshet-Page"
VISIT_FIELD = "WARC-Freshet-Visit"
FINAL_FIELD = "WARC-Freshet-Final"
OUTCOME_FIELD = "WARC-Freshet-Outcome"
NOT_MODIFIED_FIELD = "WARC-Freshet-Not-Modified"

_PARTIAL_DATE = re.compile(
    r"(?P<year>\d{1,4})(-(?P<month>\d\d))?(-(?P<day>\d{2,3}))?"
    r"(T(?P<time>\d\d:\d\d(:\d\d)?)[.\d]*)?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """One WARC record; ``headers`` holds the fields that have no attribute here."""

    type: str
    id: str
    date: datetime
    target_uri: str = ""
    headers: HeaderFields = ()
    block: bytes = b""
    version: str = VERSION

    def field(self, name: str, default: str = "") -> str:
        """Return the value of the first header with that name, ignoring case."""
        lower_name = name.lower()
        return next(
            (value for field_name, value in self.headers if field_name.lower() == lower_name),
            default,
        )

    @property
    def media_type(self) -> str:
        """Return the block's media type in lower case, without parameters."""
        return self.field("Content-Type").partition(";")[0].strip().lower()

    @property
    def visit_record_id(self) -> str:
        """Return the id of the record that this redirect led to; empty if it is no redirect."""
        return strip_brackets(self.field(VISIT_FIELD))

    @property
    def is_capture(self) -> bool:
        """Return whether the record captures a page, and is not a redirect on the way to one."""
        return self.type in CAPTURE_TYPES and not self.visit_record_id


def strip_brackets(text: str) -> str:
    """Return a record id or URL without the angle brackets that some writers add."""
    return text.strip().removeprefix("<").removesuffix(">")


def new_record_id() -> str:
    """Return a new unique record id."""
    return uuid4().urn


def uid_of_record_id(record_id: str) -> bytes:
    """Return 16 bytes for a record id: its UUID, or a hash if it has none.

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
    """Return the record id for the 16 bytes of a UUID.

    >>> record_id_of_uid(bytes(16))
    'urn:uuid:00000000-0000-0000-0000-000000000000'
    """
    return UUID(bytes=uid).urn


def format_date(time: datetime) -> str:
    """Format a WARC-Date with microseconds.

    >>> format_date(datetime(2026, 11, 15, 8, 30, tzinfo=UTC))
    '2026-11-15T08:30:00.000000Z'
    """
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_date(text: str) -> datetime | None:
    """Parse a WARC-Date in any known form; return None if it is no date.

    >>> parse_date("2016-01-11T23:24:25.412030Z").isoformat()
    '2016-01-11T23:24:25.412030+00:00'
    >>> parse_date("2016").isoformat()
    '2016-01-01T00:00:00+00:00'
    """
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return _parse_partial_date(text)


def _parse_partial_date(text: str) -> datetime | None:
    """Parse a date without day or month (WARC 1.1), or with the day of the year (ClueWeb09).

    >>> _parse_partial_date("2008-10-294T05:21:46-0700").isoformat()
    '2008-10-20T12:21:46+00:00'
    """
    match = _PARTIAL_DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = match["year"].zfill(4), match["month"] or "01", match["day"] or "01"
    is_day_of_year = len(day) == len("294")
    date = f"{year}-01-01" if is_day_of_year else f"{year}-{month}-{day}"
    try:
        time = datetime.fromisoformat(f"{date}T{match['time'] or '00:00'}{match['zone'] or 'Z'}")
        return (time + timedelta(days=int(day) - 1 if is_day_of_year else 0)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def encode_record(record: WarcRecord) -> bytes:
    """Encode a record as one gzip member."""
    return compress_member(b"".join((_encode_head(record), record.block, RECORD_END)))


def _encode_head(record: WarcRecord) -> bytes:
    lines = [
        record.version,
        *(f"{name}: {_one_line(value)}" for name, value in _all_fields(record)),
    ]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + RECORD_END


def _all_fields(record: WarcRecord) -> Iterable[tuple[str, str]]:
    yield "WARC-Type", record.type
    yield "WARC-Record-ID", f"<{record.id}>"
    yield "WARC-Date", format_date(record.date)
    if record.target_uri:
        yield "WARC-Target-URI", record.target_uri
    yield from record.headers
    yield "Content-Length", str(len(record.block))


def _one_line(value: str) -> str:
    """Return a value on one line, so that it cannot inject another header.

    >>> _one_line("a\\r\\nWARC-Type: b")
    'a WARC-Type: b'
    """
    return " ".join(value.splitlines()) if not value.isprintable() else value
