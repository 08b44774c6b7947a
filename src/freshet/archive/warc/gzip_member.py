"""Gzip members, one per record: packing them and walking a file of them.

ISA-L inflates as fast as fastwarc does and tells where each member ends. It ignores six bytes of a
member's header (time, flags for speed, system), so ``header_fault`` looks at them.
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
_SPEEDS = frozenset({0, 2, 4})
_SYSTEMS = frozenset({0, 3, 10, 11, 19, 255})


def compress_member(content: bytes) -> bytes:
    """Return the content as one gzip member that bears no time."""
    return GZIP_HEADER + igzip_lib.compress(content, COMPRESSION_LEVEL, igzip_lib.COMP_GZIP_NO_HDR)


def decompress_start(opening: bytes, size: int) -> bytes:
    """Return the first bytes that a gzip member holds, or nothing where it is damaged."""
    try:
        return IgzipDecompressor(DECOMP_GZIP, MAX_HIST_BITS).decompress(opening, size)
    except _IsalError:
        return b""


def header_fault(opening: bytes) -> str | None:
    """Say what in a gzip header no known writer writes; its checksum does not cover it.

    >>> header_fault(GZIP_HEADER)
    >>> header_fault(GZIP_HEADER[:4] + b"\\xff" + GZIP_HEADER[5:])
    'gzip header is altered'
    """
    flags, time, speed, system = opening[3], opening[4:8], opening[8], opening[9]
    odd_time = sum(1 for byte in time if byte) == 1
    if flags & ~_KNOWN_FLAGS or odd_time or speed not in _SPEEDS or system not in _SYSTEMS:
        return "gzip header is altered"
    return None


class GzipMemberReader:
    """Walks the gzip members of a file, giving the content of each in pieces."""

    def __init__(self, file: BinaryIO, offset: int = 0) -> None:
        self._file = file
        self.seek(offset)

    def seek(self, offset: int) -> None:
        """Go on at a member that starts at this offset."""
        self._file.seek(offset)
        self._rest = b""
        self._read = offset
        self.start = offset
        self.end = offset

    def next_header(self) -> bytes:
        """Move to the next member and return its header; nothing is left at the file's end."""
        self.start = self.end
        while len(self._rest) < len(GZIP_HEADER) and (more := self._more()):
            self._rest += more
        return self._rest[: len(GZIP_HEADER)]

    def content_chunks(self) -> Iterator[bytes]:
        """Yield the content of the member; after the last piece ``end`` is where it ends."""
        inflate = IgzipDecompressor(DECOMP_GZIP, MAX_HIST_BITS)
        given, self._rest = self._rest, b""
        while not inflate.eof:
            if piece := _inflate(inflate, given):
                yield piece
            given = self._more() if inflate.needs_input and not inflate.eof else b""
            if not given and inflate.needs_input and not inflate.eof:
                raise DamagedError("record is cut short")
        self._rest = inflate.unused_data
        self.end = self._read - len(self._rest)

    def _more(self) -> bytes:
        chunk = self._file.read(CHUNK_BYTES)
        self._read += len(chunk)
        return chunk


def _inflate(inflate: IgzipDecompressor, given: bytes) -> bytes:
    try:
        return inflate.decompress(given, INFLATE_BYTES)
    except _IsalError as error:
        raise DamagedError(f"gzip data are altered ({error})") from error
