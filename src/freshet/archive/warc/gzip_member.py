"""Gzip members, one per record: compress them and read a file of them.

ISA-L decompresses as fast as fastwarc and tells where each member ends. It ignores six bytes of a
member's header (time, compression flags, operating system), so ``header_fault`` checks them.
"""

from collections.abc import Iterator
from typing import BinaryIO, cast

from isal import igzip_lib
from isal.igzip_lib import DECOMP_GZIP, MAX_HIST_BITS, IgzipDecompressor

from freshet.core.errors import DamagedError

GZIP_MAGIC = b"\x1f\x8b\x08"
GZIP_HEADER = GZIP_MAGIC + b"\x00\x00\x00\x00\x00\x00\x03"
COMPRESSION_LEVEL = 2
CHUNK_BYTES = 131_072
INFLATE_BYTES = 1_048_576

_IsalError = cast("type[Exception]", igzip_lib.IsalError)
_KNOWN_FLAGS = 0x1E
_KNOWN_SPEEDS = frozenset({0, 2, 4})
_KNOWN_SYSTEMS = frozenset({0, 3, 10, 11, 19, 255})


def compress_member(content: bytes) -> bytes:
    """Return the content as one gzip member without a time stamp."""
    return GZIP_HEADER + igzip_lib.compress(content, COMPRESSION_LEVEL, igzip_lib.COMP_GZIP_NO_HDR)


def decompress_start(opening: bytes, size: int) -> bytes:
    """Return the first bytes of a gzip member's content, or nothing if it is damaged."""
    try:
        return IgzipDecompressor(DECOMP_GZIP, MAX_HIST_BITS).decompress(opening, size)
    except _IsalError:
        return b""


def header_fault(opening: bytes) -> str | None:
    """Return what is unusual in a gzip header, which no checksum covers; None if nothing is.

    >>> header_fault(GZIP_HEADER)
    >>> header_fault(GZIP_HEADER[:4] + b"\\xff" + GZIP_HEADER[5:])
    'gzip header is altered'
    """
    flags, time, speed, system = opening[3], opening[4:8], opening[8], opening[9]
    odd_time = sum(1 for byte in time if byte) == 1
    if (
        flags & ~_KNOWN_FLAGS
        or odd_time
        or speed not in _KNOWN_SPEEDS
        or system not in _KNOWN_SYSTEMS
    ):
        return "gzip header is altered"
    return None


class GzipMemberReader:
    """Reads the gzip members of a file one after another, each in chunks."""

    def __init__(self, file: BinaryIO, offset: int = 0) -> None:
        self._file = file
        self.seek(offset)

    def seek(self, offset: int) -> None:
        """Continue with the member at this offset."""
        self._file.seek(offset)
        self._buffer = b""
        self._bytes_read = offset
        self.start = offset
        self.end = offset

    def next_header(self) -> bytes:
        """Move to the next member and return its header; return nothing at the end of the file."""
        self.start = self.end
        while len(self._buffer) < len(GZIP_HEADER) and (chunk := self._read_chunk()):
            self._buffer += chunk
        return self._buffer[: len(GZIP_HEADER)]

    def content_chunks(self) -> Iterator[bytes]:
        """Yield the content of the member; then ``end`` is the offset behind the member."""
        decompressor = IgzipDecompressor(DECOMP_GZIP, MAX_HIST_BITS)
        compressed, self._buffer = self._buffer, b""
        while not decompressor.eof:
            if chunk := _inflate(decompressor, compressed):
                yield chunk
            compressed = b""
            if decompressor.needs_input and not decompressor.eof:
                compressed = self._read_chunk()
                if not compressed:
                    raise DamagedError("record is cut short")
        self._buffer = decompressor.unused_data
        self.end = self._bytes_read - len(self._buffer)

    def _read_chunk(self) -> bytes:
        chunk = self._file.read(CHUNK_BYTES)
        self._bytes_read += len(chunk)
        return chunk


def _inflate(decompressor: IgzipDecompressor, compressed: bytes) -> bytes:
    try:
        return decompressor.decompress(compressed, INFLATE_BYTES)
    except _IsalError as error:
        raise DamagedError(f"gzip data are altered ({error})") from error
