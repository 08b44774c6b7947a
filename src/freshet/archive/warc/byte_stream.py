"""Read bytes that arrive in chunks as one stream, in bounded memory."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecordBlock:
    """The block of a record; ``sha1`` is set if only its first bytes were kept."""

    data: bytes
    size: int
    sha1: bytes | None = None


class ByteStream:
    """Reads a stream of chunks and buffers no more than is requested."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = b""
        self._offset = 0
        self._discarded = 0

    @property
    def position(self) -> int:
        """Return the number of bytes read so far."""
        return self._discarded + self._offset

    def at_end(self) -> bool:
        """Return whether nothing is left."""
        return self._offset == len(self._buffer) and not self._fill()

    def peek(self, size: int) -> bytes:
        """Return the next bytes without reading them; fewer at the end of the stream."""
        while len(self._buffer) - self._offset < size and self._fill():
            pass
        return self._buffer[self._offset : self._offset + size]

    def read_while(self, allowed: bytes, limit: int) -> bytes:
        """Read the next bytes as long as each is one of the allowed ones, up to the limit."""
        ahead = self.peek(limit)
        matching = ahead[: len(ahead) - len(ahead.lstrip(allowed))]
        self._offset += len(matching)
        return matching

    def read_through(self, delimiter: re.Pattern[bytes], limit: int) -> bytes | None:
        """Read up to and including the delimiter; return None if it is not within the limit."""
        while not (match := delimiter.search(self._buffer, self._offset, self._offset + limit)):
            if len(self._buffer) - self._offset >= limit or not self._fill():
                return None
        start, self._offset = self._offset, match.end()
        return self._buffer[start : self._offset]

    def read_block(self, size: int, keep_bytes: int) -> RecordBlock:
        """Read a block of that size, or what is left of it, and keep its first bytes."""
        data = self._buffer[self._offset : self._offset + min(size, keep_bytes)]
        if len(data) == size:
            self._offset += size
            return RecordBlock(data, size)
        return self._read_long_block(size, keep_bytes)

    def _read_long_block(self, size: int, keep_bytes: int) -> RecordBlock:
        kept_chunks: list[bytes] = []
        digest = hashlib.sha1(usedforsecurity=False)
        bytes_read = 0
        for chunk in self._read_chunks(size):
            if bytes_read < keep_bytes:
                kept_chunks.append(chunk[: keep_bytes - bytes_read])
            if size > keep_bytes:
                digest.update(chunk)
            bytes_read += len(chunk)
        block_sha1 = digest.digest() if bytes_read > keep_bytes else None
        return RecordBlock(b"".join(kept_chunks), bytes_read, block_sha1)

    def _read_chunks(self, size: int) -> Iterator[bytes]:
        while size and not self.at_end():
            chunk = self._buffer[self._offset : self._offset + size]
            self._offset += len(chunk)
            size -= len(chunk)
            yield chunk

    def _fill(self) -> bool:
        chunk = next(self._chunks, b"")
        self._discarded += self._offset
        self._buffer = self._buffer[self._offset :] + chunk
        self._offset = 0
        return bool(chunk)
