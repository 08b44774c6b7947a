"""Records as Freshet writes them (WARC 1.1, ISO 28500:2017)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote_from_bytes

from freshet.archive.warc.digest import label, sha1
from freshet.archive.warc.http_message import split_http
from freshet.archive.warc.record import (
    NOT_MODIFIED_FIELD,
    Fields,
    Record,
    format_date,
    new_id,
)

FORMAT = "WARC File Format 1.1"
CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
LONGEST_ANSWER_HEAD = 16_384
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

_UNESCAPED = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")
_WARC_FIELDS = "application/warc-fields"
_HTTP_RESPONSE = "application/http; msgtype=response"
_HTTP_REQUEST = "application/http; msgtype=request"


@dataclass(frozen=True, slots=True)
class Origin:
    """Who writes an archive, with what, and for which collection."""

    software: str
    source: str = ""
    contact: str = ""


@dataclass(frozen=True, slots=True)
class Original:
    """The record that a revisit points to; its id is empty where it is not known.

    ``digest`` is that of its payload, written as in the record itself.
    """

    id: str
    target: str
    date: datetime
    digest: str = ""


def warcinfo(origin: Origin, filename: str, date: datetime) -> Record:
    """Describe the file that this record opens."""
    facts = {
        "software": origin.software,
        "format": FORMAT,
        "conformsTo": CONFORMS_TO,
        "isPartOf": origin.source,
        "http-header-from": origin.contact,
    }
    headers = (("WARC-Filename", filename), ("Content-Type", _WARC_FIELDS))
    return _sealed(Record("warcinfo", new_id(), date, "", headers, warc_fields(facts)))


def response(target: str, date: datetime, http: bytes, *, headers: Fields = ()) -> Record:
    """Keep an HTTP response: its header and its body, content coding as received."""
    digest = label(sha1(split_http(http)[1]))
    own = (("Content-Type", _HTTP_RESPONSE), ("WARC-Payload-Digest", digest))
    return _sealed(Record("response", new_id(), date, target, own + headers, http))


def request(http: bytes, *, answer: Record, headers: Fields = ()) -> Record:
    """Keep the HTTP request that led to an answer."""
    own = (("Content-Type", _HTTP_REQUEST), ("WARC-Concurrent-To", f"<{answer.id}>"))
    return _sealed(Record("request", new_id(), answer.date, answer.target, own + headers, http))


def metadata(facts: Mapping[str, str], *, about: Record, headers: Fields = ()) -> Record:
    """Keep facts about a record beside it."""
    own = (("Content-Type", _WARC_FIELDS), ("WARC-Concurrent-To", f"<{about.id}>"))
    block = warc_fields(facts)
    return _sealed(Record("metadata", new_id(), about.date, about.target, own + headers, block))


def resource(
    target: str, date: datetime, body: bytes, media_type: str, *, headers: Fields = ()
) -> Record:
    """Keep content that came without HTTP."""
    own = (("Content-Type", media_type), ("WARC-Payload-Digest", label(sha1(body))))
    return _sealed(Record("resource", new_id(), date, target, own + headers, body))


def revisit_identical(
    target: str, date: datetime, http_head: bytes, original: Original, payload_sha1: bytes
) -> Record:
    """Say that the payload is the original's; the HTTP header of this visit is kept."""
    digest = ("WARC-Payload-Digest", label(payload_sha1))
    return _revisit(target, date, http_head, (*_refers_to(original, IDENTICAL), digest))


def revisit_not_modified(
    target: str, date: datetime, http_head: bytes, original: Original, *, answer: bytes = b""
) -> Record:
    """Say that the server answered 304 and that the payload is still the original's.

    Replay programs join this HTTP header to the original's payload, so it is the original's; the
    header of the 304 ``answer`` goes into a field of its own.
    """
    digest = (("WARC-Payload-Digest", original.digest),) if original.digest else ()
    own = ((NOT_MODIFIED_FIELD, escaped_head(answer)),) if answer else ()
    headers = (*_refers_to(original, NOT_MODIFIED), *digest, *own)
    return _revisit(target, date, http_head, headers)


def escaped_head(http_head: bytes) -> str:
    """Write an HTTP header, or the beginning of a very long one, in one line by percent escapes.

    >>> escaped_head(b"HTTP/1.1 304 Not Modified\\r\\nETag: 100%\\r\\n\\r\\n")
    'HTTP/1.1 304 Not Modified%0D%0AETag: 100%25%0D%0A%0D%0A'
    """
    return quote_from_bytes(http_head[:LONGEST_ANSWER_HEAD], safe=_UNESCAPED)


def warc_fields(facts: Mapping[str, str]) -> bytes:
    """Write facts as application/warc-fields, leaving empty ones out.

    >>> warc_fields({"software": "Freshet", "isPartOf": ""})
    b'software: Freshet\\r\\n'
    """
    lines = (f"{name}: {' '.join(value.split())}\r\n" for name, value in facts.items() if value)
    return "".join(lines).encode()


def _revisit(target: str, date: datetime, http_head: bytes, headers: Fields) -> Record:
    own = (("Content-Type", _HTTP_RESPONSE), *headers)
    return _sealed(Record("revisit", new_id(), date, target, own, http_head))


def _refers_to(original: Original, profile: str) -> Fields:
    refers = (("WARC-Refers-To", f"<{original.id}>"),) if original.id else ()
    return (
        ("WARC-Profile", profile),
        *refers,
        ("WARC-Refers-To-Target-URI", original.target),
        ("WARC-Refers-To-Date", format_date(original.date)),
    )


def with_block(record: Record, block: bytes) -> Record:
    """Return a record with another block, and with that block's digest."""
    kept = tuple(pair for pair in record.headers if pair[0].lower() != "warc-block-digest")
    return _sealed(replace(record, headers=kept, block=block))


def _sealed(record: Record) -> Record:
    """Add the digest of the block."""
    headers = (*record.headers, ("WARC-Block-Digest", label(sha1(record.block))))
    return Record(
        record.type, record.id, record.date, record.target, headers, record.block, record.version
    )
