"""Parse HTTP messages in records: status, headers and body, also of non-conforming servers."""

import re
from typing import NamedTuple

from freshet.archive.warc.parse import decode_header, parse_header_fields
from freshet.archive.warc.record import HeaderFields, WarcRecord

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(rb"\S+\s+(\d{3})\b")
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
_TRAILER = re.compile(rb"(?:[^\r\n]+\r?\n)*\r?\n?\Z")
_HTTP_STARTS = (b"HTTP/", b"ICY ")


class HttpPayload(NamedTuple):
    """A parsed payload; the body keeps its content coding and has no transfer coding."""

    status: int | None
    headers: HeaderFields
    body: bytes


def parse_payload(record: WarcRecord) -> HttpPayload:
    """Parse the block of a record."""
    if not is_http_message(record):
        content_type = record.field("Content-Type")
        headers: HeaderFields = (("Content-Type", content_type),) if content_type else ()
        return HttpPayload(None, headers, record.block)
    head, body = split_http(record.block)
    status_line, _, header_lines = head.partition(b"\n")
    match = _STATUS_LINE.match(status_line)
    headers, body = _remove_chunked_coding(parse_header_fields(decode_header(header_lines)), body)
    return HttpPayload(int(match[1]) if match else None, headers, body)


def is_http_message(record: WarcRecord) -> bool:
    """Return whether the block of a record is an HTTP message."""
    if record.type == "request":
        return record.media_type == "application/http"
    return record.type in {"response", "revisit"} and record.block.startswith(_HTTP_STARTS)


def split_http(block: bytes) -> tuple[bytes, bytes]:
    """Split an HTTP message into header and body; without an end of the header, all is header.

    >>> split_http(b"HTTP/1.1 200 OK\\r\\nA: b\\r\\n\\r\\nbody")
    (b'HTTP/1.1 200 OK\\r\\nA: b\\r\\n\\r\\n', b'body')
    """
    head_end = _HEAD_END.search(block)
    end = head_end.end() if head_end else len(block)
    return block[:end], block[end:]


def stored_body(record: WarcRecord) -> bytes:
    """Return the body of an HTTP message as stored, codings included; else the whole block."""
    return split_http(record.block)[1] if is_http_message(record) else record.block


def _remove_chunked_coding(headers: HeaderFields, body: bytes) -> tuple[HeaderFields, bytes]:
    is_declared_chunked = any(
        name.lower() == "transfer-encoding" and "chunked" in value.lower()
        for name, value in headers
    )
    unchunked = decode_chunked(body, must_be_complete=not is_declared_chunked)
    if unchunked is None:
        return headers, body
    other_headers = tuple(header for header in headers if header[0].lower() != "transfer-encoding")
    return other_headers, unchunked


def decode_chunked(body: bytes, *, must_be_complete: bool = False) -> bytes | None:
    """Undo the chunked transfer coding; return None if the body is not chunked.

    With ``must_be_complete`` the body must consist of chunks to its end; else it may be cut short.

    >>> decode_chunked(b"3\\r\\nabc\\r\\n2\\r\\nde\\r\\n0\\r\\n\\r\\n")
    b'abcde'
    >>> decode_chunked(b"<html>")
    """
    chunks: list[bytes] = []
    position = 0
    while size_line := _CHUNK_SIZE.match(body, position):
        size, start = int(size_line[1], 16), size_line.end()
        if size == 0:
            return b"".join(chunks) if _TRAILER.match(body, start) or not must_be_complete else None
        chunks.append(body[start : start + size])
        position = _after_line_end(body, start + size)
        if position < 0:
            return None
    is_cut_short = position >= len(body) and bool(chunks)
    return b"".join(chunks) if is_cut_short and not must_be_complete else None


def _after_line_end(body: bytes, position: int) -> int:
    """Return the offset behind the line end at this position, or -1 if there is none."""
    if position >= len(body):
        return len(body)
    if body.startswith(b"\r\n", position):
        return position + 2
    return position + 1 if body.startswith((b"\n", b"\r"), position) else -1
