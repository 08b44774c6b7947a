"""Bytes that arrive in pieces, read as one stream in flat memory."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecordBlock:
    """A record's block; ``sha1`` is set where only the first bytes of it were kept."""

    data: bytes
    size: int
    sha1: bytes | None = None


class ByteStream:
    """Reads a stream of pieces, holding no more than is asked for."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._buffer = b""
        self._at = 0
        self._passed = 0

    @property
    def position(self) -> int:
        """Return how many bytes were read so far."""
        return self._passed + self._at

    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self._at == len(self._buffer) and not self._fill()

    def peek(self, size: int) -> bytes:
        """Return the next bytes without reading them, fewer at the end."""
        while len(self._buffer) - self._at < size and self._fill():
            pass
        return self._buffer[self._at : self._at + size]

    def read_while(self, allowed: bytes, limit: int) -> bytes:
        """Read the next bytes as long as each is one of those allowed."""
        ahead = self.peek(limit)
        taken = ahead[: len(ahead) - len(ahead.lstrip(allowed))]
        self._at += len(taken)
        return taken

    def read_through(self, mark: bytes, limit: int) -> bytes | None:
        """Read up to and with the mark, or nothing where it is not within the limit."""
        while (found := self._buffer.find(mark, self._at, self._at + limit)) < 0:
            if len(self._buffer) - self._at >= limit or not self._fill():
                return None
        start, self._at = self._at, found + len(mark)
        return self._buffer[start : self._at]

    def read_through_match(self, marks: re.Pattern[bytes], limit: int) -> bytes | None:
        """Read up to and with the first of some marks, or nothing where none is in the limit."""
        while (found := marks.search(self._buffer, self._at, self._at + limit)) is None:
            if len(self._buffer) - self._at >= limit or not self._fill():
                return None
        start, self._at = self._at, found.end()
        return self._buffer[start : self._at]

    def read_block(self, size: int, keep: int) -> RecordBlock:
        """Read a block of that size, or what there is of it, and keep its first bytes."""
        block = self._buffer[self._at : self._at + min(size, keep)]
        if len(block) == size:
            self._at += size
            return RecordBlock(block, size)
        return self._take_long(size, keep)

    def _take_long(self, size: int, keep: int) -> RecordBlock:
        kept: list[bytes] = []
        digest = hashlib.sha1(usedforsecurity=False)
        taken = 0
        for part in self._parts(size):
            if taken < keep:
                kept.append(part[: keep - taken])
            if size > keep:
                digest.update(part)
            taken += len(part)
        return RecordBlock(b"".join(kept), taken, digest.digest() if taken > keep else None)

    def _parts(self, size: int) -> Iterator[bytes]:
        while size and not self.at_end():
            part = self._buffer[self._at : self._at + size]
            self._at += len(part)
            size -= len(part)
            yield part

    def _fill(self) -> bool:
        piece = next(self._pieces, b"")
        self._passed += self._at
        self._buffer = self._buffer[self._at :] + piece if self._at < len(self._buffer) else piece
        self._at = 0
        return bool(piece)
