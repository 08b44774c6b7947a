"""Undo HTTP content codings, never holding more than a limit.

A stream that is cut short or damaged gives what could be decoded before that, as in a browser; only
one that gives nothing at all is an error.
"""

import io
import zlib
from collections.abc import Callable, Iterator

import brotli  # type: ignore[import-untyped]
import zstandard

from freshet.core.errors import BadInputError

MAX_CODINGS = 5

_STEP, _SMALL_STEP = 1 << 16, 64
_GZIP, _ZLIB, _RAW = 31, 15, -15
# RFC 9659 bounds the window of zstd as a content coding to 8 MB.
_ZSTD_WINDOW = 1 << 23

Steps = Callable[[bytes, int], Iterator[bytes]]


class UndecodableContentError(BadInputError):
    """A body is not in the content coding that it declares."""


class ContentTooLargeError(BadInputError):
    """A body is larger than the limit once its content codings are undone."""


def decode_content(body: bytes, codings: str, limit: int) -> bytes:
    """Undo the codings of a Content-Encoding header, the last one first.

    >>> decode_content(zlib.compress(b"rain"), "deflate", limit=100)
    b'rain'
    """
    names = [name for name in map(str.strip, codings.lower().split(",")) if name not in _NONE]
    if len(names) > MAX_CODINGS:
        raise UndecodableContentError(
            f"Content-Encoding: {codings[:80]!r} stacks {len(names)} codings, more than"
            f" {MAX_CODINGS}; keep the body as it is"
        )
    for name in reversed(names):
        body = _undo(body, name, limit)
    if len(body) > limit:
        raise _too_large(limit)
    return body


def _undo(body: bytes, name: str, limit: int) -> bytes:
    """Undo one coding; small steps are the second chance of a body damaged early."""
    steps = _STEPS.get(name)
    if steps is None:
        raise UndecodableContentError(
            f"Content-Encoding: {name[:40]!r} is unknown; keep the body as it is"
        )
    decoded = b"" if not body else _collect(steps(body, _STEP), limit)
    if body and not decoded:
        decoded = _collect(steps(body, _SMALL_STEP), limit)
    if body and not decoded and not _is_whole_but_empty(body, steps):
        raise UndecodableContentError(
            f"Content-Encoding: the {len(body)} bytes are not {name}; keep the body as it is"
        )
    return decoded


def _collect(pieces: Iterator[bytes], limit: int) -> bytes:
    """Join what can be decoded before the end or the first error."""
    decoded = bytearray()
    try:
        for piece in pieces:
            decoded += piece
            if len(decoded) > limit:
                raise _too_large(limit)
    except _BROKEN:
        pass
    return bytes(decoded)


def _is_whole_but_empty(body: bytes, steps: Steps) -> bool:
    """Say whether a body that decodes to nothing does so without an error."""
    try:
        return not any(steps(body, _STEP))
    except _BROKEN:
        return False


def _too_large(limit: int) -> ContentTooLargeError:
    return ContentTooLargeError(
        f"the body decodes to more than {limit:,} bytes; raise the limit to keep it"
    )


def _inflate(body: bytes, step: int, window: int) -> Iterator[bytes]:
    """Yield the decoded pieces of a deflate stream, and of members that follow it."""
    while body:
        stream = zlib.decompressobj(window)
        while not stream.eof and body:
            yield stream.decompress(body, step)
            body = stream.unconsumed_tail
        _require(stream.eof)
        body = stream.unused_data if window == _GZIP else b""


def _gzip(body: bytes, step: int) -> Iterator[bytes]:
    return _inflate(body, step, _GZIP)


def _deflate(body: bytes, step: int) -> Iterator[bytes]:
    """Decode zlib data, or the bare deflate data that some servers send under the same name."""
    is_zlib = body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    return _inflate(body, step, _ZLIB if is_zlib else _RAW)


def _brotli(body: bytes, step: int) -> Iterator[bytes]:
    stream = brotli.Decompressor()
    piece = stream.process(body, output_buffer_limit=step)
    while piece:
        yield piece
        piece = b"" if stream.is_finished() else stream.process(b"", output_buffer_limit=step)
    _require(stream.is_finished())


def _zstd(body: bytes, step: int) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    piece = b""
    with decompressor.stream_reader(io.BytesIO(body), read_across_frames=True) as stream:
        while following := stream.read(step):
            yield (piece := following)
    if not piece:
        whole = decompressor.decompressobj()
        whole.decompress(body)
        _require(whole.eof)


def _require(whole: bool) -> None:
    """Say by an error that a stream is cut short."""
    if not whole:
        raise EOFError


_NONE = frozenset({"", "identity", "none"})
_BROKEN = (EOFError, zlib.error, brotli.error, zstandard.ZstdError)
_STEPS: dict[str, Steps] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
