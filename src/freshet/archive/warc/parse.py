"""The bytes of WARC records, parsed one after the other."""

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
_TRAILER_BYTES = 16
# A header ends with an empty line, and where another record starts it was cut short. Looking for
# both at once keeps the time linear where a file is full of starts.
_HEAD_END = re.compile(rb"\r\n\r\n|\nWARC/")
_BARE_HEAD_END = re.compile(rb"\n\n|\nWARC/")
_LENGTH_DIGITS = 18


@dataclass(frozen=True, slots=True)
class ParsedRecord:
    """One record and the gap after it; no record where a mandatory field is missing."""

    record: WarcRecord | None
    block: RecordBlock
    fault: str = ""
    trailer: bytes = RECORD_END


class RecordParser:
    """Parses records from pieces; ``record_id`` and ``start`` name the record at hand.

    Where it is known how many bytes are ``available``, a block that is longer is not begun.
    """

    def __init__(self, pieces: ByteStream, keep: int, *, available: int = sys.maxsize) -> None:
        self._pieces = pieces
        self._keep = keep
        self._available = available
        self.record_id = ""
        self.start = 0

    @property
    def position(self) -> int:
        """Return how many bytes were read so far."""
        return self._pieces.position

    def at_end(self) -> bool:
        """Whether no record is left."""
        return self._pieces.at_end()

    def next(self) -> ParsedRecord:
        """Parse the next record; Damaged where it cannot be told from what follows."""
        self.record_id, self.start = "", self.position
        version, fields = self._head()
        first = {name.lower(): value for name, value in reversed(fields)}
        self.record_id = first.get("warc-record-id", "").strip("<>")
        length = _content_length(first.get("content-length"))
        block = self._block(length)
        gap = self._gap(length)
        record, missing = _record(version, fields, first, block.data)
        return ParsedRecord(record, block, missing, gap)

    def _head(self) -> tuple[str, HeaderFields]:
        if self._pieces.peek(len(RECORD_START)) != RECORD_START:
            raise DamagedError("no WARC record starts here")
        version = self._pieces.read_through(b"\n", MAX_HEAD_BYTES) or b""
        head_end = _HEAD_END if b"\r" in version else _BARE_HEAD_END
        head = self._pieces.read_through_match(head_end, MAX_HEAD_BYTES)
        if head is None or head.endswith(RECORD_START):
            raise DamagedError("record is cut short in its header")
        return decode_header(version).strip(), parse_header_fields(decode_header(head))

    def _block(self, length: int) -> RecordBlock:
        left = self._available - self.position
        block = (
            self._pieces.read_block(length, self._keep)
            if length <= left
            else RecordBlock(b"", left)
        )
        if block.size < length:
            raise DamagedError(
                f"record is cut short: its Content-Length is {length}, {block.size} bytes are there"
            )
        return block

    def _gap(self, length: int) -> bytes:
        gap = self._pieces.read_while(b"\r\n", _TRAILER_BYTES)
        if not self.at_end() and self._pieces.peek(len(RECORD_START)) != RECORD_START:
            raise DamagedError(f"record does not end after its Content-Length of {length}")
        return gap


def decode_header(raw: bytes) -> str:
    """Decode header bytes: UTF-8, or else Latin-1, which takes any byte.

    >>> decode_header("é".encode("latin-1"))
    'é'
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def parse_header_fields(head: str) -> HeaderFields:
    """Split header lines into names and values; a line that starts blank goes on with the last.

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
    return tuple((name, " ".join(filter(None, parts))) for name, parts in fields)


def _content_length(text: str | None) -> int:
    if text is None:
        raise DamagedError("record has no Content-Length")
    if not (text.isascii() and text.isdigit() and len(text) <= _LENGTH_DIGITS):
        raise DamagedError(f"record's Content-Length is {text[:40]!r}, which is no length")
    return int(text)


def _record(
    version: str, fields: HeaderFields, first: dict[str, str], block: bytes
) -> tuple[WarcRecord | None, str]:
    kind, identity = first.get("warc-type", ""), first.get("warc-record-id", "").strip("<>")
    date = parse_date(first.get("warc-date", ""))
    if not kind:
        return None, "record has no WARC-Type"
    if not identity:
        return None, "record has no WARC-Record-ID"
    if date is None:
        return None, f"record's WARC-Date is {first.get('warc-date', '')[:40]!r}, which is no date"
    target = first.get("warc-target-uri", "").strip("<>")
    others = tuple(pair for pair in fields if pair[0].lower() not in _OWN_FIELDS)
    return WarcRecord(kind, identity, date, target, others, block, version), ""
