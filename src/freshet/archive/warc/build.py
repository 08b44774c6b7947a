"""Records as Freshet writes them (WARC 1.1, ISO 28500:2017)."""

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

_UNESCAPED = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")
_WARC_FIELDS = "application/warc-fields"
_HTTP_RESPONSE = "application/http; msgtype=response"
_HTTP_REQUEST = "application/http; msgtype=request"


@dataclass(frozen=True, slots=True)
class ArchiveOrigin:
    """Who writes an archive, with what, and for which collection."""

    software: str
    source: str = ""
    contact: str = ""


@dataclass(frozen=True, slots=True)
class RevisitOriginal:
    """The record that a revisit points to; its id is empty where it is not known.

    ``digest`` is that of its payload, written as in the record itself.
    """

    record_id: str
    target_uri: str
    date: datetime
    digest: str = ""


def build_warcinfo(origin: ArchiveOrigin, filename: str, date: datetime) -> WarcRecord:
    """Describe the file that this record opens."""
    facts = {
        "software": origin.software,
        "format": FORMAT,
        "conformsTo": CONFORMS_TO,
        "isPartOf": origin.source,
        "http-header-from": origin.contact,
    }
    headers = (("WARC-Filename", filename), ("Content-Type", _WARC_FIELDS))
    return _sealed(
        WarcRecord("warcinfo", new_record_id(), date, "", headers, encode_warc_fields(facts))
    )


def build_response(
    target: str, date: datetime, http: bytes, *, headers: HeaderFields = ()
) -> WarcRecord:
    """Keep an HTTP response: its header and its body, content coding as received."""
    digest = format_digest(sha1(split_http(http)[1]))
    own = (("Content-Type", _HTTP_RESPONSE), ("WARC-Payload-Digest", digest))
    return _sealed(WarcRecord("response", new_record_id(), date, target, own + headers, http))


def build_request(http: bytes, *, response: WarcRecord, headers: HeaderFields = ()) -> WarcRecord:
    """Keep the HTTP request that led to an answer."""
    own = (("Content-Type", _HTTP_REQUEST), ("WARC-Concurrent-To", f"<{response.id}>"))
    return _sealed(
        WarcRecord(
            "request", new_record_id(), response.date, response.target_uri, own + headers, http
        )
    )


def build_metadata(
    facts: Mapping[str, str], *, about: WarcRecord, headers: HeaderFields = ()
) -> WarcRecord:
    """Keep facts about a record beside it."""
    own = (("Content-Type", _WARC_FIELDS), ("WARC-Concurrent-To", f"<{about.id}>"))
    block = encode_warc_fields(facts)
    return _sealed(
        WarcRecord("metadata", new_record_id(), about.date, about.target_uri, own + headers, block)
    )


def build_resource(
    target: str, date: datetime, body: bytes, media_type: str, *, headers: HeaderFields = ()
) -> WarcRecord:
    """Keep content that came without HTTP."""
    own = (("Content-Type", media_type), ("WARC-Payload-Digest", format_digest(sha1(body))))
    return _sealed(WarcRecord("resource", new_record_id(), date, target, own + headers, body))


def build_identical_revisit(
    target: str, date: datetime, http_head: bytes, original: RevisitOriginal, payload_sha1: bytes
) -> WarcRecord:
    """Say that the payload is the original's; the HTTP header of this visit is kept."""
    digest = ("WARC-Payload-Digest", format_digest(payload_sha1))
    return _revisit(target, date, http_head, (*_refers_to(original, IDENTICAL_PROFILE), digest))


def build_not_modified_revisit(
    target: str, date: datetime, http_head: bytes, original: RevisitOriginal, *, answer: bytes = b""
) -> WarcRecord:
    """Say that the server answered 304 and that the payload is still the original's.

    Replay programs join this HTTP header to the original's payload, so it is the original's; the
    header of the 304 ``response`` goes into a field of its own.
    """
    digest = (("WARC-Payload-Digest", original.digest),) if original.digest else ()
    own = ((NOT_MODIFIED_FIELD, escape_http_head(answer)),) if answer else ()
    headers = (*_refers_to(original, NOT_MODIFIED_PROFILE), *digest, *own)
    return _revisit(target, date, http_head, headers)


def escape_http_head(http_head: bytes) -> str:
    """Write an HTTP header, or the beginning of a very long one, in one line by percent escapes.

    >>> escape_http_head(b"HTTP/1.1 304 Not Modified\\r\\nETag: 100%\\r\\n\\r\\n")
    'HTTP/1.1 304 Not Modified%0D%0AETag: 100%25%0D%0A%0D%0A'
    """
    return quote_from_bytes(http_head[:MAX_ANSWER_HEAD_BYTES], safe=_UNESCAPED)


def encode_warc_fields(facts: Mapping[str, str]) -> bytes:
    """Write facts as application/warc-fields, leaving empty ones out.

    >>> encode_warc_fields({"software": "Freshet", "isPartOf": ""})
    b'software: Freshet\\r\\n'
    """
    lines = (f"{name}: {' '.join(value.split())}\r\n" for name, value in facts.items() if value)
    return "".join(lines).encode()


def _revisit(target: str, date: datetime, http_head: bytes, headers: HeaderFields) -> WarcRecord:
    own = (("Content-Type", _HTTP_RESPONSE), *headers)
    return _sealed(WarcRecord("revisit", new_record_id(), date, target, own, http_head))


def _refers_to(original: RevisitOriginal, profile: str) -> HeaderFields:
    refers = (("WARC-Refers-To", f"<{original.record_id}>"),) if original.record_id else ()
    return (
        ("WARC-Profile", profile),
        *refers,
        ("WARC-Refers-To-Target-URI", original.target_uri),
        ("WARC-Refers-To-Date", format_date(original.date)),
    )


def replace_block(record: WarcRecord, block: bytes) -> WarcRecord:
    """Return a record with another block, and with that block's digest."""
    kept = tuple(pair for pair in record.headers if pair[0].lower() != "warc-block-digest")
    return _sealed(replace(record, headers=kept, block=block))


def _sealed(record: WarcRecord) -> WarcRecord:
    """Add the digest of the block."""
    headers = (*record.headers, ("WARC-Block-Digest", format_digest(sha1(record.block))))
    return WarcRecord(
        record.type,
        record.id,
        record.date,
        record.target_uri,
        headers,
        record.block,
        record.version,
    )
