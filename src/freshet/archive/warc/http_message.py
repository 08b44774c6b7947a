"""What an HTTP block holds: status, headers and the body as received, from odd servers too."""

import re
from typing import NamedTuple

from freshet.archive.warc.parse import decode_header, parse_header_fields
from freshet.archive.warc.record import HeaderFields, WarcRecord

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"\S+\s+(\d{3})\b")
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
_TRAILER = re.compile(rb"(?:[^\r\n]+\r?\n)*\r?\n?\Z")
_HTTP_STARTS = (b"HTTP/", b"ICY ")


class HttpPayload(NamedTuple):
    """A payload; the content coding is still on the body, the transfer coding is not."""

    status: int | None
    headers: HeaderFields
    body: bytes


def parse_payload(record: WarcRecord) -> HttpPayload:
    """Return what the record's block carries."""
    if not is_http_message(record):
        kind = record.field("Content-Type")
        return HttpPayload(None, (("Content-Type", kind),) if kind else (), record.block)
    head, body = split_http(record.block)
    first, _, rest = head.partition(b"\n")
    status = _STATUS.match(first)
    headers = parse_header_fields(decode_header(rest))
    return HttpPayload(int(status[1]) if status else None, *_without_chunks(headers, body))


def is_http_message(record: WarcRecord) -> bool:
    """Whether the block is an HTTP message."""
    if record.type == "request":
        return record.media_type == "application/http"
    return record.type in {"response", "revisit"} and record.block.startswith(_HTTP_STARTS)


def split_http(block: bytes) -> tuple[bytes, bytes]:
    """Split an HTTP message after its header; without an end of the header all is header.

    >>> split_http(b"HTTP/1.1 200 OK\\r\\nA: b\\r\\n\\r\\nbody")
    (b'HTTP/1.1 200 OK\\r\\nA: b\\r\\n\\r\\n', b'body')
    """
    found = _HEAD_END.search(block)
    end = found.end() if found else len(block)
    return block[:end], block[end:]


def stored_body(record: WarcRecord) -> bytes:
    """Return the body of an HTTP message as stored, codings included; else the whole block."""
    return split_http(record.block)[1] if is_http_message(record) else record.block


def _without_chunks(headers: HeaderFields, body: bytes) -> tuple[HeaderFields, bytes]:
    declared = any(
        name.lower() == "transfer-encoding" and "chunked" in value.lower()
        for name, value in headers
    )
    joined = decode_chunked(body, must_be_complete=not declared)
    if joined is None:
        return headers, body
    kept = tuple(pair for pair in headers if pair[0].lower() != "transfer-encoding")
    return kept, joined


def decode_chunked(body: bytes, *, must_be_complete: bool = False) -> bytes | None:
    """Undo the chunked coding; None where the body is not chunked, whatever its header says.

    With ``must_be_complete`` the body must be chunks to its very end; without, it may be cut short.

    >>> decode_chunked(b"3\\r\\nabc\\r\\n2\\r\\nde\\r\\n0\\r\\n\\r\\n")
    b'abcde'
    >>> decode_chunked(b"<html>")
    """
    parts: list[bytes] = []
    at = 0
    while found := _CHUNK_SIZE.match(body, at):
        size, start = int(found[1], 16), found.end()
        if size == 0:
            return b"".join(parts) if _TRAILER.match(body, start) or not must_be_complete else None
        parts.append(body[start : start + size])
        at = _after_line_end(body, start + size)
        if at < 0:
            return None
    cut = at >= len(body) and bool(parts)
    return b"".join(parts) if cut and not must_be_complete else None


def _after_line_end(body: bytes, at: int) -> int:
    """Return where the line end at this place ends, -1 where there is none."""
    if at >= len(body):
        return len(body)
    if body.startswith(b"\r\n", at):
        return at + 2
    return at + 1 if body.startswith((b"\n", b"\r"), at) else -1
