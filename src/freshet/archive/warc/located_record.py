"""Results of reading an archive: records with their positions, and faults."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from freshet.archive.warc.record import WarcRecord, encode_record


@dataclass(frozen=True, slots=True)
class LocatedRecord:
    """A record and its position in a file.

    ``length`` is the number of bytes of the record in the file, or 0 if it shares its gzip member.
    ``is_copyable`` is true if those bytes are one gzip member with only this record. ``block_size``
    is the full length of the block; ``record.block`` holds less if the block was too large to keep,
    and ``block_sha1`` then covers the full block. ``problems`` are faults that do not prevent
    reading.
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
        """Return whether only the first bytes of the block were kept."""
        return self.block_size > len(self.record.block)


@dataclass(frozen=True, slots=True)
class ArchiveFault:
    """A problem in an archive file and its position."""

    file: str
    offset: int
    problem: str
    record_id: str = ""

    def __str__(self) -> str:
        """Return the position, then the problem."""
        record_note = f" ({self.record_id})" if self.record_id else ""
        return f"{self.file}, offset {self.offset}: {self.problem}{record_note}"


RecordOrFault = LocatedRecord | ArchiveFault


def gzip_member_of(located: LocatedRecord, file: BinaryIO) -> bytes:
    """Return a record as one gzip member: its own if it has one, else a new one."""
    if not located.is_copyable:
        return encode_record(located.record)
    file.seek(located.offset)
    return file.read(located.length)
