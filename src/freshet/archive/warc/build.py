"""Build the WARC records that Freshet writes (WARC 1.1, ISO 28500:2017)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote_from_bytes

from freshet.archive.warc.digest import format_digest, sha1
from freshet.archive.warc.http_message import split_http
from freshet.archive.warc.record import (
    NOT_MODIFIED_FIELD,
    HeaderFields,
    WarcRecord,
    format_date,
    new_record_id,
)

FORMAT = "WARC File Format 1.1"
CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
IDENTICAL_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
MAX_ANSWER_HEAD_BYTES = 16_384
NOT_MODIFIED_PROFILE = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

_UNESCAPED_CHARACTERS = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")
_WARC_FIELDS_TYPE = "application/warc-fields"
_HTTP_RESPONSE_TYPE = "application/http; msgtype=response"
_HTTP_REQUEST_TYPE = "application/http; msgtype=request"


@dataclass(frozen=True, slots=True)
class ArchiveOrigin:
    """The writing software, the collection (``source``) and the operator's contact."""

    software: str
    source: str = ""
    contact: str = ""


@dataclass(frozen=True, slots=True)
class RevisitOriginal:
    """The record that a revisit record refers to.

    ``record_id`` is empty if it is unknown. ``digest`` is the payload digest, written as in the
    record itself.
    """

    record_id: str
    target_uri: str
    date: datetime
    digest: str = ""


def build_warcinfo(origin: ArchiveOrigin, filename: str, date: datetime) -> WarcRecord:
    """Build the record that opens a file and describes it."""
    description = {
        "software": origin.software,
        "format": FORMAT,
        "conformsTo": CONFORMS_TO,
        "isPartOf": origin.source,
        "http-header-from": origin.contact,
    }
    headers = (("WARC-Filename", filename), ("Content-Type", _WARC_FIELDS_TYPE))
    return _new_record("warcinfo", date, "", headers, encode_warc_fields(description))


def build_response(
    target_uri: str, date: datetime, http: bytes, *, headers: HeaderFields = ()
) -> WarcRecord:
    """Build a record of an HTTP response: header and body, content coding as received."""
    digest = format_digest(sha1(split_http(http)[1]))
    own_fields = (("Content-Type", _HTTP_RESPONSE_TYPE), ("WARC-Payload-Digest", digest))
    return _new_record("response", date, target_uri, own_fields + headers, http)


def build_request(http: bytes, *, response: WarcRecord, headers: HeaderFields = ()) -> WarcRecord:
    """Build a record of the HTTP request that led to a response."""
    own_fields = (("Content-Type", _HTTP_REQUEST_TYPE), ("WARC-Concurrent-To", f"<{response.id}>"))
    return _new_record("request", response.date, response.target_uri, own_fields + headers, http)


def build_metadata(
    values: Mapping[str, str], *, about: WarcRecord, headers: HeaderFields = ()
) -> WarcRecord:
    """Build a record of metadata about another record."""
    own_fields = (("Content-Type", _WARC_FIELDS_TYPE), ("WARC-Concurrent-To", f"<{about.id}>"))
    block = encode_warc_fields(values)
    return _new_record("metadata", about.date, about.target_uri, own_fields + headers, block)


def build_resource(
    target_uri: str, date: datetime, body: bytes, media_type: str, *, headers: HeaderFields = ()
) -> WarcRecord:
    """Build a record of content that was not received over HTTP."""
    own_fields = (("Content-Type", media_type), ("WARC-Payload-Digest", format_digest(sha1(body))))
    return _new_record("resource", date, target_uri, own_fields + headers, body)


def build_identical_revisit(
    target_uri: str,
    date: datetime,
    http_head: bytes,
    original: RevisitOriginal,
    payload_sha1: bytes,
) -> WarcRecord:
    """Build a revisit record for an unchanged payload, with this visit's HTTP header."""
    digest_field = ("WARC-Payload-Digest", format_digest(payload_sha1))
    headers = (*_revisit_fields(original, IDENTICAL_PROFILE), digest_field)
    return _new_record("revisit", date, target_uri, headers, http_head)


def build_not_modified_revisit(
    target_uri: str,
    date: datetime,
    http_head: bytes,
    original: RevisitOriginal,
    *,
    answer: bytes = b"",
) -> WarcRecord:
    """Build a revisit record for a 304 answer.

    Replay programs join the HTTP header of this record to the original's payload, so ``http_head``
    is the original's header. The header of the 304 ``answer`` goes into a field of its own.
    """
    digest_field = (("WARC-Payload-Digest", original.digest),) if original.digest else ()
    answer_field = ((NOT_MODIFIED_FIELD, escape_http_head(answer)),) if answer else ()
    headers = (*_revisit_fields(original, NOT_MODIFIED_PROFILE), *digest_field, *answer_field)
    return _new_record("revisit", date, target_uri, headers, http_head)


def escape_http_head(http_head: bytes) -> str:
    """Write an HTTP header on one line with percent escapes; a very long one is cut.

    >>> escape_http_head(b"HTTP/1.1 304 Not Modified\\r\\nETag: 100%\\r\\n\\r\\n")
    'HTTP/1.1 304 Not Modified%0D%0AETag: 100%25%0D%0A%0D%0A'
    """
    return quote_from_bytes(http_head[:MAX_ANSWER_HEAD_BYTES], safe=_UNESCAPED_CHARACTERS)


def encode_warc_fields(values: Mapping[str, str]) -> bytes:
    """Encode name-value pairs as application/warc-fields, without the empty ones.

    >>> encode_warc_fields({"software": "Freshet", "isPartOf": ""})
    b'software: Freshet\\r\\n'
    """
    lines = (f"{name}: {' '.join(value.split())}\r\n" for name, value in values.items() if value)
    return "".join(lines).encode()


def _revisit_fields(original: RevisitOriginal, profile: str) -> HeaderFields:
    refers_to = (("WARC-Refers-To", f"<{original.record_id}>"),) if original.record_id else ()
    return (
        ("Content-Type", _HTTP_RESPONSE_TYPE),
        ("WARC-Profile", profile),
        *refers_to,
        ("WARC-Refers-To-Target-URI", original.target_uri),
        ("WARC-Refers-To-Date", format_date(original.date)),
    )


def replace_block(record: WarcRecord, block: bytes) -> WarcRecord:
    """Return a copy of a record with another block and the digest of that block."""
    headers = (field for field in record.headers if field[0].lower() != "warc-block-digest")
    return replace(record, headers=(*headers, _block_digest_field(block)), block=block)


def _new_record(
    kind: str, date: datetime, target_uri: str, headers: HeaderFields, block: bytes
) -> WarcRecord:
    all_headers = (*headers, _block_digest_field(block))
    return WarcRecord(kind, new_record_id(), date, target_uri, all_headers, block)


def _block_digest_field(block: bytes) -> tuple[str, str]:
    return "WARC-Block-Digest", format_digest(sha1(block))
