"""What reading an archive finds: records with their places, and faults."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from freshet.archive.warc.record import WarcRecord, encode_record


@dataclass(frozen=True, slots=True)
class LocatedRecord:
    """A record and where it lies.

    ``length`` is that of its bytes in the file, 0 where it has none to itself. ``is_copyable`` says
    that those bytes are one gzip member with this record alone. ``block_size`` is the block's length:
    more than ``record.block`` holds where the block was too large to keep; ``block_sha1`` then
    covers all of it. ``problems`` are faults that do not hinder reading.
    """

    record: WarcRecord
    path: Path
    offset: int
    length: int
    block_size: int
    is_copyable: bool = False
    block_sha1: bytes | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether only the first bytes of the block were kept."""
        return self.block_size > len(self.record.block)


@dataclass(frozen=True, slots=True)
class ArchiveFault:
    """Something wrong in an archive file, and where."""

    file: str
    offset: int
    problem: str
    record_id: str = ""

    def __str__(self) -> str:
        """Name the place, then what is wrong there."""
        record = f" ({self.record_id})" if self.record_id else ""
        return f"{self.file}, offset {self.offset}: {self.problem}{record}"


RecordOrFault = LocatedRecord | ArchiveFault


def gzip_member_of(located: LocatedRecord, file: BinaryIO) -> bytes:
    """Return a record as one gzip member: its own where it has one, else a new one."""
    if not located.is_copyable:
        return encode_record(located.record)
    file.seek(located.offset)
    return file.read(located.length)
