"""Decode HTTP content codings without exceeding a size limit.

A truncated or damaged stream gives the part that could be decoded, as in a browser. It is an error
only if nothing can be decoded.
"""

import sys
import zlib
from collections.abc import Callable, Iterator

import brotli  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from freshet.core.errors import BadInputError

MAX_CODINGS = 5

_STEP_BYTES, _SMALL_STEP_BYTES = 1 << 16, 64
_GZIP_WINDOW, _ZLIB_WINDOW, _RAW_WINDOW = 31, 15, -15
# RFC 9659 limits the window of the zstd content coding to 8 MB.
_ZSTD_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}

Decoder = Callable[[bytes, int], Iterator[bytes]]


class UndecodableContentError(BadInputError):
    """A body does not have its declared content coding."""


class ContentTooLargeError(BadInputError):
    """A body is larger than the limit after decoding."""


def decode_content(body: bytes, codings: str, limit: int) -> bytes:
    """Undo the codings of a Content-Encoding header, the last one first.

    >>> decode_content(zlib.compress(b"rain"), "deflate", limit=100)
    b'rain'
    """
    names = [name for name in map(str.strip, codings.lower().split(",")) if name not in _NO_CODING]
    if len(names) > MAX_CODINGS:
        raise UndecodableContentError(
            f"Content-Encoding: {codings[:80]!r} has {len(names)} codings, more than"
            f" {MAX_CODINGS}; keep the body as it is"
        )
    for name in reversed(names):
        body = _decode_one(body, name, limit)
    if len(body) > limit:
        raise _too_large(limit)
    return body


def _decode_one(body: bytes, name: str, limit: int) -> bytes:
    """Undo one coding; retry with small steps if the stream is damaged near its start."""
    decoder = _DECODERS.get(name)
    if decoder is None:
        raise UndecodableContentError(
            f"Content-Encoding: {name[:40]!r} is unknown; keep the body as it is"
        )
    decoded = b"" if not body else _collect_until_error(decoder(body, _STEP_BYTES), limit)
    if body and not decoded:
        decoded = _collect_until_error(decoder(body, _SMALL_STEP_BYTES), limit)
    if body and not decoded and not _is_empty_stream(body, decoder):
        raise UndecodableContentError(
            f"Content-Encoding: the {len(body)} bytes are not {name}; keep the body as it is"
        )
    return decoded


def _collect_until_error(chunks: Iterator[bytes], limit: int) -> bytes:
    """Join the decoded chunks up to the end or the first error."""
    decoded = bytearray()
    try:
        for chunk in chunks:
            decoded += chunk
            if len(decoded) > limit:
                raise _too_large(limit)
    except _DECODE_ERRORS:
        pass
    return bytes(decoded)


def _is_empty_stream(body: bytes, decoder: Decoder) -> bool:
    """Return whether a body decodes to nothing without an error."""
    try:
        return not any(decoder(body, _STEP_BYTES))
    except _DECODE_ERRORS:
        return False


def _too_large(limit: int) -> ContentTooLargeError:
    return ContentTooLargeError(
        f"the body decodes to more than {limit:,} bytes; raise the limit to keep it"
    )


def _inflate(body: bytes, step: int, window: int) -> Iterator[bytes]:
    """Yield the decoded chunks of a deflate stream, and of further gzip members after it."""
    while body:
        stream = zlib.decompressobj(window)
        while not stream.eof and body:
            yield stream.decompress(body, step)
            body = stream.unconsumed_tail
        _require_end(stream.eof)
        body = stream.unused_data if window == _GZIP_WINDOW else b""


def _gzip(body: bytes, step: int) -> Iterator[bytes]:
    return _inflate(body, step, _GZIP_WINDOW)


def _deflate(body: bytes, step: int) -> Iterator[bytes]:
    """Decode zlib data, or the raw deflate data that some servers send under the same name."""
    is_zlib = body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    return _inflate(body, step, _ZLIB_WINDOW if is_zlib else _RAW_WINDOW)


def _brotli(body: bytes, step: int) -> Iterator[bytes]:
    stream = brotli.Decompressor()
    chunk = stream.process(body, output_buffer_limit=step)
    while chunk:
        yield chunk
        chunk = b"" if stream.is_finished() else stream.process(b"", output_buffer_limit=step)
    _require_end(stream.is_finished())


def _zstd(body: bytes, step: int) -> Iterator[bytes]:
    """Yield the decoded chunks of every frame."""
    while body:
        frame = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)
        chunk = frame.decompress(body, step)
        while chunk:
            yield chunk
            chunk = b"" if frame.eof else frame.decompress(b"", step)
        _require_end(frame.eof)
        body = frame.unused_data


def _require_end(is_complete: bool) -> None:
    """Raise an error if a stream is truncated."""
    if not is_complete:
        raise EOFError


_NO_CODING = frozenset({"", "identity", "none"})
_DECODE_ERRORS = (EOFError, zlib.error, brotli.error, zstd.ZstdError)
_DECODERS: dict[str, Decoder] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
