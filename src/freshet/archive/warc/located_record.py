"""What reading an archive finds: records with their places, and faults."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from freshet.archive.warc.record import Record, encode


@dataclass(frozen=True, slots=True)
class Located:
    """A record and where it lies.

    ``length`` is that of its bytes in the file, 0 where it has none to itself. ``copyable`` says
    that those bytes are one gzip member with this record alone. ``size`` is the block's length:
    more than ``record.block`` holds where the block was too large to keep; ``block_sha1`` then
    covers all of it. ``problems`` are faults that do not hinder reading.
    """

    record: Record
    path: Path
    offset: int
    length: int
    size: int
    copyable: bool = False
    block_sha1: bytes | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether only the first bytes of the block were kept."""
        return self.size > len(self.record.block)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong in an archive file, and where."""

    file: str
    offset: int
    what: str
    record_id: str = ""

    def __str__(self) -> str:
        """Name the place, then what is wrong there."""
        record = f" ({self.record_id})" if self.record_id else ""
        return f"{self.file}, offset {self.offset}: {self.what}{record}"


Found = Located | Fault


def member(located: Located, file: BinaryIO) -> bytes:
    """Return a record as one gzip member: its own where it has one, else a new one."""
    if not located.copyable:
        return encode(located.record)
    file.seek(located.offset)
    return file.read(located.length)
