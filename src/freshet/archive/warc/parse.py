"""Parse WARC records one after another."""

import re
import sys
from dataclasses import dataclass

from freshet.archive.warc.byte_stream import ByteStream, RecordBlock
from freshet.archive.warc.record import RECORD_END, HeaderFields, WarcRecord, parse_date
from freshet.core.errors import DamagedError

MAX_HEAD_BYTES = 1_048_576
RECORD_START = b"WARC/"

_OWN_FIELDS = frozenset({
    "warc-type", "warc-record-id", "warc-date", "warc-target-uri", "content-length",
})  # fmt: skip
_MAX_TRAILER_BYTES = 16
# A header ends with an empty line; it is cut short if another record starts before that. One
# search for both keeps the time linear in a file full of record starts.
_LINE_END = re.compile(rb"\n")
_HEAD_END = re.compile(rb"\r\n\r\n|\nWARC/")
_BARE_HEAD_END = re.compile(rb"\n\n|\nWARC/")
_MAX_LENGTH_DIGITS = 18


@dataclass(frozen=True, slots=True)
class ParsedRecord:
    """A parsed record and its trailer; ``record`` is None if a mandatory field is missing."""

    record: WarcRecord | None
    block: RecordBlock
    fault: str = ""
    trailer: bytes = RECORD_END


class RecordParser:
    """Parses records from a stream; ``record_id`` and ``start`` describe the current record.

    If the number of ``available`` bytes is known, a longer block is not read at all.
    """

    def __init__(
        self, stream: ByteStream, keep_bytes: int, *, available: int = sys.maxsize
    ) -> None:
        self._stream = stream
        self._keep_bytes = keep_bytes
        self._available = available
        self.record_id = ""
        self.start = 0

    @property
    def position(self) -> int:
        """Return the number of bytes read so far."""
        return self._stream.position

    def at_end(self) -> bool:
        """Return whether no record is left."""
        return self._stream.at_end()

    def parse_next(self) -> ParsedRecord:
        """Parse the next record; raise an error if its end cannot be determined."""
        self.record_id, self.start = "", self.position
        version, fields = self._read_head()
        first_values = {name.lower(): value for name, value in reversed(fields)}
        self.record_id = first_values.get("warc-record-id", "").strip("<>")
        length = _parse_content_length(first_values.get("content-length"))
        block = self._read_block(length)
        trailer = self._read_trailer(length)
        record, fault = _build_record(version, fields, first_values, block.data)
        return ParsedRecord(record, block, fault, trailer)

    def _read_head(self) -> tuple[str, HeaderFields]:
        if self._stream.peek(len(RECORD_START)) != RECORD_START:
            raise DamagedError("no WARC record starts here")
        version = self._stream.read_through(_LINE_END, MAX_HEAD_BYTES) or b""
        head_end = _HEAD_END if b"\r" in version else _BARE_HEAD_END
        head = self._stream.read_through(head_end, MAX_HEAD_BYTES)
        if head is None or head.endswith(RECORD_START):
            raise DamagedError("record is cut short in its header")
        return decode_header(version).strip(), parse_header_fields(decode_header(head))

    def _read_block(self, length: int) -> RecordBlock:
        remaining = self._available - self.position
        if length <= remaining:
            block = self._stream.read_block(length, self._keep_bytes)
            remaining = block.size
        if remaining < length:
            raise DamagedError(
                f"record is cut short: its Content-Length is {length}, {remaining} bytes are left"
            )
        return block

    def _read_trailer(self, length: int) -> bytes:
        trailer = self._stream.read_while(b"\r\n", _MAX_TRAILER_BYTES)
        if not self.at_end() and self._stream.peek(len(RECORD_START)) != RECORD_START:
            raise DamagedError(f"record does not end after its Content-Length of {length}")
        return trailer


def decode_header(raw: bytes) -> str:
    """Decode header bytes as UTF-8, or else as Latin-1, which accepts any byte.

    >>> decode_header("é".encode("latin-1"))
    'é'
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def parse_header_fields(head: str) -> HeaderFields:
    """Split header lines into names and values; a leading blank continues the last line.

    >>> parse_header_fields("A: 1\\r\\n 2\\r\\nno colon\\nB:3")
    (('A', '1 2'), ('B', '3'))
    """
    fields: list[tuple[str, list[str]]] = []
    for line in head.split("\n"):
        name, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and fields:
            fields[-1][1].append(line.strip())
        elif colon and name.strip():
            fields.append((name.strip(), [value.strip()]))
    return tuple((name, " ".join(filter(None, value_lines))) for name, value_lines in fields)


def _parse_content_length(text: str | None) -> int:
    if text is None:
        raise DamagedError("record has no Content-Length")
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_LENGTH_DIGITS):
        raise DamagedError(f"record's Content-Length is {text[:40]!r}, which is not a length")
    return int(text)


def _build_record(
    version: str, fields: HeaderFields, first_values: dict[str, str], block: bytes
) -> tuple[WarcRecord | None, str]:
    record_type = first_values.get("warc-type", "")
    record_id = first_values.get("warc-record-id", "").strip("<>")
    date_text = first_values.get("warc-date", "")
    date = parse_date(date_text)
    if not record_type:
        return None, "record has no WARC-Type"
    if not record_id:
        return None, "record has no WARC-Record-ID"
    if date is None:
        return None, f"record's WARC-Date is {date_text[:40]!r}, which is not a date"
    target_uri = first_values.get("warc-target-uri", "").strip("<>")
    other_fields = tuple(field for field in fields if field[0].lower() not in _OWN_FIELDS)
    return WarcRecord(record_type, record_id, date, target_uri, other_fields, block, version), ""
